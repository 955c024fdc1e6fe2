//! The steps of `reflex`, and their answers.

use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;

use super::answers::{Issue, PlanStep};
use super::checks::{Check, CheckResult};
use super::criteria::{Level, Rule};
use super::original::short;
use super::sections::Changed;
use super::task::Terms;
use super::verdict::RuleResult;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Propose rules for the task.
    Propose,
    /// Ask a person to agree to the criteria and limits.
    Agree,
    Plan {
        iteration: u32,
    },
    /// Write the artifact: the first one, or a new one based on another.
    Produce {
        iteration: u32,
        from: Option<TreeId>,
    },
    /// Prepare the checks of the rules of a level.
    Prepare {
        level: Level,
    },
    /// Ask a person whether the prepared commands may be run.
    Allow {
        level: Level,
    },
    /// Match the patterns against the artifact.
    Match {
        artifact: TreeId,
        checks: usize,
    },
    /// Run the command of one check on a copy of the artifact.
    Check {
        artifact: TreeId,
        check: usize,
    },
    /// Judge the rules of one category and level that no machine has settled.
    Judge {
        artifact: TreeId,
        level: Level,
        category: String,
        /// Raised whenever the evaluator changes. Verdicts of two eras are never compared.
        #[serde(default, skip_serializing_if = "is_first")]
        era: u32,
    },
    Critique {
        artifact: TreeId,
        level: Level,
    },
    Refine {
        artifact: TreeId,
        level: Level,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Proposed(Vec<Rule>),
    Agreed(Box<Terms>),
    Planned(Vec<PlanStep>),
    Written(Box<Artifact>),
    Prepared(Vec<Check>),
    Allowed(bool),
    /// The results of the machine checks.
    #[serde(rename = "told")]
    Checked(Vec<CheckResult>),
    Judged(Vec<RuleResult>),
    Criticised(Vec<Issue>),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_first(era: &u32) -> bool {
    *era == 0
}

/// One version of the artifact: a folder with one page in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub tree: TreeId,
    /// The SHA-256 of the page.
    pub hash: String,
    pub bytes: u64,
    /// The changes since the previous version.
    pub changed: Option<Changed>,
}

impl Artifact {
    /// Returns the name that people and the original use.
    pub fn name(&self) -> &str {
        short(&self.hash)
    }
}
