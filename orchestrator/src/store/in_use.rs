//! A project's store in use: many may add to it, one alone may sweep it.
//!
//! What a run has just stored is named by its journal a moment later; a sweep in between would take it away.

use rustix::fs::FlockOperation;

use super::layout::Home;
use crate::disk::{DiskError, Lock};

impl Home {
    /// For whoever adds to the store; waits for a sweep to end.
    pub fn hold(&self) -> Result<Lock, DiskError> {
        Ok(self.lock().lock(FlockOperation::LockShared)?.expect("this lock is waited for"))
    }

    /// For a sweep; nothing while anybody adds to the store.
    pub fn hold_alone(&self) -> Result<Option<Lock>, DiskError> {
        self.lock().lock(FlockOperation::NonBlockingLockExclusive)
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
