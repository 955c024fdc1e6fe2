//! Compares the project files that a run may run with what the user trusted, before each call starts.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use skilltune_orchestrator::engine::Guard;
use skilltune_orchestrator::snapshot::Stamp;
use skilltune_phases::base::id::Digest;

use crate::trust::pinned::{Pins, digest_of};

/// The files that commands of a run name. Scripts that such a file loads are not included.
#[derive(Debug)]
pub struct Watch(Mutex<Vec<Watched>>);

#[derive(Debug)]
struct Watched {
    path: PathBuf,
    /// The project of the file.
    root: PathBuf,
    trusted: Digest,
    /// The file's stamp when its content last matched.
    seen: Option<Stamp>,
}

impl Watch {
    /// Returns `None` if there is nothing to compare.
    pub fn of(pins: &[Pins]) -> Option<Box<dyn Guard>> {
        let watched = pins.iter().flat_map(|pins| {
            pins.files.iter().map(|file| Watched {
                path: file.path.clone(),
                root: pins.root.clone(),
                trusted: file.digest,
                seen: None,
            })
        });
        let watched: Vec<Watched> = watched.collect();
        (!watched.is_empty()).then(|| Box::new(Self(Mutex::new(watched))) as Box<dyn Guard>)
    }
}

impl Guard for Watch {
    fn changed_file(&self) -> Option<PathBuf> {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.iter_mut().find_map(|file| (!file.is_unchanged()).then(|| file.path.clone()))
    }
}

impl Watched {
    /// Reads the file only if its stamp has changed or is too recent to be reliable.
    fn is_unchanged(&mut self) -> bool {
        let (now, stamp) = (SystemTime::now(), Stamp::at(&self.path).ok());
        if stamp.is_some() && stamp == self.seen {
            return true;
        }
        let is_unchanged = digest(&self.path, &self.root) == Some(self.trusted);
        self.seen = stamp.filter(|stamp| is_unchanged && stamp.is_settled(now));
        is_unchanged
    }
}

fn digest(path: &Path, root: &Path) -> Option<Digest> {
    digest_of(path, root).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::trust::pinned::Pinned;

    fn watch(root: &Path, names: &[&str]) -> Box<dyn Guard> {
        let file = |name: &&str| {
            let path = root.join(name);
            Pinned { digest: digest_of(&path, root).unwrap().unwrap(), path }
        };
        let files = names.iter().map(file).collect();
        Watch::of(&[Pins { named_in: root.join("suite.toml"), root: root.to_owned(), files }]).unwrap()
    }

    #[test]
    fn a_file_that_changed_in_any_way_is_named_until_it_is_restored() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = |name: &str| root.join(name);
        for name in ["a.sh", "b.sh", "other.sh"] {
            fs::write(path(name), name).unwrap();
        }
        symlink(path("other.sh"), path("link.sh")).unwrap();
        let watch = watch(&root, &["a.sh", "b.sh", "link.sh"]);
        assert_eq!(watch.changed_file(), None);
        fs::write(path("b.sh"), "B.sh").unwrap();
        assert_eq!(watch.changed_file(), Some(path("b.sh")), "of the same length");
        fs::write(path("b.sh"), "b.sh").unwrap();
        assert_eq!(watch.changed_file(), None, "the same bytes again");
        fs::remove_file(path("a.sh")).unwrap();
        assert_eq!(watch.changed_file(), Some(path("a.sh")));
        symlink("/bin/sh", path("a.sh")).unwrap();
        assert_eq!(watch.changed_file(), Some(path("a.sh")));
        fs::remove_file(path("a.sh")).unwrap();
        fs::write(path("a.sh"), "a.sh").unwrap();
        fs::write(path("other.sh"), "another").unwrap();
        assert_eq!(watch.changed_file(), Some(path("link.sh")), "where it leads has changed");
    }

    #[test]
    fn an_old_file_is_read_again_only_when_its_stamp_is_another() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.sh");
        fs::write(&path, "a.sh").unwrap();
        let stamp = Stamp::at(&path).unwrap();
        let mut file = Watched {
            path: path.clone(),
            root: root.path().to_owned(),
            trusted: Digest::of(b"what it never held"),
            seen: Some(stamp),
        };
        assert!(file.is_unchanged(), "nothing was read");
        fs::write(&path, "longer than before").unwrap();
        assert!(!file.is_unchanged());
        file.trusted = Digest::of(b"longer than before");
        assert!(file.is_unchanged());
        assert_eq!(file.seen, None, "it is too young to be known by its stamp");
    }

    #[test]
    fn without_files_there_is_nothing_to_ask() {
        let pins = Pins { named_in: "/p/suite.toml".into(), root: "/p".into(), files: Vec::new() };
        assert!(Watch::of(&[pins]).is_none());
    }
}
