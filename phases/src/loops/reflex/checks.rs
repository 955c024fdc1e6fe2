//! How it is told whether a rule is met: by a command, by a pattern, by a question to the judge.
//!
//! An agent proposes the checks without having seen the artifact. They are data: a command is a list of arguments and
//! never a shell's text, a pattern is compiled within bounds. Whoever runs the commands says what became of each.

mod pattern;
mod read;
mod results;

use serde::{Deserialize, Serialize};

use super::criteria::{Rule, RuleId};

pub use pattern::matched;
pub use read::{Ask, read};
pub use results::{Asked, asked, combined};

/// One way to tell whether one rule is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub rule: RuleId,
    pub how: How,
}

impl Check {
    /// The one that a person has given a rule.
    pub fn given(rule: &Rule) -> Option<Self> {
        let how = How::Command { argv: rule.command.clone()?, exit: 0, expected: "".into() };
        Some(Self { rule: rule.id.clone(), how })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Command {
        argv: Vec<String>,
        /// The exit code that says that the rule is met.
        exit: i32,
        /// What else is to be expected, for people; may be empty, and nothing is compared with it.
        expected: Box<str>,
    },
    Pattern {
        pattern: Box<str>,
        expected: Presence,
    },
    Question {
        text: Box<str>,
    },
}

/// Whether a pattern must occur in the artifact or must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    Present,
    Absent,
}

/// What became of one check that a machine has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its place among the checks.
    pub check: usize,
    /// None if it could not be run.
    pub met: Option<bool>,
    pub details: Box<str>,
}
