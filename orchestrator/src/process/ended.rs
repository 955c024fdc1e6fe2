//! How a call ended.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::error::ProcessError;

/// How a call ended and what it left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub how: How,
    /// All that was written, kept or not.
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    pub took_ms: u64,
    /// How many leftover descendants had to be killed.
    pub swept: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Cancelled,
    /// It closed its output, as after an answer, and did not exit by itself before skilltune ended it: its exit code is
    /// unknown.
    OutputClosed,
    NotStarted {
        why: String,
    },
    /// Its end is not known, or not whole: its guardian was killed or stopped, its output was taken away, or something
    /// that it started could not be ended.
    Lost {
        why: String,
    },
}

impl How {
    pub(super) fn lost(why: &str) -> Self {
        Self::Lost { why: why.to_owned() }
    }

    /// Whether the call came to an end of its own, one that running it again would have to pay for.
    ///
    /// A signal is somebody's doing: whoever ends us and all that we run must not leave it behind as an answer.
    pub fn is_answer(&self) -> bool {
        match self {
            Self::Exited(_) | Self::TimedOut | Self::OutputClosed | Self::NotStarted { .. } => true,
            Self::Signalled(_) | Self::Cancelled | Self::Lost { .. } => false,
        }
    }
}

/// The milliseconds since then.
pub(super) fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Ended {
    /// Reads a call's record: there is one when the call came to an end of its own, whoever died meanwhile.
    pub fn recorded(record: &Path) -> Result<Option<Self>, ProcessError> {
        match fs::read(record) {
            // One that is not whole was being written when the machine went down: it tells nothing.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ProcessError::Record { path: record.to_owned(), source }),
        }
    }

    /// The end of a call that began then, and of which nothing else is known.
    pub(super) fn lost(began: Instant, why: &str) -> Self {
        Self { took_ms: since(began), ..Self::without_running(How::lost(why)) }
    }

    /// The end of a call of which nothing ran.
    pub(super) fn without_running(how: How) -> Self {
        Self {
            how,
            stdout_bytes: 0,
            stderr_bytes: 0,
            stdout_truncated: false,
            stderr_truncated: false,
            took_ms: 0,
            swept: 0,
        }
    }
}
