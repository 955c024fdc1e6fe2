//! A command as an agent: an argument array with placeholders, its prompt by stdin or file, its answer from stdout.
//!
//! No shell is ever asked. A placeholder stands for one whole argument or a part of one; what it stands for is never
//! split again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skilltune_phases::event::{FailureKind, Spent};
use skilltune_phases::judgement::VerdictShape;
use skilltune_phases::role::Rights;

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
    /// Seconds; the role's own default otherwise.
    #[serde(default)]
    pub timeout: Option<u64>,
    #[serde(default)]
    pub env: EnvSettings,
    #[serde(default)]
    pub cost: CostPointers,
    /// Holds it to its role's folders and these, which are absolute or begin with `~/`; nothing leaves it free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<String>>,
    /// How it answers as an evaluator.
    #[serde(default, skip_serializing_if = "VerdictShape::is_evidenced")]
    pub verdict: VerdictShape,
}

/// Where the answer stands in what the command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Output {
    /// All of it.
    #[default]
    Text,
    /// A string within a JSON document.
    Pointer(String),
}

/// Names that are passed on from our own environment, and values that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvSettings {
    #[serde(default)]
    pub pass: Vec<String>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
}

/// JSON pointers into what the command prints.
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

/// What one call is given.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    pub rights: Rights,
    pub workspace: &'a Path,
    /// Its temporary folder.
    pub temp: &'a Path,
    pub prompt_file: &'a Path,
    /// Whether a skill is installed in the workspace.
    pub skills: bool,
    /// The most that the call may cost, where that can be enforced.
    pub usd: Option<f64>,
    /// A JSON Schema of the answer, or the file that holds it, where the agent can hold its model to one.
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
    /// What follows the program.
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

    /// Exit code 0 means that it answered. All that it tells on the way is what it prints.
    pub(super) fn read_response(&self, left: AgentOutput<'_>) -> Response {
        self.read_living(left, if left.stdout.trim().is_empty() { Life::NoSign } else { Life::Shown })
    }

    pub(super) fn read_living(&self, left: AgentOutput<'_>, life: Life) -> Response {
        let answer = match left.ended.how {
            How::Exited(0) => self.answer(left.stdout).ok_or_else(|| {
                failed(FailureKind::OffSchema, "its output has no text at the JSON pointer from the settings")
            }),
            // What it has printed is whole, but where that is nothing it may not have been at its end.
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

    /// The answer's text, or nothing where the output does not hold one.
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

/// An argument with what its placeholders stand for; one pass from left to right, so that nothing filled in is ever
/// taken for a placeholder.
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

/// The whole output as JSON, or else its last line: some programs talk before they answer.
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
