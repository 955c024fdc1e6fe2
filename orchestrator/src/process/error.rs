//! The errors on our side of a call.

use std::io;
use std::path::PathBuf;

/// A failure of ours; the child's failure is in `Ended`.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("cannot start a guardian from {exe}")]
    Start { exe: PathBuf, source: io::Error },
    #[error("cannot open a connection to a guardian")]
    Channel(#[source] io::Error),
    #[error("the guardian failed: {why}")]
    Guardian { why: String },
    #[error("cannot read the record {path}")]
    Record { path: PathBuf, source: io::Error },
    #[error("cannot prepare this process for guardians")]
    Driver(#[source] io::Error),
    #[error("cannot create a namespace for a guardian: {why}")]
    Namespace { why: String },
    #[error("cannot end a process that skilltune started")]
    Left,
    #[error("the pool of guardians is closed")]
    Closed,
}

impl ProcessError {
    /// Returns true if the system temporarily had no room for another process or namespace. Other processes, including
    /// agents, can cause that, so it is not our failure.
    pub(super) fn is_want(&self) -> bool {
        match self {
            Self::Namespace { .. } => true,
            Self::Start { source, .. } => {
                matches!(source.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory)
            }
            Self::Channel(_)
            | Self::Guardian { .. }
            | Self::Record { .. }
            | Self::Driver(_)
            | Self::Left
            | Self::Closed => false,
        }
    }
}

/// A disk operation that failed in a guardian. It is sent to the parent as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}")]
pub(super) struct Trouble {
    pub(super) doing: &'static str,
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}
