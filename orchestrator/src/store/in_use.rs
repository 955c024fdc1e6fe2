//! The lock of a project's store: many may add to it, but a sweep needs it alone.
//!
//! The journal of a run names a stored object only a moment later; a sweep in between would remove it.

use rustix::fs::FlockOperation;

use super::layout::Home;
use crate::disk::{DiskError, Lock};

impl Home {
    /// Locks the store for adding objects. Waits for a sweep to end.
    pub fn hold(&self) -> Result<Lock, DiskError> {
        Ok(self.lock_file().lock(FlockOperation::LockShared)?.expect("this lock is waited for"))
    }

    /// Locks the store for a sweep; `None` while it is being added to.
    pub fn hold_alone(&self) -> Result<Option<Lock>, DiskError> {
        self.lock_file().lock(FlockOperation::NonBlockingLockExclusive)
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
