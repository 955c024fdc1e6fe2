//! How a call ended.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::error::ProcessError;

/// How a call ended and what it produced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub how: How,
    /// All bytes written, whether kept or not.
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub stdout_truncated: bool,
    pub stderr_truncated: bool,
    pub took_ms: u64,
    /// The number of leftover descendants that had to be killed.
    pub swept: u32,
    /// The program found empty what its call hides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Cancelled,
    /// It closed its output, as after an answer, but did not exit before skilltune ended it, so its exit code is
    /// unknown.
    OutputClosed,
    NotStarted {
        why: String,
    },
    /// Its end is unknown or incomplete: its guardian was killed or stopped, its output was removed, or a process that
    /// it started could not be killed.
    Lost {
        why: String,
    },
}

impl How {
    pub(super) fn lost(why: &str) -> Self {
        Self::Lost { why: why.to_owned() }
    }

    /// Returns true if the call ended by itself, so that running it again would cost a second time.
    ///
    /// A signal does not count: if somebody kills us and everything we run, that must not be recorded as an answer.
    pub fn is_answer(&self) -> bool {
        match self {
            Self::Exited(_) | Self::TimedOut | Self::OutputClosed | Self::NotStarted { .. } => true,
            Self::Signalled(_) | Self::Cancelled | Self::Lost { .. } => false,
        }
    }
}

/// Returns the milliseconds since then.
pub(super) fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Ended {
    /// Reads the record of a call. It exists if the call ended by itself, even if other processes died meanwhile.
    pub fn recorded(record: &Path) -> Result<Option<Self>, ProcessError> {
        match fs::read(record) {
            // An incomplete record was being written when the machine went down; ignore it.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ProcessError::Record { path: record.to_owned(), source }),
        }
    }

    /// Returns the end of a call that began then and about which nothing else is known.
    pub(super) fn lost(began: Instant, why: &str) -> Self {
        Self { took_ms: since(began), ..Self::without_running(How::lost(why)) }
    }

    /// Returns the end of a call of which nothing ran.
    pub(super) fn without_running(how: How) -> Self {
        Self {
            how,
            stdout_bytes: 0,
            stderr_bytes: 0,
            stdout_truncated: false,
            stderr_truncated: false,
            took_ms: 0,
            swept: 0,
            hidden: false,
        }
    }
}
