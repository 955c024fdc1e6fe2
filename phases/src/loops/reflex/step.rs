//! What `reflex` can ask for, and what it comes to.

use serde::{Deserialize, Serialize};

use crate::id::TreeId;

use super::answers::{Issue, PlanStep};
use super::checks::{Check, Told};
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
    /// Ask a person whether criteria and limits shall be these.
    Agree,
    Plan {
        iteration: u32,
    },
    /// Write the artifact, the first one or anew on the grounds of another.
    Produce {
        iteration: u32,
        from: Option<TreeId>,
    },
    /// Say how the rules of a level are checked.
    Prepare {
        level: Level,
    },
    /// Ask a person whether the commands that were prepared may be run.
    Allow {
        level: Level,
    },
    /// Hold the patterns against the artifact.
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
        /// Raised whenever the evaluator has changed: verdicts of two eras are never compared.
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
    /// What the machine checks have told.
    Told(Vec<Told>),
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
    /// What is not as it was in the version before.
    pub changed: Option<Changed>,
}

impl Artifact {
    /// As people and the original name it.
    pub fn name(&self) -> &str {
        short(&self.hash)
    }
}
