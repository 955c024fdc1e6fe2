//! The lock of a target: one run or command at a time may work on a skill, wherever it was started from.
//!
//! Locks and pending promotions stand under the user's state folder, keyed by the skill's real path, so that they are
//! found from anywhere. The kernel lets go of a lock when its holder dies: a lock file that nobody holds is stale,
//! and simply taken.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use skilltune_phases::id::Digest;

use crate::disk::{DiskError, OnDisk, SafePath};

/// A killed holder needs a moment to be gone.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{path} is in use by another skilltune", path = path.display())]
    Held { path: PathBuf, holder: Option<Holder> },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Who holds a lock, for the error that names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub host: String,
    pub since: Timestamp,
    /// What the holder does: a run's id, or a command's name.
    pub doing: String,
}

/// The user's state folder, where targets are locked.
#[derive(Clone, Debug)]
pub struct Locks {
    root: PathBuf,
}

/// Held until dropped.
#[derive(Debug)]
#[must_use = "a lock is held only as long as its guard"]
pub struct TargetLock {
    files: Vec<File>,
    targets: Vec<PathBuf>,
}

impl Locks {
    pub fn at(state: &Path) -> Self {
        Self { root: state.join("targets") }
    }

    /// The folder of a skill's lock and pending promotion.
    pub fn place(&self, target: &Path) -> SafePath {
        SafePath::below(&self.root, Digest::of(target.as_os_str().as_bytes()).short())
    }

    /// Locks the real paths given, all or none, in one order for everybody.
    pub fn acquire(&self, targets: &[PathBuf], holder: &Holder) -> Result<TargetLock, LockError> {
        let mut targets = targets.to_vec();
        targets.sort();
        targets.dedup();
        let files =
            targets.iter().map(|target| self.acquire_one(target, holder)).collect::<Result<_, _>>()?;
        Ok(TargetLock { files, targets })
    }

    /// Who works on this skill now, if anybody does.
    pub fn holder(&self, target: &Path) -> Result<Option<Holder>, LockError> {
        holder_in(&self.place(target))
    }

    /// Everybody who works on any skill now, as far as they can be seen.
    pub fn holders(&self) -> Vec<Holder> {
        let targets = SafePath::from(self.root.as_path());
        let names = targets.names().unwrap_or_default().into_iter();
        let mut holders: Vec<Holder> =
            names.filter_map(|name| holder_in(&targets.join(name)).ok().flatten()).collect();
        holders.sort_by_key(|holder| (holder.since, holder.pid));
        // One who works on a chain holds a lock a member.
        holders.dedup();
        holders
    }

    fn acquire_one(&self, target: &Path, holder: &Holder) -> Result<File, LockError> {
        let folder = self.place(target);
        folder.make()?;
        let lock = folder.join("lock");
        let mut file = lock.open_lock()?;
        let path = lock.path();
        let since = Instant::now();
        while !try_lock(&file, path)? {
            if since.elapsed() > PATIENCE {
                return Err(LockError::Held { path: target.to_owned(), holder: read_holder(&mut file) });
            }
            std::thread::sleep(PAUSE);
        }
        let text = serde_json::to_vec(holder).expect("a holder has a JSON text");
        file.set_len(0).and_then(|()| file.write_all(&text)).on_disk("write", path)?;
        Ok(file)
    }
}

impl TargetLock {
    pub fn targets(&self) -> &[PathBuf] {
        &self.targets
    }

    /// Takes the locks of `other` as well.
    pub fn join(&mut self, other: Self) {
        self.files.extend(other.files);
        self.targets.extend(other.targets);
    }
}

fn holder_in(folder: &SafePath) -> Result<Option<Holder>, LockError> {
    let lock = folder.join("lock");
    if !lock.exists() {
        return Ok(None);
    }
    let mut file = lock.open_lock()?;
    Ok(if try_lock(&file, lock.path())? { None } else { read_holder(&mut file) })
}

fn try_lock(file: &File, path: &Path) -> Result<bool, DiskError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error).on_disk("lock", path),
    }
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn holder(doing: &str) -> Holder {
        Holder { pid: 1, host: "here".into(), since: Timestamp::UNIX_EPOCH, doing: doing.into() }
    }

    #[test]
    fn the_second_to_come_is_told_who_holds_the_lock() {
        let state = TempDir::new().unwrap();
        let locks = Locks::at(state.path());
        let skill = PathBuf::from("/skills/writer");
        let first = locks.acquire(std::slice::from_ref(&skill), &holder("run 1")).unwrap();
        let refused = locks.acquire(&[PathBuf::from("/skills/a"), skill.clone()], &holder("run 2"));
        let Err(LockError::Held { path, holder: Some(by) }) = refused else {
            panic!("the lock was given twice")
        };
        assert_eq!((path, by.doing.as_str()), (skill.clone(), "run 1"));
        assert_eq!(locks.holder(&skill).unwrap().unwrap().doing, "run 1");
        assert_eq!(locks.holders(), [holder("run 1")]);
        drop(first);
        assert_eq!((locks.holder(&skill).unwrap(), locks.holders()), (None, Vec::new()));
        drop(locks.acquire(&[skill], &holder("run 3")).unwrap());
    }

    #[test]
    fn a_lock_file_that_nobody_holds_is_stale_and_taken() {
        let state = TempDir::new().unwrap();
        let locks = Locks::at(state.path());
        let skill = PathBuf::from("/skills/writer");
        let folder = locks.place(&skill);
        folder.make().unwrap();
        std::fs::write(folder.join("lock").path(), serde_json::to_vec(&holder("dead")).unwrap()).unwrap();
        assert_eq!(locks.holder(&skill).unwrap(), None);
        drop(locks.acquire(&[skill], &holder("alive")).unwrap());
    }

    #[test]
    fn locks_of_different_skills_do_not_meet() {
        let state = TempDir::new().unwrap();
        let locks = Locks::at(state.path());
        let one = locks.acquire(&[PathBuf::from("/a")], &holder("a")).unwrap();
        let two = locks.acquire(&[PathBuf::from("/b")], &holder("b")).unwrap();
        drop((one, two));
    }
}
