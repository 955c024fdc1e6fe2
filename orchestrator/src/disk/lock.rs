//! Lock files, exclusive or shared. The kernel releases a lock when its holder dies.

use std::fs::File;
use std::io::Write;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::error::{DiskError, OnDisk};
use super::safe_path::SafePath;

/// Held until dropped.
#[derive(Debug)]
#[must_use = "a lock is held only as long as its guard"]
pub struct Lock {
    file: File,
}

impl SafePath {
    /// Locks this file and creates it if it is missing. Returns `None` if others hold it and `how` does not wait.
    pub fn lock(&self, how: FlockOperation) -> Result<Option<Lock>, DiskError> {
        let file = self.open_lock()?;
        loop {
            match flock(&file, how) {
                Ok(()) => return Ok(Some(Lock { file })),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => Err(error).on_disk("lock", self.path())?,
            }
        }
    }
}

impl Lock {
    /// Replaces the content of the file that was just locked with `bytes`.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all(bytes)
    }
}

impl Drop for Lock {
    /// Closing the file is not enough: a child that another thread is starting still has it open until it runs exec.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_guard_whoever_has_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let place = SafePath::below(folder.path(), "lock");
        let alone = || place.lock(FlockOperation::NonBlockingLockExclusive).unwrap();
        let lock = alone().unwrap();
        let child = lock.file.try_clone().unwrap();
        assert!(alone().is_none());
        drop(lock);
        assert!(alone().is_some());
        drop(child);
    }
}
