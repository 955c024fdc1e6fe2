//! The exact replacement of a live folder that a person may be editing.
//!
//! [`Replacement::plan`] is a pure list of actions; a dry run prints it. [`Replacement::apply`] performs those that
//! are still due, so that after a crash the same plan completes it and the reverse plan undoes it.

mod apply;
mod leftover;
mod plan;
mod site;
#[cfg(test)]
mod tests;

use std::path::Path;

use skilltune_phases::id::BlobId;

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
    /// A person's bytes stand there, untouched.
    #[error("{path} changed in the meantime")]
    Edited { path: RelPath },
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// What an apply that ended well has to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub rescued: Vec<Rescued>,
}

/// Bytes that an interrupted apply had set aside and nobody knew: taken out of the folder, kept in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    pub path: RelPath,
    pub blob: BlobId,
}

/// The paths at which the folder `root` differs from `to`.
pub fn verify(root: &Path, to: &Manifest) -> Result<Vec<RelPath>, CaptureError> {
    let present = scan(root, None, Limits::default())?;
    Ok(changes(&present, to).into_iter().map(|change| change.path).collect())
}
