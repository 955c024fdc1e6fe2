//! A project's store in use: many may add to it, one alone may sweep it.
//!
//! What a run has just stored is named by its journal a moment later; a sweep in between would take it away.

use std::fs::File;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::layout::Home;
use crate::disk::{DiskError, OnDisk};

/// Held until dropped; the kernel lets go of it when its holder dies.
#[derive(Debug)]
#[must_use = "a store is in use only as long as its guard"]
pub struct InUse {
    _file: File,
}

impl Home {
    /// For whoever adds to the store; waits for a sweep to end.
    pub fn hold(&self) -> Result<InUse, DiskError> {
        self.locked(FlockOperation::LockShared).map(|held| held.expect("this lock is waited for"))
    }

    /// For a sweep; nothing while anybody adds to the store.
    pub fn hold_alone(&self) -> Result<Option<InUse>, DiskError> {
        self.locked(FlockOperation::NonBlockingLockExclusive)
    }

    fn locked(&self, how: FlockOperation) -> Result<Option<InUse>, DiskError> {
        let lock = self.lock();
        let file = lock.open_lock()?;
        loop {
            match flock(&file, how) {
                Ok(()) => return Ok(Some(InUse { _file: file })),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => Err(error).on_disk("lock", lock.path())?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_added_to_is_not_swept() {
        let project = tempfile::tempdir().unwrap();
        let home = Home::of(project.path());
        home.create().unwrap();
        let (one, two) = (home.hold().unwrap(), home.hold().unwrap());
        assert!(home.hold_alone().unwrap().is_none());
        drop(one);
        assert!(home.hold_alone().unwrap().is_none());
        drop(two);
        assert!(home.hold_alone().unwrap().is_some());
    }
}
