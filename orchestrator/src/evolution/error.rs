//! The errors of the folder, and what a person can do about them.

use std::fmt;
use std::path::PathBuf;

use super::LARGEST;
use crate::disk::DiskError;

#[derive(Debug, thiserror::Error)]
pub enum EvolutionError {
    #[error("{} is {kind}, but the loop needs a folder there; move it away, or choose another folder", path.display())]
    NoFolder { path: PathBuf, kind: EntryKind },
    #[error("{} is {kind}, but the loop needs a file there; move it away", path.display())]
    NoFile { path: PathBuf, kind: EntryKind },
    #[error("{} is larger than {LARGEST} bytes; move it away", .0.display())]
    TooLarge(PathBuf),
    #[error("{} belongs to {}; choose another alias, or move the folder away", path.display(), of(run.as_deref()))]
    Taken { path: PathBuf, run: Option<String> },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, a device, or a socket.
    Special,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symlink",
            Self::Special => "neither file nor folder",
        })
    }
}

/// Escapes an id, which comes from a file and could control a terminal.
fn of(run: Option<&str>) -> String {
    run.map_or_else(|| "an unknown run".to_owned(), |run| format!("run {}", run.escape_debug()))
}
