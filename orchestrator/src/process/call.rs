//! What is asked of a guardian, and what it answers.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::confine::Confinement;
use super::error::ProcessError;
use super::wire::{os_text, os_text_list, os_text_maybe};

/// One program to be run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The program and its arguments; a program with a slash in its name starts cheapest.
    #[serde(with = "os_text_list")]
    pub argv: Vec<OsString>,
    /// The complete environment: nothing is inherited.
    pub env: Vec<(String, String)>,
    #[serde(with = "os_text")]
    pub cwd: PathBuf,
    /// Without it, the program may write wherever we may.
    #[serde(default)]
    pub confinement: Option<Confinement>,
    /// The file to be read as standard input; without one, the input is empty.
    #[serde(with = "os_text_maybe")]
    pub stdin: Option<PathBuf>,
    /// Where the output goes; absent afterwards when there was none.
    #[serde(with = "os_text")]
    pub stdout: PathBuf,
    #[serde(with = "os_text")]
    pub stderr: PathBuf,
    /// The child writes its output into the file itself: some programs lose what a pipe does not take at once.
    #[serde(default)]
    pub writes_itself: bool,
    /// How much of each stream is kept; what comes after is counted and dropped.
    pub keep_bytes: u64,
    pub deadline: Duration,
    /// How long the child may take to leave after it was asked to.
    pub grace: Duration,
    /// Where `Ended` is written before anybody is told, if the call ended by itself.
    #[serde(with = "os_text")]
    pub record: PathBuf,
}

impl Call {
    /// The longest time that a call should take, its sweep aside.
    pub(super) fn longest(&self) -> Duration {
        self.deadline.saturating_add(self.grace)
    }
}

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
            Self::Exited(_) | Self::TimedOut | Self::NotStarted { .. } => true,
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
