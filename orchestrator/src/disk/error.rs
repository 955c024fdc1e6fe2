//! The error type of the disk: the operation, the path, and the cause.

use std::io;
use std::path::{Path, PathBuf};

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

/// Attaches a verb and a path to an error of the system.
pub trait OnDisk<T> {
    fn on_disk(self, op: &'static str, path: impl AsRef<Path>) -> Result<T, DiskError>;
}

impl<T, E: Into<io::Error>> OnDisk<T> for Result<T, E> {
    fn on_disk(self, op: &'static str, path: impl AsRef<Path>) -> Result<T, DiskError> {
        self.map_err(|error| DiskError { op, path: path.as_ref().to_path_buf(), source: error.into() })
    }
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
