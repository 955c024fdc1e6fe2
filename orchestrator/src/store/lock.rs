//! The lock of a target: only one run or command at a time may work on a skill, wherever it was started.
//!
//! ```text
//! /home/ann/project              shared: by all that work on something inside
//! /home/ann/project/skills/a     exclusive: by the one that works on it
//! ```
//!
//! So a skill and the project that contains it exclude each other, and two skills beside each other do not.
//!
//! Locks and pending promotions are in the user's state folder, keyed by the skill's real path, so that they are found
//! from anywhere. The kernel releases a lock when its holder dies, so a stale lock file is simply taken.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::Digest;

use crate::disk::{DiskError, Lock, OnDisk, SafePath};

/// A killed holder needs a moment to exit.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(20);

/// Two paths of the maximum length, written in JSON.
const LARGEST: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{path} is in use by another skilltune", path = path.display())]
    Held { path: PathBuf, holder: Option<Holder> },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The holder of a lock, for the error that names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub host: String,
    pub since: Timestamp,
    /// What the holder does: the id of a run or the name of a command.
    pub doing: String,
}

/// The content of a lock file. Its name is only the hash of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    target: PathBuf,
    holder: Holder,
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
    locks: Vec<Lock>,
    targets: Vec<PathBuf>,
}

impl Locks {
    pub fn at(state: &Path) -> Self {
        Self { root: state.join("targets") }
    }

    /// Returns the folder of a skill's lock and pending promotion.
    pub fn place(&self, target: &Path) -> SafePath {
        SafePath::below(&self.root, Digest::of(target.as_os_str().as_bytes()).short())
    }

    /// Returns these folders of all skills.
    pub fn places(&self) -> Result<Vec<SafePath>, DiskError> {
        let targets = SafePath::from(self.root.as_path());
        Ok(targets.names()?.into_iter().map(|name| targets.join(name)).collect())
    }

    /// Locks the given real paths, all or none, always in the same order.
    pub fn acquire(&self, targets: &[PathBuf], holder: &Holder) -> Result<TargetLock, LockError> {
        let mut targets = targets.to_vec();
        targets.sort();
        targets.dedup();
        let above: BTreeSet<&Path> = targets.iter().flat_map(|target| target.ancestors().skip(1)).collect();
        let above = above.into_iter().map(|folder| self.share(folder));
        let own = targets.iter().map(|target| self.acquire_one(target, holder));
        let locks = above.chain(own).collect::<Result<_, _>>()?;
        Ok(TargetLock { locks, targets })
    }

    /// Returns the process that holds this skill's lock, if any.
    pub fn holder(&self, target: &Path) -> Result<Option<Holder>, LockError> {
        Ok(held_in(&self.place(target))?.map(|held| held.holder))
    }

    /// Returns all processes that hold the lock of a skill, as far as they can be read.
    pub fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<Holder> = self.held().map(|held| held.holder).collect();
        holders.sort_by_key(|holder| (holder.since, holder.pid));
        // A process that works on a chain holds one lock per member.
        holders.dedup();
        holders
    }

    fn held(&self) -> impl Iterator<Item = Held> {
        let places = self.places().unwrap_or_default().into_iter();
        places.filter_map(|place| held_in(&place).ok().flatten())
    }

    /// Prevents others from locking the folder as a whole.
    fn share(&self, folder: &Path) -> Result<Lock, LockError> {
        let file = self.file(folder)?;
        lock_in_time(&file, FlockOperation::NonBlockingLockShared)?.ok_or_else(|| {
            let holder = read_held(&file).map(|held| held.holder);
            LockError::Held { path: folder.to_owned(), holder }
        })
    }

    fn acquire_one(&self, target: &Path, holder: &Holder) -> Result<Lock, LockError> {
        let file = self.file(target)?;
        let Some(mut lock) = lock_in_time(&file, FlockOperation::NonBlockingLockExclusive)? else {
            // Another process works on it, or on something inside.
            let inside = || self.held().filter(|held| held.target.starts_with(target));
            let other = held_in(&self.place(target))?
                .or_else(|| inside().min_by(|one, other| one.target.cmp(&other.target)));
            let (path, holder) =
                other.map_or_else(|| (target.to_owned(), None), |held| (held.target, Some(held.holder)));
            return Err(LockError::Held { path, holder });
        };
        let held = Held { target: target.to_owned(), holder: holder.clone() };
        let text = serde_json::to_vec(&held).expect("a holder has a JSON text");
        lock.write(&text).on_disk("write", file.path())?;
        Ok(lock)
    }

    fn file(&self, target: &Path) -> Result<SafePath, LockError> {
        let folder = self.place(target);
        folder.make()?;
        Ok(folder.join("lock"))
    }
}

impl TargetLock {
    pub fn targets(&self) -> &[PathBuf] {
        &self.targets
    }

    /// Returns true if this folder or one of its parents is locked.
    pub fn covers(&self, folder: &Path) -> bool {
        self.targets.iter().any(|target| folder.starts_with(target))
    }

    /// Takes the locks of `other` as well.
    pub fn join(&mut self, other: Self) {
        self.locks.extend(other.locks);
        self.targets.extend(other.targets);
    }
}

/// Returns the process that locked this folder as a whole. Processes that work on something inside hold a shared lock,
/// like us.
fn held_in(folder: &SafePath) -> Result<Option<Held>, LockError> {
    let file = folder.join("lock");
    let is_held = file.exists() && file.lock(FlockOperation::NonBlockingLockShared)?.is_none();
    Ok(if is_held { read_held(&file) } else { None })
}

fn lock_in_time(file: &SafePath, how: FlockOperation) -> Result<Option<Lock>, DiskError> {
    let since = Instant::now();
    loop {
        let lock = file.lock(how)?;
        if lock.is_some() || since.elapsed() > PATIENCE {
            return Ok(lock);
        }
        std::thread::sleep(PAUSE);
    }
}

fn read_held(file: &SafePath) -> Option<Held> {
    serde_json::from_slice(&file.read(LARGEST).ok()??).ok()
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
        let held = Held { target: skill.clone(), holder: holder("dead") };
        std::fs::write(folder.join("lock").path(), serde_json::to_vec(&held).unwrap()).unwrap();
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

    #[test]
    fn a_project_and_a_skill_inside_it_exclude_each_other() {
        let state = TempDir::new().unwrap();
        let locks = Locks::at(state.path());
        let [project, skill, other] =
            ["/work/project", "/work/project/skills/a", "/work/project/skills/b"].map(PathBuf::from);
        let refused = |target: &PathBuf| match locks.acquire(std::slice::from_ref(target), &holder("late")) {
            Err(LockError::Held { path, holder: Some(by) }) => (path, by.doing),
            taken => panic!("{taken:?}"),
        };
        let inside = locks.acquire(&[skill.clone(), other.clone()], &holder("inside")).unwrap();
        assert_eq!(refused(&project), (skill.clone(), "inside".to_owned()));
        assert_eq!((locks.holder(&project).unwrap(), locks.holders()), (None, vec![holder("inside")]));
        drop(inside);
        let whole = locks.acquire(std::slice::from_ref(&project), &holder("whole")).unwrap();
        assert_eq!(refused(&skill), (project.clone(), "whole".to_owned()));
        let beside = locks.acquire(&[PathBuf::from("/work/project-2")], &holder("beside")).unwrap();
        drop((whole, beside));
        drop(locks.acquire(&[skill], &holder("again")).unwrap());
    }
}
