//! Replaces a live folder exactly, while the user may be editing it.
//!
//! [`Replacement::plan`] is a pure list of actions; a dry run prints it. [`Replacement::apply`] performs the actions
//! that are still due, so that after a crash the same plan completes it and the reverse plan undoes it.

mod apply;
mod leftover;
mod plan;
mod site;
#[cfg(test)]
mod tests;

use std::path::Path;

use skilltune_phases::base::id::BlobId;

pub use plan::{Action, Replacement, Step};

use super::capture::{Limits, scan};
use super::diff::changes;
use super::look::CaptureError;
use super::manifest::Manifest;
use super::objects::ObjectError;
use super::path::RelPath;
use crate::disk::DiskError;

#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The user edited this path; it is unchanged.
    #[error("{path} changed in the meantime")]
    Edited { path: RelPath },
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The result of a successful apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub rescued: Vec<Rescued>,
}

/// Bytes that an interrupted apply had set aside and that the plan does not contain: removed from the folder, kept in
/// the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    pub path: RelPath,
    pub blob: BlobId,
}

/// Returns the paths at which the folder `root` differs from `to`.
pub fn verify(root: &Path, to: &Manifest) -> Result<Vec<RelPath>, CaptureError> {
    let present = scan(root, None, Limits::default())?;
    Ok(changes(&present, to).into_iter().map(|change| change.path).collect())
}
