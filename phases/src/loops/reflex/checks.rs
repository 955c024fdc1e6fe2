//! The checks of a rule: a command, a pattern, or a question to the judge.
//!
//! An agent proposes the checks without having seen the artifact. They use a few of the kinds of [`crate::suites::checks`],
//! which finds and reports their faults. The caller runs the commands and reports the result of each.

mod matched;
mod read;
mod results;

use serde::{Deserialize, Serialize};

use super::criteria::{Rule, RuleId};
use crate::suites::checks::{Check as Machine, Text};

pub use crate::suites::checks::{CheckResult, How, Times};
pub use matched::matched;
pub use read::{Ask, read};
pub use results::{Asked, asked, combined};

/// The file name of the artifact's page.
pub const PAGE: &str = "artifact.md";

/// One check of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub rule: RuleId,
    pub how: How,
}

/// The kinds of checks that are proposed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind<'a> {
    Command {
        argv: &'a [String],
        exit: i32,
        expected: &'a str,
    },
    /// The pattern must occur in the artifact, or must not.
    Pattern {
        pattern: &'a str,
        is_present: bool,
    },
    Question(&'a str),
}

impl Check {
    /// Returns the check that a person has given for a rule.
    pub fn given(rule: &Rule) -> Option<Self> {
        Some(Self { rule: rule.id.clone(), how: command(rule.command.clone()?, 0, "") })
    }

    /// Returns the kind of the check; none for a kind that is never proposed.
    pub fn kind(&self) -> Option<CheckKind<'_>> {
        match &self.how {
            How::Question { text } => Some(CheckKind::Question(text)),
            How::Check(Machine::Command { argv, exit, expected, .. }) => {
                Some(CheckKind::Command { argv, exit: *exit, expected })
            }
            How::Check(Machine::Pattern { pattern, times, .. }) => {
                Some(CheckKind::Pattern { pattern, is_present: times.min > 0 })
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

/// Creates a command check. The rule is met if the command ends with this exit code.
pub fn command(argv: Vec<String>, exit: i32, expected: &str) -> How {
    How::Check(Machine::Command { argv, exit, expected: expected.into(), grader: None })
}

/// Creates a pattern check of the artifact.
pub fn pattern(pattern: &str, times: Times) -> How {
    How::Check(Machine::Pattern { pattern: pattern.into(), of: Text::Files(PAGE.into()), times })
}
