//! As many guardians as there are job slots, started when they are first needed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::call::{Call, Cancel, Ended};
use super::error::ProcessError;
use super::guardian::Guardian;

/// Hands out slots; the guardian used last is used first, so that one job keeps one guardian.
#[derive(Clone, Debug)]
pub struct GuardianPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    exe: PathBuf,
    hidden_arg: String,
    mark: (String, String),
    slots: usize,
    free: Arc<Semaphore>,
    idle: Mutex<Vec<Guardian>>,
}

/// The right to run one call at a time, and the guardian to do it.
#[derive(Debug)]
pub struct Slot {
    pool: Arc<Shared>,
    guardian: Option<Guardian>,
    _permit: OwnedSemaphorePermit,
}

impl GuardianPool {
    /// A pool of at most `slots` guardians, each started as `exe hidden_arg` with the variable `mark` in its
    /// environment; nothing is started yet.
    pub fn new(
        exe: impl Into<PathBuf>,
        hidden_arg: impl Into<String>,
        mark: (String, String),
        slots: usize,
    ) -> Self {
        Self(Arc::new(Shared {
            exe: exe.into(),
            hidden_arg: hidden_arg.into(),
            mark,
            slots,
            free: Arc::new(Semaphore::new(slots)),
            idle: Mutex::default(),
        }))
    }

    /// Waits for a free slot.
    pub async fn acquire(&self) -> Result<Slot, ProcessError> {
        let permit = Arc::clone(&self.0.free).acquire_owned().await.map_err(|_| ProcessError::Closed)?;
        let guardian = self.0.idle().pop();
        Ok(Slot { pool: Arc::clone(&self.0), guardian, _permit: permit })
    }

    /// Waits for every slot to come back, then ends the guardians and reaps them.
    pub async fn close(self) {
        let slots = u32::try_from(self.0.slots).unwrap_or(u32::MAX);
        let all = self.0.free.acquire_many(slots).await;
        let idle = std::mem::take(&mut *self.0.idle());
        for guardian in idle {
            guardian.close().await;
        }
        drop(all);
        self.0.free.close();
    }
}

impl Shared {
    fn start(&self) -> Result<Guardian, ProcessError> {
        Guardian::start(&self.exe, &self.hidden_arg, (&self.mark.0, &self.mark.1))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Guardian>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Runs one call; a guardian that is missing or was lost is replaced first.
    pub async fn run(
        &mut self,
        call: &Call,
        cancel: &mut watch::Receiver<Option<Cancel>>,
    ) -> Result<Ended, ProcessError> {
        if let Some(lost) = self.guardian.take_if(|guardian| !guardian.is_free()) {
            lost.close().await;
        }
        let guardian = match &mut self.guardian {
            Some(guardian) => guardian,
            empty => empty.insert(self.pool.start()?),
        };
        guardian.run(call, cancel).await
    }

    /// The pid of the guardian, once there is one.
    pub fn guardian(&self) -> Option<u32> {
        self.guardian.as_ref().map(Guardian::pid)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A lost one goes back too: closing it takes an await, which the next user or the pool's end has.
        self.pool.idle().extend(self.guardian.take());
    }
}
