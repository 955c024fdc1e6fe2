//! As many guardians as there are job slots, started when they are first needed.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::call::{Call, Ended};
use super::cancel::Ear;
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
    room: Mutex<Room>,
    freed: Condvar,
}

#[derive(Debug)]
struct Room {
    free: usize,
    idle: Vec<Guardian>,
    closed: bool,
}

/// The right to run one call at a time, and the guardian to do it.
#[derive(Debug)]
pub struct Slot {
    pool: Arc<Shared>,
    guardian: Option<Guardian>,
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

    /// Waits for every slot to come back, then ends the guardians and reaps them.
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

    fn wait_while(&self, waits: impl Fn(&Room) -> bool) -> MutexGuard<'_, Room> {
        self.freed.wait_while(self.room(), |room| waits(room)).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Runs one call; a guardian that is missing or was lost is replaced first.
    pub fn run(&mut self, call: &Call, ear: &Ear) -> Result<Ended, ProcessError> {
        if let Some(lost) = self.guardian.take_if(|guardian| guardian.is_lost()) {
            lost.close();
        }
        let guardian = match &mut self.guardian {
            Some(guardian) => guardian,
            empty => {
                let Shared { exe, hidden_arg, mark, .. } = &*self.pool;
                empty.insert(Guardian::start(exe, hidden_arg, (&mark.0, &mark.1))?)
            }
        };
        guardian.run(call, ear)
    }

    /// The pid of the guardian, once there is one.
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
