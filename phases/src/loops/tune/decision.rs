//! What `tune` decides, and what its steps come to.

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::checks::Told;
use crate::contract::CriterionId;
use crate::delivery::SkillUse;
use crate::edit::{Danger, EditKind, EditReport};
use crate::event::Failure;
use crate::id::{CandidateId, TreeId};
use crate::judgement::Judgement;
use crate::proof::Effect;
use crate::proof::power::{Needed, Noise};
use crate::proposal::Proposal;
use crate::score::Score;
use crate::stop::Reason;
use crate::target::Place;

use super::anchor::Tally;
use super::step::{Choice, Improver, Kept, Seat};

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
        /// The suite's path, or that of a skill's own folder, if the agent reports a tool call that names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opened: Option<Box<str>>,
    },
    /// What the checks by machine have told.
    Told(Vec<Told>),
    Judged(Box<Judgement>),
    Improved {
        tree: TreeId,
        report: Box<EditReport>,
        kinds: Vec<EditKind>,
        /// What appeared with it that a person has to look at.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dangers: Vec<Danger>,
    },
    Chosen(Choice),
    Promoted,
    /// The target was not what we left there: what was found is kept as trees of its own.
    Conflict {
        found: Vec<TreeId>,
    },
    Proposed(Box<Proposal>),
    /// No commit could be made.
    NotProposed {
        why: Box<str>,
    },
}

impl Answer {
    pub(super) fn trees(&self) -> Vec<TreeId> {
        match self {
            Self::Exercised { artifacts, kept, .. } => {
                let kept = kept.iter().flat_map(|kept| [Some(kept.left), Some(kept.evidence), kept.began]);
                let kept = kept.flatten();
                std::iter::once(*artifacts).chain(kept).collect()
            }
            Self::SetUp { tree } | Self::Improved { tree, .. } => vec![*tree],
            Self::Conflict { found } => found.clone(),
            Self::Told(_)
            | Self::Judged(_)
            | Self::Chosen(_)
            | Self::Promoted
            | Self::Proposed(_)
            | Self::NotProposed { .. } => Vec::new(),
        }
    }
}

/// What the loop decided. Recorded, so that a newer program replays an old run unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// A round begins: measure this candidate.
    Open {
        round: u32,
        candidate: CandidateId,
        /// On these scenarios alone; on all of the search, if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scenarios: Vec<usize>,
    },
    /// The round has been measured, as far as it could be.
    Scored(Measured),
    /// What repeated trials of the same version show of the suite.
    Calibrate(Box<Visible>),
    /// The round's candidate is the head.
    Keep(CandidateId),
    /// The round's candidate is dropped, and the best is the base again.
    Drop { candidate: CandidateId, why: Why },
    /// The round's edit is to mend these faults, and no others; none, where nothing is to be edited.
    Target {
        criteria: Vec<CriterionId>,
        /// The member of a chain that is probably at fault.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        member: Option<Place>,
    },
    /// The improver works on this member now.
    Focus(Place),
    /// The round's edit is made by this improver, where there are several.
    Turn(Improver),
    /// The round's edit is a candidate.
    Draft(Box<Candidate>),
    /// The round's edit came to nothing.
    NoDraft { member: Place, failure: Failure },
    /// The search is over.
    Stop(Reason),
    /// The best of the search meets the start on fresh trials.
    Compare {
        challenger: CandidateId,
        /// Of each on each scenario, where a search has left more runs than the rules reserve.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trials: Option<u32>,
    },
    /// A look at the pairs so far shows too little: it goes on to the next.
    LookAgain { effect: Option<Effect> },
    /// A judge has failed its anchors, and counts for nothing.
    Dismiss { seat: Seat, tally: Tally },
    /// The other judges are asked about these scenarios too, on which the versions are close.
    Consult { scenarios: Vec<usize> },
    /// Scenarios on which the winner lost much are tried again.
    Retry { scenarios: Vec<usize>, won: Shipment },
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
    /// Trials that have a score.
    pub judged: u32,
    /// Those among them that score 0 because an agent came to no end.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failed: u32,
    pub of: u32,
    /// The evaluator gave numbers without evidence.
    pub claimed: bool,
    /// The evaluator's own number.
    pub claim: Option<Score>,
    /// What the text is worth by itself, where the score is the outcome of trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Score>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_none(number: &u32) -> bool {
    *number == 0
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
    /// What is left in the end: the challenger if it won, otherwise the start.
    pub champion: CandidateId,
    /// What met the start, if anything did.
    pub challenger: Option<CandidateId>,
    /// The mean scores of the two over the pairs.
    pub scores: Vec<(CandidateId, Option<Score>)>,
    /// Where it was tested: the difference, and how sure it is.
    pub effect: Option<Effect>,
    /// The scenarios on which both were judged.
    pub pairs: Vec<Pair>,
    /// Where the challenger alone was tried: what its trials were compared with the start's first ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
    /// How many looks it took.
    pub looks: usize,
    /// The scenarios because of which a winner was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fell: Vec<usize>,
    /// Where it shows neither: what would show the difference that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
}

impl Shipment {
    /// Whether both versions were judged.
    pub fn is_compared(&self) -> bool {
        self.apart.is_some() || !self.pairs.is_empty()
    }
}

/// Both versions on one scenario: the means of their trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub scenario: usize,
    pub start: Score,
    pub challenger: Score,
}

/// Two samples that are no pairs: each version on scenarios of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Apart {
    /// The start's first trials, by which the search began.
    pub start: Vec<(usize, Score)>,
    /// The means of the challenger's fresh ones.
    pub challenger: Vec<(usize, Score)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The challenger is better than the start.
    Won,
    /// It is worse, or where nothing was tested, not better.
    Lost,
    /// There is no difference that matters.
    Tied,
    /// The trials show neither.
    Indecisive,
    /// It is better on the whole, and much worse on some scenario.
    Regressed,
    /// It scored higher, and its skill was used in none of the trials: nothing shows that it is better.
    Unused,
    /// The search found nothing better than the start.
    Unchallenged,
    /// Too few trials could be judged, or not as many of one version as of the other.
    Unjudged,
}

/// What the suite can show. It is simulated, which takes its time: so it is decided once, and recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visible {
    /// Unknown where no scenario has two trials with a score.
    pub noise: Option<Noise>,
    /// The final comparison that a search would end with.
    pub comparison: Comparison,
    /// What a comparison needs to see half of what it sees now. None where that is too little to matter.
    pub better: Option<Needed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// 0, where the suite has too few scenarios for one.
    pub pairs: usize,
    /// Of each version on each scenario.
    pub trials: u32,
    /// The points that are left up to 100.
    pub headroom: f64,
    /// The smallest change that it would see in four of five cases; none, where that is more than the headroom.
    pub smallest: Option<f64>,
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
    /// The champion is a commit, and the target is as it was found.
    Proposed,
    /// The scenarios were tried, without a skill or with the target as it is, and nothing else was asked.
    Tried,
    /// Two versions were compared, and nothing else was asked.
    Compared,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Regressed { by } => write!(f, "it scored {by:.1} below the best so far"),
            Self::WorseText { by } => write!(f, "its text was judged {by:.1} below that of the best so far"),
        }
    }
}
