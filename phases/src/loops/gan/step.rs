//! The steps of `gan`, and their answers.

use serde::{Deserialize, Serialize};

use super::answers::{Notes, Verdicts};
use super::course::{Choice, Question, Who};
use super::inspect::Inspection;
use super::negotiation::{Draft, Proposal, Ruling};
use crate::base::id::{Digest, TreeId};
use crate::judging::contract::CriterionId;
use crate::runs::proposal::{self, Form};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The evaluator drafts its criteria.
    Draft,
    /// The builder accepts it, or proposes changes.
    Propose { round: usize },
    /// The evaluator rules on them.
    Rule { round: usize },
    /// The builder makes the next artifact from this one.
    Build { sprint: u32, from: TreeId },
    /// Machine checks of the source.
    Inspect { artifact: TreeId },
    /// Machine checks in a browser.
    #[serde(rename = "look")]
    Browse { artifact: TreeId },
    /// Ask a person whether the commands of the test scenarios may run.
    Allow,
    /// Run the command of a test scenario on a copy of the artifact.
    Try { artifact: TreeId, scenario: CriterionId },
    /// An evaluator judges what no machine could decide.
    Judge {
        artifact: TreeId,
        /// Each sprint is judged anew, even if the builder has changed nothing.
        sprint: usize,
        /// The hash of the contract.
        contract: Digest,
        reading: Reading,
        /// Raised whenever the evaluator changes. Verdicts of two eras are never compared.
        era: u32,
    },
    /// Ask a person how to continue after this many rounds.
    Ask { hold: Question, after: usize },
    /// Put the result into the folder that a person has named.
    Promote { artifact: TreeId },
    /// Commit the result, and leave that folder unchanged.
    Commit { artifact: TreeId, form: Form },
}

/// Which of two judgements of the same artifact. Each has a different prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    First,
    Second,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Drafted(Draft),
    /// If empty, the builder accepts.
    Proposed(Vec<Proposal>),
    Ruled(Vec<Ruling>),
    Built {
        artifact: TreeId,
        notes: Box<Notes>,
    },
    /// The results of machines, and their screenshots.
    #[serde(rename = "told")]
    Inspected {
        #[serde(rename = "looked")]
        inspection: Box<Inspection>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        screens: Option<TreeId>,
    },
    Judged(Box<Verdicts>),
    Allowed(bool),
    Chosen {
        choice: Choice,
        by: Who,
    },
    Promoted,
    /// The folder has changed since the run began. The content found there is kept.
    Conflict {
        found: Vec<TreeId>,
    },
    Committed(Box<proposal::Proposal>),
    /// No commit could be made.
    NotCommitted {
        why: Box<str>,
    },
}

impl Answer {
    pub(super) fn trees(&self) -> Vec<TreeId> {
        match self {
            Self::Built { artifact, .. } => vec![*artifact],
            Self::Inspected { screens, .. } => screens.iter().copied().collect(),
            Self::Conflict { found } => found.clone(),
            Self::Drafted(_)
            | Self::Proposed(_)
            | Self::Ruled(_)
            | Self::Judged(_)
            | Self::Allowed(_)
            | Self::Chosen { .. }
            | Self::Promoted
            | Self::Committed(_)
            | Self::NotCommitted { .. } => Vec::new(),
        }
    }
}
