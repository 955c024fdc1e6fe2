//! What can go wrong on our side of a call.

use std::io;
use std::path::PathBuf;

/// We failed; how the child fared is in `Ended`.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("cannot start a guardian from {exe}")]
    Start { exe: PathBuf, source: io::Error },
    #[error("cannot open a channel to a guardian")]
    Channel(#[source] io::Error),
    /// The call may have answered all the same: then its record is there.
    #[error("the guardian ended in the middle of a call")]
    GuardianDied,
    #[error("the guardian failed: {why}")]
    Guardian { why: String },
    #[error("cannot read the record {path}")]
    Record { path: PathBuf, source: io::Error },
    #[error("cannot become the reaper of orphaned processes")]
    Subreaper(#[source] io::Error),
    #[error("the pool of guardians is closed")]
    Closed,
}

/// Something that a guardian could not do on disk; it travels to the parent as text.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}")]
pub(super) struct Trouble {
    pub(super) doing: &'static str,
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}
