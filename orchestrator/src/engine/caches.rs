//! The caches of build tools and package managers. A run has one folder of them, and each call that builds gets a copy.
//! Only a command of the project that passed replaces the folder, with its own copy.

use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use skilltune_phases::asking::order::{CacheUse, Command, Order};

use super::call_dir::CallDir;
use super::{EngineError, Services};
use crate::disk::{DiskError, Exchange, SafePath};
use crate::process::{self, CancelToken, How, Slot};

/// The variables by which programs find their caches, and the folders of these.
const PLACES: [(&str, &str); 5] = [
    ("CARGO_TARGET_DIR", "cargo"),
    ("GOCACHE", "go"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("npm_config_cache", "npm"),
];
/// The folder of the caches, of a run and of a call.
const CACHES: &str = "caches";
/// The folder of the caches of a run as they were before any work.
const FIRST: &str = "caches-first";
/// A call without a copy is slow, and right.
const SECONDS: u64 = 300;

/// Held to read while the run's caches are copied, and to write while they are replaced.
#[derive(Debug, Default)]
pub struct Caches(RwLock<()>);

impl Caches {
    /// Keeps the run's caches as they are, for a call that gets a copy. This comes before its files are placed: cargo
    /// takes a file for unchanged if it is older than what was built.
    pub(super) fn hold(&self, order: &Order) -> Option<RwLockReadGuard<'_, ()>> {
        order.caches.map(|_| self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the caches of a call that has passed those of the run, if it may. A command may have spoiled its folder: then
    /// the old ones stay.
    pub(super) fn replace(&self, order: &Order, run: &SafePath, dir: &CallDir) {
        let name = match order.caches {
            Some(CacheUse::Replace) => CACHES,
            Some(CacheUse::ReplaceFirst) => FIRST,
            Some(CacheUse::Copy | CacheUse::CopyFirst) | None => return,
        };
        let _ = self.try_replace(name, run, &dir.temp(), dir.name());
    }

    fn try_replace(&self, name: &str, run: &SafePath, temp: &SafePath, call: &str) -> Result<(), DiskError> {
        let (Some(run), Some(temp)) = (run.folder()?, temp.folder()?) else { return Ok(()) };
        if temp.child(CACHES.as_ref())?.is_none() {
            return Ok(());
        }
        let new = format!("{name}-{call}");
        temp.rename_to(CACHES.as_ref(), &run, new.as_ref())?;
        let held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if run.exchange(new.as_ref(), name.as_ref())? != Exchange::Done {
            run.remove_tree(name.as_ref())?;
            run.rename(new.as_ref(), name.as_ref())?;
        }
        drop(held);
        run.remove_tree(new.as_ref())
    }
}

/// Copies the run's caches below the temporary folder of a call. Returns the variables that name the copy.
pub(super) fn copy(
    services: &Services,
    (dir, order): (&CallDir, &Order),
    temp: &Path,
    slot: &mut Slot,
    cancel_token: &CancelToken,
) -> Result<Vec<(String, String)>, EngineError> {
    let is_first = matches!(order.caches, Some(CacheUse::CopyFirst | CacheUse::ReplaceFirst));
    let (late, first) = (services.work.join(CACHES), services.work.join(FIRST));
    let from = if is_first || !late.is_folder() { first } else { late };
    let to = temp.join(CACHES);
    if from.is_folder() {
        let (source, target) = (from.path().to_string_lossy(), to.to_string_lossy());
        // With the times of the files, by which cargo compares them.
        let argv = ["cp", "-a", "--reflink=auto", &*source, &*target].map(str::to_owned).to_vec();
        let call = process::Call {
            stdout: dir.beside("caches.stdout"),
            stderr: dir.beside("caches.stderr"),
            record: dir.beside("caches.json"),
            ..services.command(dir, &Command::new(argv, SECONDS, false))
        };
        if slot.run(&call, cancel_token)?.how != How::Exited(0) {
            SafePath::below(temp, CACHES).remove()?;
        }
    }
    let variable =
        |(name, below): (&str, &str)| (name.to_owned(), to.join(below).to_string_lossy().into_owned());
    Ok(PLACES.map(variable).into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_caches_of_a_call_replace_those_of_the_run_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        let run = SafePath::below(root.path(), "run");
        let (caches, temp) = (Caches::default(), run.join("call").join("tmp"));
        let publish = |name: &str| {
            temp.join(CACHES).make().unwrap();
            fs::write(temp.join(CACHES).join(name).path(), name).unwrap();
            caches.try_replace(CACHES, &run, &temp, "1").unwrap();
        };
        publish("one");
        publish("two");
        assert_eq!(run.join(CACHES).names().unwrap(), ["two"]);
        assert_eq!(run.names().unwrap(), ["caches", "call"]);
        symlink(root.path(), temp.join(CACHES).path()).unwrap();
        caches.try_replace(CACHES, &run, &temp, "1").unwrap();
        caches.try_replace(CACHES, &run, &run.join("gone"), "1").unwrap();
        assert_eq!(run.join(CACHES).names().unwrap(), ["two"], "a symlink is no folder of caches");
    }
}
