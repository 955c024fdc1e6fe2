//! One guardian for each job slot, started when it is first needed.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::call::Call;
use super::cancel::CancelToken;
use super::ended::{Ended, How};
use super::error::ProcessError;
use super::guardian::{Containment, Guardian};

/// Hands out slots. The guardian used last is reused first, so that one job keeps one guardian.
#[derive(Clone, Debug)]
pub struct GuardianPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    exe: PathBuf,
    hidden_arg: String,
    mark: (String, String),
    /// The containment of the first guardian. The others must not accept less: an agent could cause that.
    containment: OnceLock<Containment>,
    slots: usize,
    room: Mutex<Room>,
    freed: Condvar,
}

#[derive(Debug)]
struct Room {
    free: usize,
    idle: Vec<Guardian>,
    closed: bool,
}

/// The right to run one call at a time, and the guardian that runs it.
#[derive(Debug)]
pub struct Slot {
    pool: Arc<Shared>,
    guardian: Option<Guardian>,
}

impl GuardianPool {
    /// Creates a pool of at most `slots` guardians, each started as `exe hidden_arg` with the variable `mark` in its
    /// environment. Starts nothing yet.
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
            containment: OnceLock::new(),
            slots,
            room: Mutex::new(Room { free: slots, idle: Vec::new(), closed: false }),
            freed: Condvar::new(),
        }))
    }

    /// Waits for a free slot.
    pub fn acquire(&self) -> Result<Slot, ProcessError> {
        let mut room = self.0.wait_while(|room| room.free == 0 && !room.closed);
        if room.closed {
            return Err(ProcessError::Closed);
        }
        room.free -= 1;
        Ok(Slot { pool: Arc::clone(&self.0), guardian: room.idle.pop() })
    }

    /// Waits for all slots to be returned, then ends and reaps the guardians.
    pub fn close(self) {
        self.0.room().closed = true;
        self.0.freed.notify_all();
        let idle = std::mem::take(&mut self.0.wait_while(|room| room.free < self.0.slots).idle);
        idle.into_iter().for_each(Guardian::close);
    }
}

impl Shared {
    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> Result<Guardian, ProcessError> {
        let Self { exe, hidden_arg, mark, .. } = self;
        let mark = (mark.0.as_str(), mark.1.as_str());
        match self.containment.get() {
            None => {
                let first = Guardian::start(exe, hidden_arg, mark)?;
                let _ = self.containment.set(first.containment().clone()); // Another guardian may have been first.
                Ok(first)
            }
            Some(Containment::Namespace) => Guardian::in_namespace(exe, hidden_arg, mark),
            Some(Containment::Search { why }) => Guardian::plain(exe, hidden_arg, mark, why.clone()),
        }
    }

    fn wait_while(&self, waits: impl Fn(&Room) -> bool) -> MutexGuard<'_, Room> {
        self.freed.wait_while(self.room(), |room| waits(room)).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Runs one call. Replaces a missing or lost guardian first.
    pub fn run(&mut self, call: &Call, cancel_token: &CancelToken) -> Result<Ended, ProcessError> {
        match self.ready() {
            Ok(guardian) => guardian.run(call, cancel_token),
            // A temporary shortage of a resource on this machine.
            Err(error) if error.is_want() => {
                Ok(Ended::without_running(How::NotStarted { why: error.to_string() }))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the mechanism that ensures that nothing of a call outlives it.
    pub fn containment(&mut self) -> Result<Containment, ProcessError> {
        Ok(self.ready()?.containment().clone())
    }

    fn ready(&mut self) -> Result<&mut Guardian, ProcessError> {
        if let Some(lost) = self.guardian.take_if(|guardian| guardian.is_lost()) {
            lost.close();
        }
        match &mut self.guardian {
            Some(guardian) => Ok(guardian),
            empty => Ok(empty.insert(self.pool.start()?)),
        }
    }

    /// Returns the pid of the guardian, if it was started.
    pub fn guardian(&self) -> Option<u32> {
        self.guardian.as_ref().map(Guardian::pid)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut room = self.pool.room();
        room.free += 1;
        room.idle.extend(self.guardian.take());
        self.pool.freed.notify_all();
    }
}
