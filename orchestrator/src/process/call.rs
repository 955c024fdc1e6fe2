//! What a guardian is asked to run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::confine::Confinement;
use super::os_text;

/// One program to be run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The program and its arguments; a program with a slash in its name starts cheapest.
    #[serde(with = "os_text::list")]
    pub argv: Vec<OsString>,
    /// The complete environment: nothing is inherited.
    pub env: Vec<(String, String)>,
    #[serde(with = "os_text::path")]
    pub cwd: PathBuf,
    /// Without it, the program may write wherever we may.
    #[serde(default)]
    pub confinement: Option<Confinement>,
    /// The file to be read as standard input; without one, the input is empty.
    #[serde(with = "os_text::maybe_path")]
    pub stdin: Option<PathBuf>,
    /// Where the output goes; absent afterwards when there was none.
    #[serde(with = "os_text::path")]
    pub stdout: PathBuf,
    #[serde(with = "os_text::path")]
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
    #[serde(with = "os_text::path")]
    pub record: PathBuf,
}

impl Call {
    /// The longest time that a call should take, its sweep aside.
    pub(super) fn longest(&self) -> Duration {
        self.deadline.saturating_add(self.grace)
    }
}
