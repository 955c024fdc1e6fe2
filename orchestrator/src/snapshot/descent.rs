//! Descends from the root of a folder to one of its paths without following a symlink.

use super::path::RelPath;
use crate::disk::{DiskError, Folder};

/// The end of the descent.
pub(super) enum Descent {
    Arrived(Folder),
    /// The entry at this path is missing or not a folder.
    Blocked(RelPath),
}

/// Opens the folder at `path`; `None` is the root itself.
pub(super) fn descend(root: &Folder, path: Option<&RelPath>) -> Result<Descent, DiskError> {
    let mut here = None;
    for step in path.iter().flat_map(|path| path.lineage()) {
        match here.as_ref().unwrap_or(root).child(step.name())? {
            Some(child) => here = Some(child),
            None => return Ok(Descent::Blocked(step)),
        }
    }
    here.map_or_else(|| root.again(), Ok).map(Descent::Arrived)
}
