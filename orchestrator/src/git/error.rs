//! The reasons why a commit cannot be made.

use crate::disk::DiskError;
use crate::process::ProcessError;
use crate::snapshot::ObjectError;

use super::runner::GitError;

#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// Something that the user can fix.
    #[error("{why}")]
    Refused { why: String, hint: String },
    #[error("git failed: {0}")]
    Git(String),
    #[error("cannot work with git")]
    Ours(#[source] GitError),
    #[error(transparent)]
    Objects(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl From<GitError> for ProposeError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Failed { said, .. } => Self::Git(said),
            GitError::TooLarge | GitError::Garbled => Self::Git(error.to_string()),
            GitError::Disk(error) => Self::Disk(error),
            GitError::Process(error) => Self::Process(error),
            GitError::Special { ref path } => {
                refused(error.to_string(), format!("delete {}", path.display()))
            }
            GitError::Unread { .. } => Self::Ours(error),
        }
    }
}

/// The reason why a part of a proposal was not made.
#[derive(Debug)]
pub(super) enum Hindered {
    /// Shown to the user in a note.
    Because(String),
    Failed(GitError),
}

impl From<GitError> for Hindered {
    fn from(error: GitError) -> Self {
        Self::Failed(error)
    }
}

pub(super) fn refused(why: impl Into<String>, hint: impl Into<String>) -> ProposeError {
    ProposeError::Refused { why: why.into(), hint: hint.into() }
}
