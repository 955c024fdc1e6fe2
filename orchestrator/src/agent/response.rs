//! The response of a call: its answer or why there is none, its cost, and what the agent reported on the way.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skilltune_phases::base::model::ModelName;
use skilltune_phases::base::window::Window;
use skilltune_phases::runs::event::{Failure, FailureKind, Spent};
use skilltune_phases::skills::keys::Keys;
use skilltune_phases::suites::transcript::Transcript;

use super::skills::SkillTalk;
use crate::process::{Ended, How};

/// The output of a call, to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentOutput<'a> {
    pub(crate) ended: &'a Ended,
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    /// When the call ended. A time of day or "in 5 minutes" in its output counts from this time.
    pub(crate) at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The text of the answer, which may be empty if files are the answer.
    pub answer: Result<String, Failure>,
    pub spent: Spent,
    /// Set only for a real agent, which reports what it does.
    pub talk: Option<Talk>,
}

impl Response {
    /// Removes the keys from the answer, or from the reason why there is none.
    #[must_use]
    pub fn without_keys(self, keys: &Keys) -> Self {
        let hidden = |failure: Failure| Failure { why: keys.hide(&failure.why).into_owned(), ..failure };
        let answer = self.answer.map(|answer| keys.hide(&answer).into_owned()).map_err(hidden);
        Self { answer, ..self }
    }
}

/// The report of a real agent besides its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    /// The model that answered, which may differ from the requested one.
    pub model: Option<ModelName>,
    pub session: Option<String>,
    pub turns: Option<u64>,
    /// How often each tool was used.
    pub tools: BTreeMap<String, u64>,
    /// The tools that the agent was denied.
    pub denied: Vec<String>,
    #[serde(default, skip_serializing_if = "SkillTalk::is_silent")]
    pub skills: SkillTalk,
    /// The usage windows of the agent's account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// Kept in its own file.
    #[serde(skip)]
    pub transcript: Transcript,
    /// The number of unknown lines: a newer version may report more.
    pub unknown: u64,
}

impl Talk {
    pub(super) fn used(&mut self, tool: &str) {
        *self.tools.entry(tool.to_owned()).or_default() += 1;
    }

    pub(super) fn was_denied(&mut self, tool: &str) {
        if !self.denied.iter().any(|denied| denied == tool) {
            self.denied.push(tool.to_owned());
        }
    }
}

/// Whether a call's model has produced any output. A program that has only started, or has only reported its own
/// retries, has shown nothing of its service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Life {
    #[default]
    NoSign,
    Shown,
}

pub(super) fn failed(kind: FailureKind, why: &str) -> Failure {
    Failure::new(kind, shortened(why))
}

impl AgentOutput<'_> {
    /// Returns the failure of a program that ended without an answer of its own.
    pub(super) fn failure(&self, life: Life) -> Failure {
        let (kind, what) = match &self.ended.how {
            How::TimedOut => {
                let kind = match life {
                    Life::NoSign => FailureKind::NoResponse,
                    Life::Shown => FailureKind::TimedOut,
                };
                (kind, format!("after {} s", self.ended.took_ms / 1000))
            }
            How::Exited(code) => (FailureKind::Crashed, format!("exit code {code}")),
            How::Signalled(signal) => (FailureKind::Crashed, format!("signal {signal}")),
            How::NotStarted { why } => (FailureKind::Crashed, format!("could not be started: {why}")),
            How::Cancelled => (FailureKind::Crashed, "cancelled".to_owned()),
            How::OutputClosed => (FailureKind::Crashed, "it closed its output and did not exit".to_owned()),
            How::Lost { why } => (FailureKind::Crashed, why.clone()),
        };
        let why = self.last_words().map_or(what.clone(), |line| format!("{what}: {line}"));
        let exit_code = match self.ended.how {
            How::Exited(code) => Some(code),
            How::TimedOut
            | How::Signalled(_)
            | How::NotStarted { .. }
            | How::Cancelled
            | How::OutputClosed
            | How::Lost { .. } => None,
        };
        Failure { exit_code, ..Failure::new(kind, why) }
    }

    /// Returns stderr without the lines that begin with one of these.
    pub(super) fn without_lines(&self, beginnings: &[&str]) -> String {
        let is_noise =
            |line: &&str| beginnings.iter().any(|beginning| line.trim_start().starts_with(beginning));
        self.stderr.split_inclusive('\n').filter(|line| !is_noise(line)).collect()
    }

    /// Returns the last line of stderr: programs print much there, and the error comes last. A Rust program that
    /// crashes adds how to see more.
    pub(super) fn last_words(&self) -> Option<String> {
        let says = |line: &&str| !line.is_empty() && !line.starts_with("note: run with ");
        self.stderr.lines().rev().map(str::trim).find(says).map(shortened)
    }

    /// Returns the failure of an agent whose last line, with the answer, is missing.
    pub(super) fn without_end(&self, life: Life) -> Failure {
        if self.ended.stdout_truncated {
            let why = "its output exceeds limits.output_bytes, and the answer is at its end";
            return failed(FailureKind::TooLarge, why);
        }
        match self.ended.how {
            How::Exited(0) => failed(FailureKind::Crashed, "it exited without an answer or an error"),
            How::Exited(_)
            | How::TimedOut
            | How::Signalled(_)
            | How::NotStarted { .. }
            | How::Cancelled
            | How::OutputClosed
            | How::Lost { .. } => self.failure(life),
        }
    }
}

/// Returns the objects of an output, one JSON object per line, as the real agents print it. Other lines are counted as
/// unknown: some libraries print into every stream.
pub(super) fn events<'a>(stdout: &'a str, talk: &mut Talk) -> impl Iterator<Item = Value> + use<'a> {
    let lines = stdout.lines().filter(|line| !line.trim().is_empty());
    let read: Vec<Option<Value>> =
        lines.map(|line| serde_json::from_str(line).ok().filter(Value::is_object)).collect();
    talk.unknown += read.iter().filter(|event| event.is_none()).count() as u64;
    read.into_iter().flatten()
}

/// Returns a text field of an event.
pub(super) fn text<'v>(event: &'v Value, key: &str) -> Option<&'v str> {
    event.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Shortens a line for display.
pub(super) fn shortened(line: &str) -> String {
    const LONGEST: usize = 300;
    let plain = line.chars().map(|char| if char.is_whitespace() { ' ' } else { char });
    plain.filter(|char| !char.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
pub(super) fn ended(how: How) -> Ended {
    Ended {
        how,
        stdout_bytes: 0,
        stderr_bytes: 0,
        stdout_truncated: false,
        stderr_truncated: false,
        took_ms: 7000,
        swept: 0,
        hidden: false,
    }
}
