//! What stands within `run.json`: the same when it is written and when it is read.

mod read;

use std::fmt;

use serde::{Serialize, Serializer};

use super::fraction::Fraction;
use super::words::{Phase, Severity, StopReason, Verdict, Word};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    pub prompt: String,
    pub ideal_result: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Criteria {
    pub name: String,
    pub version: u32,
    pub phase: Gates,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct Gates {
    pub a: Gate,
    pub b: Gate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gate {
    pub threshold: Fraction,
    pub active_levels: Vec<Phase>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    pub id: String,
    pub description: String,
    pub severity: Severity,
    pub weight: u32,
    pub phase: Phase,
    pub check: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreparedChecks {
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub rule_id: String,
    #[serde(flatten)]
    pub how: How,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum How {
    Executable { command: ShellLine, expected: String },
    Content { search: String, expected: String },
}

/// A command as the original keeps it, one line for a shell: to be shown as unverified, and nothing else.
///
/// It can be made of arguments, and there is no way back from it to arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellLine(String);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evaluation {
    /// Absent when too little could be judged.
    pub score: Option<Fraction>,
    pub passed: bool,
    pub failed: Vec<Fault>,
    pub warnings: Vec<Fault>,
    pub rule_results: Vec<RuleResult>,
    /// Of the artifact that was judged; older files do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_hash: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub id: String,
    pub severity: Severity,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleResult {
    pub id: String,
    pub verdict: Word<Verdict>,
    pub details: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Critique {
    pub issues: Vec<Issue>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    pub rule_id: String,
    pub problem: String,
    pub fix_instruction: String,
    pub expected_effect: String,
}

/// How the run ended; one that goes on has no reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    pub passed: bool,
    #[serde(serialize_with = "reason_or_nothing")]
    pub reason: Option<Word<StopReason>>,
}

impl ShellLine {
    /// The line by which a shell would come to these arguments.
    pub fn of<'a>(argv: impl IntoIterator<Item = &'a str>) -> Self {
        Self(argv.into_iter().map(quoted).collect::<Vec<_>>().join(" "))
    }
}

fn quoted(argument: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+:,./-".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

impl fmt::Display for ShellLine {
    /// On one line, and without what could drive a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calm =
            |char: char| if char.is_control() { char.escape_default().collect() } else { String::from(char) };
        f.pad(&self.0.chars().map(calm).collect::<String>())
    }
}

impl Serialize for ShellLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[expect(clippy::ref_option, reason = "serde hands over the field as it is")]
fn reason_or_nothing<S: Serializer>(
    reason: &Option<Word<StopReason>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(reason.as_ref().map_or("", Word::as_str))
}
