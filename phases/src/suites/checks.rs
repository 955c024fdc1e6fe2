//! Checks of a trial or an artifact, done by a machine or by a judge.
//!
//! Checks are data from authors who may be hostile: an argument list is never a shell's text, patterns and globs are
//! compiled within bounds, and a schema refers to nothing outside itself.
//!
//! ```text
//! suite, agent --> Check --> fault (before a run begins)
//!                        \-> tell <-- Facts (a trial)  --> met, not met, or unknown
//! ```

mod fault;
mod glob;
mod json;
mod pattern;
mod proposed;
mod quote;
mod schema;
mod tell;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::base::id::TreeId;

pub use fault::fault;
pub use proposed::{Commands, RunThem, shell_fault};
pub use quote::{line, output_end, quote_end, quote_message};
pub use schema::accepts;
pub use tell::{Bytes, Facts, Usage, tell};

/// The way to decide whether a demand is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Check(Check),
    /// A statement or a question that a judge answers with evidence.
    Question {
        text: Box<str>,
    },
}

/// A check that a machine can decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A program exits with this code. It runs in a copy of the agent's output.
    Command {
        argv: Vec<String>,
        #[serde(default)]
        exit: i32,
        /// Further expectations, for people; may be empty, and nothing is compared with them.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        expected: Box<str>,
        /// Files that the program needs and no agent has seen, in their own folder: `{grader}` in an argument is its
        /// path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grader: Option<TreeId>,
    },
    /// A pattern occurs this number of times.
    Pattern { pattern: Box<str>, of: Text, times: Times },
    /// This number of files have a matching path.
    File { path: Glob, times: Times },
    /// A JSON file matches a schema.
    Schema { path: Box<str>, schema: Value },
    /// A value in a JSON file compares to another value.
    Json { path: Box<str>, pointer: Box<str>, is: Comparison },
    /// Only these files were created, changed or removed.
    Touches { only: Vec<Glob> },
    /// The agent used the skill, or did not use it.
    Skill { used: bool },
    /// The agent called a tool this number of times.
    Tool { call: Tool, times: Times },
    /// The agent called one tool before the first call of another. Both must have been called.
    ToolOrder { before: Tool, after: Tool },
    /// The trial cost at most this.
    AtMost { of: Cost, most: u64 },
}

/// A path relative to the workspace, in which `*` is a part of a name, `?` one character, and `**` any folders.
pub type Glob = Box<str>;

/// The text that a pattern is searched in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Text {
    /// The agent's last message.
    Answer,
    /// The texts, tool calls and results that the agent reports.
    Transcript,
    /// Each of these files. At least one must exist.
    Files(Glob),
}

/// A range of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub min: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// Calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The agent's own name for the tool.
    pub name: Box<str>,
    /// A pattern for the tool's command or arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    Equals(Value),
    AtLeast(Number),
    AtMost(Number),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Input and output, cached or not.
    Tokens,
    Seconds,
    Turns,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Its index among the checks.
    pub check: usize,
    /// `None` if the check could not be decided.
    pub met: Option<bool>,
    pub details: Box<str>,
}

impl Times {
    pub const ONCE_OR_MORE: Self = Self { min: 1, max: None };
    pub const NEVER: Self = Self { min: 0, max: Some(0) };

    pub fn contain(self, count: u64) -> bool {
        self.min <= count && self.max.is_none_or(|max| count <= max)
    }

    /// Returns how far to count: a higher count changes nothing.
    fn enough(self) -> u64 {
        self.max.map_or(self.min, |max| max.saturating_add(1))
    }
}

impl Check {
    /// Returns whether the check runs a program instead of reading the evidence of a trial.
    pub fn is_program(&self) -> bool {
        matches!(self, Self::Command { .. })
    }
}

impl How {
    pub fn check(&self) -> Option<&Check> {
        match self {
            Self::Check(check) => Some(check),
            Self::Question { .. } => None,
        }
    }

    pub fn question(&self) -> Option<&str> {
        match self {
            Self::Check(_) => None,
            Self::Question { text } => Some(text),
        }
    }
}
