//! A command as an agent: an argument array with placeholders, a prompt by stdin or file, an answer from stdout.
//!
//! No shell is used. A placeholder is a whole argument or a part of one; its value is never split.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skilltune_phases::base::role::Rights;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::runs::event::{FailureKind, Spent};

use super::profile::CostReport;
use super::response::{AgentOutput, Life, Response, failed};
use crate::process::How;

/// `[agents.NAME]` of the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    pub command: Vec<String>,
    #[serde(default)]
    pub output: Output,
    /// In seconds; otherwise the default of the role.
    #[serde(default)]
    pub timeout: Option<u64>,
    #[serde(default)]
    pub env: EnvSettings,
    #[serde(default)]
    pub cost: CostPointers,
    /// Limits writes to the folders of the role and to these, which are absolute or begin with `~/`. Without it, writes
    /// are not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<String>>,
    /// The shape of the agent's verdicts.
    #[serde(default, skip_serializing_if = "VerdictShape::is_evidenced")]
    pub verdict: VerdictShape,
}

/// Where the answer is in the command's output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Output {
    /// The whole output.
    #[default]
    Text,
    /// A string within a JSON document.
    Pointer(String),
}

/// The variables that are passed on from our own environment, and the values that are set.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvSettings {
    #[serde(default)]
    pub pass: Vec<String>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
}

/// Shows only the names of the variables that are set, because their values may be secrets.
impl fmt::Debug for EnvSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvSettings").field("pass", &self.pass).field("set", &self.set.keys()).finish()
    }
}

/// JSON pointers into the command's output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostPointers {
    #[serde(default)]
    pub usd: Option<String>,
    #[serde(default)]
    pub input_tokens: Option<String>,
    #[serde(default)]
    pub output_tokens: Option<String>,
}

/// The inputs of one call.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    pub rights: Rights,
    pub workspace: &'a Path,
    /// The call's temporary folder.
    pub temp: &'a Path,
    pub prompt_file: &'a Path,
    /// Whether a skill is installed in the workspace.
    pub skills: bool,
    /// The most that the call may cost, if that can be enforced.
    pub usd: Option<f64>,
    /// A JSON Schema of the answer, or the file that holds it, if the agent can enforce one.
    pub schema: Option<&'a str>,
}

impl CostPointers {
    pub(super) fn report(&self) -> CostReport {
        match (&self.usd, &self.input_tokens, &self.output_tokens) {
            (Some(_), _, _) => CostReport::Dollars,
            (None, Some(_), Some(_)) => CostReport::Tokens,
            (None, ..) => CostReport::Nothing,
        }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("must be \"text\" or a JSON pointer that starts with a slash, not {0:?}")]
pub struct BadOutput(String);

impl AgentSettings {
    pub const PLACEHOLDERS: [&str; 3] = [MODEL, WORKSPACE, PROMPT_FILE];

    /// Returns the arguments after the program.
    pub(super) fn arguments(&self, model: Option<&str>, slots: Slots<'_>) -> Vec<String> {
        let workspace = slots.workspace.to_string_lossy();
        let prompt_file = slots.prompt_file.to_string_lossy();
        let values =
            [(MODEL, model.unwrap_or_default()), (WORKSPACE, &*workspace), (PROMPT_FILE, &*prompt_file)];
        self.command[1..].iter().map(|argument| filled(argument, &values)).collect()
    }

    pub(super) fn reads_stdin(&self) -> bool {
        !self.command.iter().any(|argument| argument.contains(PROMPT_FILE))
    }

    /// Reads the output of a call: exit code 0 means that it answered, and the output is its only report.
    pub(super) fn read_response(&self, left: AgentOutput<'_>) -> Response {
        self.read_living(left, if left.stdout.trim().is_empty() { Life::NoSign } else { Life::Shown })
    }

    pub(super) fn read_living(&self, left: AgentOutput<'_>, life: Life) -> Response {
        let answer = match left.ended.how {
            How::Exited(0) => self.answer(left.stdout).ok_or_else(|| {
                failed(FailureKind::OffSchema, "its output has no text at the JSON pointer from the settings")
            }),
            // The output is complete; but if it is empty, the command may not have been done.
            How::OutputClosed => self
                .answer(left.stdout)
                .filter(|answer| !answer.trim().is_empty())
                .ok_or_else(|| left.failure(life)),
            How::Exited(_)
            | How::Signalled(_)
            | How::TimedOut
            | How::Cancelled
            | How::NotStarted { .. }
            | How::Lost { .. } => Err(left.failure(life)),
        };
        Response { answer, spent: self.spent(left.stdout, left.ended.took_ms), talk: None }
    }

    /// Returns the text of the answer, or nothing if the output holds none.
    fn answer(&self, stdout: &str) -> Option<String> {
        match &self.output {
            Output::Text => Some(stdout.to_owned()),
            Output::Pointer(pointer) => Some(document(stdout)?.pointer(pointer)?.as_str()?.to_owned()),
        }
    }

    fn spent(&self, stdout: &str, ms: u64) -> Spent {
        let cost = &self.cost;
        let asked = cost.usd.is_some() || cost.input_tokens.is_some() || cost.output_tokens.is_some();
        let printed = if asked { document(stdout) } else { None };
        let at = |pointer: &Option<String>| printed.as_ref()?.pointer(pointer.as_deref()?);
        Spent {
            ms,
            usd: at(&cost.usd).and_then(Value::as_f64).filter(|usd| usd.is_finite() && *usd >= 0.0),
            input_tokens: at(&cost.input_tokens).and_then(Value::as_u64),
            output_tokens: at(&cost.output_tokens).and_then(Value::as_u64),
            ..Spent::default()
        }
    }
}

/// Replaces the placeholders of an argument, in one pass from left to right, so that a value is never taken for a
/// placeholder.
pub(crate) fn filled(argument: &str, values: &[(&str, &str)]) -> String {
    let (mut filled, mut rest) = (String::new(), argument);
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some((name, value)) = values.iter().find(|(name, _)| rest.starts_with(name)) {
            filled.push_str(value);
            rest = &rest[name.len()..];
        } else {
            filled.push('{');
            rest = &rest[1..];
        }
    }
    filled + rest
}

const MODEL: &str = "{model}";
const WORKSPACE: &str = "{workspace}";
const PROMPT_FILE: &str = "{prompt_file}";

/// Returns the whole output as JSON, or else its last line: some programs print other text first.
fn document(stdout: &str) -> Option<Value> {
    let last = || stdout.lines().rev().find(|line| !line.trim().is_empty());
    serde_json::from_str(stdout).ok().or_else(|| serde_json::from_str(last()?).ok())
}

impl TryFrom<String> for Output {
    type Error = BadOutput;

    fn try_from(text: String) -> Result<Self, BadOutput> {
        match text.as_str() {
            "text" => Ok(Self::Text),
            pointer if pointer.starts_with('/') => Ok(Self::Pointer(text)),
            _ => Err(BadOutput(text)),
        }
    }
}

impl From<Output> for String {
    fn from(output: Output) -> Self {
        match output {
            Output::Text => "text".to_owned(),
            Output::Pointer(pointer) => pointer,
        }
    }
}

#[cfg(test)]
mod tests;
