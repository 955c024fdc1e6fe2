//! Replaces our own files as a whole: a reader sees either the old bytes or the new ones.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::Mode;

use super::error::{DiskError, OnDisk as _};
use super::folder::{Folder, SHARED};
use crate::crash;

/// The prefix of the names of our temporary files.
pub const TEMP_PREFIX: &str = ".skilltune-tmp-";

/// What a replaced file must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A sudden end of this program.
    Order,
    /// A power cut as well.
    Barrier,
}

/// Writes `bytes` to `path` atomically. Replaces a symlink there instead of following it.
#[track_caller]
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    let (folder, name) = named(path)?;
    replace_in(&folder, name, bytes, durability)
}

/// Creates `path` with `bytes` atomically; fails if it exists. Readers only ever see the whole file.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let (folder, name) = named(path)?;
    create_in(&folder, name, bytes, SHARED)
}

#[track_caller]
pub(crate) fn replace_in(
    folder: &Folder,
    name: &OsStr,
    bytes: &[u8],
    durability: Durability,
) -> Result<(), DiskError> {
    let mut draft = Draft::new(folder, SHARED)?;
    draft.write(bytes)?;
    if durability == Durability::Barrier {
        folder.sync_file(&draft.file, &draft.name)?;
    }
    crash::around(["before a file is replaced", "after a file is replaced"], || draft.publish(folder, name))?;
    match durability {
        Durability::Order => Ok(()),
        Durability::Barrier => folder.sync(),
    }
}

pub(crate) fn create_in(folder: &Folder, name: &OsStr, bytes: &[u8], mode: Mode) -> Result<(), DiskError> {
    let mut draft = Draft::new(folder, mode)?;
    draft.write(bytes)?;
    if draft.publish_new(name)? {
        return Ok(());
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists)).on_disk("create", folder.path_of(name))
}

/// Makes everything that was written to the file system of `folder` durable: the barrier.
#[cfg_attr(not(target_os = "linux"), expect(clippy::unnecessary_wraps, reason = "on Linux it can fail"))]
pub(crate) fn sync_everything(folder: &Folder) -> Result<(), DiskError> {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::syncfs(folder.handle()).on_disk("sync", folder.path())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        rustix::fs::sync();
        Ok(())
    }
}

/// A file with a temporary name, removed unless it is published.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    folder: &'a Folder,
    name: OsString,
    file: File,
    is_published: bool,
}

impl<'a> Draft<'a> {
    /// `mode` is subject to the umask.
    pub(crate) fn new(folder: &'a Folder, mode: Mode) -> Result<Self, DiskError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!("{TEMP_PREFIX}{}-{number}", std::process::id()));
            match folder.create_new(&name, mode) {
                // Left by a killed program with our process id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return Ok(Self { folder, name, file: created?, is_published: false }),
            }
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.file.write_all(bytes).on_disk("write", self.folder.path_of(&self.name))
    }

    /// Renames the file to `name`, in this folder or another, replacing any existing entry.
    pub(crate) fn publish(mut self, folder: &Folder, name: &OsStr) -> Result<(), DiskError> {
        self.folder.rename_to(&self.name, folder, name)?;
        self.is_published = true;
        Ok(())
    }

    /// Renames the file to an unused name. Returns false if the name is taken.
    pub(crate) fn publish_new(mut self, name: &OsStr) -> Result<bool, DiskError> {
        self.is_published = self.folder.rename_new(&self.name, name)?;
        Ok(self.is_published)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // At worst the file is left behind; the error that led here matters more.
            let _ = self.folder.unlink(&self.name);
        }
    }
}

/// Opens the folder of a path that the user chose, and returns the name in it.
fn named(path: &Path) -> Result<(Folder, &OsStr), DiskError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let nameless = || io::Error::from(io::ErrorKind::IsADirectory);
    let name = path.file_name().ok_or_else(nameless).on_disk("write", path)?;
    Ok((Folder::open(folder)?, name))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_replaced_file_holds_the_new_bytes_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        replace(&path, b"old", Durability::Order).unwrap();
        replace(&path, b"new", Durability::Barrier).unwrap();
        sync_everything(&Folder::open(folder.path()).unwrap()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_symlink_at_the_path_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, path) = (folder.path().join("elsewhere"), folder.path().join("link"));
        fs::write(&elsewhere, "precious").unwrap();
        symlink(&elsewhere, &path).unwrap();
        replace(&path, b"new", Durability::Order).unwrap();
        assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
        assert!(path.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn a_file_is_created_once_and_a_refused_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        create(&path, b"first").unwrap();
        assert_eq!(create(&path, b"second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
