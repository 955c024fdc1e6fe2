//! How it is told whether a rule is met: by a command, by a pattern, by a question to the judge.
//!
//! An agent proposes the checks without having seen the artifact. They are a few of the kinds that [`crate::checks`] knows,
//! which finds their faults and tells them. Whoever runs the commands says what became of each.

mod matched;
mod read;
mod results;

use serde::{Deserialize, Serialize};

use super::criteria::{Rule, RuleId};
use crate::checks::{Check as Machine, Text};

pub use crate::checks::{How, Times, Told};
pub use matched::matched;
pub use read::{Ask, read};
pub use results::{Asked, asked, combined};

/// The name of the artifact's page.
pub const PAGE: &str = "artifact.md";

/// One way to tell whether one rule is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub rule: RuleId,
    pub how: How,
}

/// The kinds of checks that are proposed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    Command {
        argv: &'a [String],
        exit: i32,
        expected: &'a str,
    },
    /// It has to occur in the artifact, or must not.
    Pattern {
        pattern: &'a str,
        is_present: bool,
    },
    Question(&'a str),
}

impl Check {
    /// The one that a person has given a rule.
    pub fn given(rule: &Rule) -> Option<Self> {
        Some(Self { rule: rule.id.clone(), how: command(rule.command.clone()?, 0, "") })
    }

    /// None for a kind that is never proposed.
    pub fn kind(&self) -> Option<Kind<'_>> {
        match &self.how {
            How::Question { text } => Some(Kind::Question(text)),
            How::Check(Machine::Command { argv, exit, expected, .. }) => {
                Some(Kind::Command { argv, exit: *exit, expected })
            }
            How::Check(Machine::Pattern { pattern, times, .. }) => {
                Some(Kind::Pattern { pattern, is_present: times.min > 0 })
            }
            How::Check(
                Machine::File { .. }
                | Machine::Schema { .. }
                | Machine::Json { .. }
                | Machine::Touches { .. }
                | Machine::Skill { .. }
                | Machine::Tool { .. }
                | Machine::ToolOrder { .. }
                | Machine::AtMost { .. },
            ) => None,
        }
    }
}

/// A command that ends with this exit code if the rule is met.
pub fn command(argv: Vec<String>, exit: i32, expected: &str) -> How {
    How::Check(Machine::Command { argv, exit, expected: expected.into(), grader: None })
}

/// A pattern for the artifact.
pub fn pattern(pattern: &str, times: Times) -> How {
    How::Check(Machine::Pattern { pattern: pattern.into(), of: Text::Files(PAGE.into()), times })
}
