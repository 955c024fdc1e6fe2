//! What `tune` decides, and what its steps come to.

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::checks::Told;
use crate::delivery::SkillUse;
use crate::edit::EditReport;
use crate::event::Failure;
use crate::id::{CandidateId, TreeId};
use crate::judgement::Judgement;
use crate::score::Score;
use crate::stop::Reason;
use crate::target::Place;

use super::step::{Choice, Kept};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What the executor finds in its workspace.
    SetUp {
        tree: TreeId,
    },
    Exercised {
        artifacts: TreeId,
        files: u64,
        /// What became of the skill, where it was installed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<SkillUse>,
        /// What the agent did, as far as it reports it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Box<str>>,
        /// Where something is demanded of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Kept>,
    },
    /// What the checks by machine have told.
    Told(Vec<Told>),
    Judged(Box<Judgement>),
    Improved {
        tree: TreeId,
        report: Box<EditReport>,
    },
    Chosen(Choice),
    Promoted,
    /// The target was not what we left there: what was found is kept as trees of its own.
    Conflict {
        found: Vec<TreeId>,
    },
}

impl Answer {
    pub(super) fn trees(&self) -> Vec<TreeId> {
        match self {
            Self::Exercised { artifacts, kept, .. } => {
                let kept = kept.iter().flat_map(|kept| [kept.left, kept.evidence]);
                std::iter::once(*artifacts).chain(kept).collect()
            }
            Self::SetUp { tree } | Self::Improved { tree, .. } => vec![*tree],
            Self::Conflict { found } => found.clone(),
            Self::Told(_) | Self::Judged(_) | Self::Chosen(_) | Self::Promoted => Vec::new(),
        }
    }
}

/// What the loop decided. Recorded, so that a newer program replays an old run unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// A round begins: measure this candidate.
    Open { round: u32, candidate: CandidateId },
    /// The round has been measured, as far as it could be.
    Scored(Measured),
    /// The round's candidate is the head.
    Keep(CandidateId),
    /// The round's candidate is dropped, and the best is the base again.
    Drop { candidate: CandidateId, why: Why },
    /// The improver works on this member now.
    Focus(Place),
    /// The round's edit is a candidate.
    Draft(Box<Candidate>),
    /// The round's edit came to nothing.
    NoDraft { member: Place, failure: Failure },
    /// The search is over.
    Stop(Reason),
    /// The last contestants are compared on fresh trials.
    Compare(Vec<CandidateId>),
    /// Which candidate has won.
    Ship(Shipment),
    /// The run is over.
    Close(Ending),
}

/// What a measurement says of a candidate. Without a score it is incomplete, and enters no series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub score: Option<Score>,
    /// In the order of the contract.
    pub dimensions: Vec<Option<Score>>,
    /// In the order of the chain; empty for a single skill.
    pub members: Vec<Option<Score>>,
    pub judged: u32,
    pub of: u32,
    /// The evaluator gave numbers without evidence.
    pub claimed: bool,
    /// The evaluator's own number.
    pub claim: Option<Score>,
    /// What the text is worth by itself, where the score is the outcome of trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Score>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It fell by this much below the best.
    Regressed { by: f64 },
    /// Its text alone did.
    WorseText { by: f64 },
}

/// The result of the final comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shipment {
    pub verdict: Verdict,
    pub champion: CandidateId,
    /// Each contestant's score, on the scenarios that all of them were judged on.
    pub scores: Vec<(CandidateId, Option<Score>)>,
    /// How many pairs of trials stand behind it; none when nothing was compared afresh.
    pub pairs: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The champion beat the start.
    Won,
    /// Contestants there were, and none beat the start.
    Lost,
    /// A contestant beat the start, and its skill was used in none of the trials: nothing shows that it is better.
    Unused,
    /// There was nothing to compare the start with.
    Unchallenged,
    /// The comparison could not be judged.
    Indecisive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The champion is in the target.
    Applied,
    /// The champion is kept in the store, by wish.
    Kept,
    /// The target stays as it was found.
    Unchanged,
    /// A person's own edit stands in the target.
    Conflict,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Regressed { by } => write!(f, "it scored {by:.1} below the best so far"),
            Self::WorseText { by } => write!(f, "its text was judged {by:.1} below that of the best so far"),
        }
    }
}
