//! What can be asked of what a trial, or an artifact, has come to: of a machine, or of a judge.
//!
//! Checks are data, and whoever wrote them may be hostile: an argument list is never a shell's text, patterns and globs are
//! compiled within bounds, and a schema refers to nothing outside itself.
//!
//! ```text
//! suite, agent --> Check --> fault (before a run begins)
//!                        \-> tell <-- Facts (a trial)  --> met, not met, or cannot be told
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

use crate::id::TreeId;

pub use fault::fault;
pub use proposed::{Commands, RunThem, shell_fault};
pub use quote::{line, quote_end};
pub use schema::accepts;
pub use tell::{Bytes, Facts, Usage, tell};

/// How it is told whether something holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Check(Check),
    /// A statement or a question that a judge answers with evidence.
    Question {
        text: Box<str>,
    },
}

/// What a machine can tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A program ends with this exit code. It runs in a copy of what was left.
    Command {
        argv: Vec<String>,
        #[serde(default)]
        exit: i32,
        /// What else is to be expected, for people; may be empty, and nothing is compared with it.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        expected: Box<str>,
        /// What the program needs and no agent has seen, in a folder of its own: `{grader}` in an argument is its path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grader: Option<TreeId>,
    },
    /// A pattern occurs this often.
    Pattern { pattern: Box<str>, of: Text, times: Times },
    /// So many files have a path like this.
    File { path: Glob, times: Times },
    /// A JSON file has the form that a schema describes.
    Schema { path: Box<str>, schema: Value },
    /// A value in a JSON file compares to another.
    Json { path: Box<str>, pointer: Box<str>, is: Comparison },
    /// Nothing but these files was made, changed or removed.
    Touches { only: Vec<Glob> },
    /// The agent used the skill, or did without it.
    Skill { used: bool },
    /// The agent called a tool this often.
    Tool { call: Tool, times: Times },
    /// The agent called one tool before the first call of another. Both must have been called.
    ToolOrder { before: Tool, after: Tool },
    /// The trial took no more than this.
    AtMost { of: Cost, most: u64 },
}

/// A path relative to the workspace, in which `*` is a part of a name, `?` one character of it, and `**` any folders.
pub type Glob = Box<str>;

/// Where a pattern is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Text {
    /// The agent's last message.
    Answer,
    /// The texts, tool calls and results that it reports.
    Transcript,
    /// Each of these files, of which there must be one.
    Files(Glob),
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub min: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// Calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The agent's own name for it.
    pub name: Box<str>,
    /// A pattern for its command or its arguments.
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

/// What became of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its place among the checks.
    pub check: usize,
    /// None if it cannot be told.
    pub met: Option<bool>,
    pub details: Box<str>,
}

impl Times {
    pub const ONCE_OR_MORE: Self = Self { min: 1, max: None };
    pub const NEVER: Self = Self { min: 0, max: Some(0) };

    pub fn contain(self, count: u64) -> bool {
        self.min <= count && self.max.is_none_or(|max| count <= max)
    }

    /// How far to count: more changes nothing.
    fn enough(self) -> u64 {
        self.max.map_or(self.min, |max| max.saturating_add(1))
    }
}

impl Check {
    /// Whether it is told by running a program, and not from the evidence of a trial.
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
