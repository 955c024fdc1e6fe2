//! The one error of the disk: what we tried, where, and why it failed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::snapshot::{Folder, read_all, require_regular};

/// An `io::Error` with its path and a verb: "could not write /x/y".
#[derive(Debug, thiserror::Error)]
#[error("could not {op} {}", path.display())]
pub struct DiskError {
    pub op: &'static str,
    pub path: PathBuf,
    pub source: io::Error,
}

impl DiskError {
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

/// Attaches a verb and a path to whatever the system answered.
pub trait OnDisk<T> {
    fn on_disk(self, op: &'static str, path: impl AsRef<Path>) -> Result<T, DiskError>;
}

impl<T, E: Into<io::Error>> OnDisk<T> for Result<T, E> {
    fn on_disk(self, op: &'static str, path: impl AsRef<Path>) -> Result<T, DiskError> {
        self.map_err(|error| DiskError { op, path: path.as_ref().to_path_buf(), source: error.into() })
    }
}

/// Opens a regular file at a path that a person named, through links if they are there. A FIFO or a device is an error and
/// never waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    require_regular(&file)?;
    Ok(file)
}

/// All of such a file; one with more than `most` bytes is refused before it takes any memory.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(&open(path)?, most)
}

/// The names in a folder that a person named.
pub fn names(path: &Path) -> Result<Vec<OsString>, DiskError> {
    Folder::open(path)?.names(usize::MAX)
}

/// At most the first `most` bytes of a file, as text; a missing file is empty.
pub(crate) fn text(path: &Path, most: u64) -> Result<String, DiskError> {
    let mut bytes = Vec::new();
    match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => {
            opened.and_then(|file| file.take(most).read_to_end(&mut bytes)).on_disk("read", path)?;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_disk_error_names_the_verb_and_the_path_and_keeps_its_cause() {
        let error = std::fs::read("/nowhere/at all").on_disk("read", "/nowhere/at all").unwrap_err();
        assert_eq!(error.to_string(), "could not read /nowhere/at all");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.source().is_some());
    }
}
