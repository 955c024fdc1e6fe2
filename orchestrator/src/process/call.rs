//! The call that a guardian runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::confine::Confinement;
use super::hide::Hidden;
use super::os_text;

/// One program to run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The program and its arguments. Starting is cheapest if the program's name contains a slash.
    #[serde(with = "os_text::list")]
    pub argv: Vec<OsString>,
    /// The complete environment: nothing is inherited.
    pub env: Vec<(String, String)>,
    #[serde(with = "os_text::path")]
    pub cwd: PathBuf,
    /// Without it, the program may write wherever we may.
    #[serde(default)]
    pub confinement: Option<Confinement>,
    /// What the program finds empty, if its guardian has a namespace.
    #[serde(default)]
    pub hidden: Option<Hidden>,
    /// The file to use as standard input. Without it, the input is empty.
    #[serde(with = "os_text::maybe_path")]
    pub stdin: Option<PathBuf>,
    /// The file for the output. It does not exist afterwards if there was no output.
    #[serde(with = "os_text::path")]
    pub stdout: PathBuf,
    #[serde(with = "os_text::path")]
    pub stderr: PathBuf,
    /// The child writes the output file itself: some programs lose output that a pipe does not take at once.
    #[serde(default)]
    pub writes_itself: bool,
    /// The number of bytes of each stream to keep. Further output is counted and dropped.
    pub keep_bytes: u64,
    pub deadline: Duration,
    /// The time that the child gets to exit after it was asked to.
    pub grace: Duration,
    /// The path where `Ended` is written before it is reported, if the call ended by itself.
    #[serde(with = "os_text::path")]
    pub record: PathBuf,
}

impl Call {
    /// Adds variables to the environment, in place of those with the same names.
    pub(crate) fn add_env(&mut self, variables: &[(String, String)]) {
        self.env.retain(|(name, _)| variables.iter().all(|(own, _)| own != name));
        self.env.extend_from_slice(variables);
    }

    /// Returns the longest time that a call should take, without the sweep.
    pub(super) fn longest(&self) -> Duration {
        self.deadline.saturating_add(self.grace)
    }
}
