//! Files in a user's own configuration.
#![expect(clippy::disallowed_methods, reason = "the folders are the user's own")]

use std::io;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk;
use skilltune_orchestrator::disk::atomic::{self, Durability};

use crate::terminal::complaint::{Complaint, ours};

/// More than any of our texts has.
const MOST: u64 = 1 << 20;

/// Reads a file; none if it is missing.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, Complaint> {
    match disk::read(path, MOST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, error)),
    }
}

/// Writes a file and creates its folders. Replaces a symlink at its path.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Complaint> {
    let folder = path.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).map_err(|error| failed("create the folder", folder, error))?;
    atomic::replace(path, bytes, Durability::Barrier).map_err(ours)
}

/// Removes a file or a symlink, and returns whether it existed.
pub fn remove(path: &Path) -> Result<bool, Complaint> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("remove", path, error)),
    }
}

/// Removes empty folders, up to one that is kept.
pub fn remove_empty(folder: &Path, stays: &Path) {
    let below = folder.ancestors().take_while(|folder| *folder != stays);
    for folder in below.map(PathBuf::from) {
        // A folder that is not empty belongs to something else.
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

fn failed(what: &str, path: &Path, error: io::Error) -> Complaint {
    Complaint::ours(format!("cannot {what} {}", path.display())).caused_by(error)
}
