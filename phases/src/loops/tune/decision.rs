//! The decisions of `tune`, and the answers to its steps.

use serde::{Deserialize, Serialize};

use crate::base::delivery::SkillUse;
use crate::base::id::{CandidateId, TreeId};
use crate::judging::contract::CriterionId;
use crate::judging::judgement::Judgement;
use crate::judging::proof::Effect;
use crate::judging::proof::power::{Needed, Noise};
use crate::judging::score::Score;
use crate::judging::stop::Reason;
use crate::runs::event::Failure;
use crate::runs::proposal::Proposal;
use crate::skills::candidate::Candidate;
use crate::skills::edit::{Danger, EditKind, EditReport};
use crate::skills::target::Place;
use crate::suites::checks::CheckResult;

use super::anchor::Tally;
use super::step::{Choice, Improver, Kept, Seat};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The prepared workspace of the executor.
    SetUp {
        tree: TreeId,
    },
    Exercised {
        artifacts: TreeId,
        files: u64,
        /// How the agent used the skill, if it was installed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<SkillUse>,
        /// The actions of the agent, as far as it reports them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Box<str>>,
        /// Present if something is demanded of the trial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Kept>,
        /// The path of the suite or of a skill's own folder, if the agent reports a tool call that names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opened: Option<Box<str>>,
    },
    /// The results of the automatic checks.
    #[serde(rename = "told")]
    Checked(Vec<CheckResult>),
    Judged(Box<Judgement>),
    Improved {
        tree: TreeId,
        report: Box<EditReport>,
        kinds: Vec<EditKind>,
        /// Dangers that appeared with the edit, for a person to review.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dangers: Vec<Danger>,
    },
    Chosen(Choice),
    Promoted,
    /// The target changed since we wrote it. The found state is kept as separate trees.
    Conflict {
        found: Vec<TreeId>,
    },
    Proposed(Box<Proposal>),
    /// The commit could not be made.
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
            Self::Checked(_)
            | Self::Judged(_)
            | Self::Chosen(_)
            | Self::Promoted
            | Self::Proposed(_)
            | Self::NotProposed { .. } => Vec::new(),
        }
    }
}

/// A decision of the loop. Recorded, so that a newer program replays an old run unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// A round begins: measure this candidate.
    Open {
        round: u32,
        candidate: CandidateId,
        /// The only scenarios to use; empty for all scenarios of the search.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scenarios: Vec<usize>,
    },
    /// The round has been measured, as far as it could be.
    Scored(Measured),
    /// The precision of the suite, from repeated trials of the same version.
    Calibrate(Box<Visible>),
    /// The round's candidate is the head.
    Keep(CandidateId),
    /// The round's candidate is dropped, and the best is the base again.
    Drop { candidate: CandidateId, why: Why },
    /// The round's edit must fix these faults and no others. Empty if nothing is to be edited.
    Target {
        criteria: Vec<CriterionId>,
        /// The member of a chain that is probably at fault.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        member: Option<Place>,
    },
    /// The improver works on this member now.
    Focus(Place),
    /// This improver makes the round's edit, if there are several.
    Turn(Improver),
    /// The round's edit is a candidate.
    Draft(Box<Candidate>),
    /// The round's edit failed.
    NoDraft { member: Place, failure: Failure },
    /// The search is over.
    Stop(Reason),
    /// The best of the search meets the start on fresh trials.
    Compare {
        challenger: CandidateId,
        /// Trials of each version on each scenario, if a search has left more runs than the rules reserve.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trials: Option<u32>,
    },
    /// The pairs so far are not conclusive, so the comparison goes on to the next look. After the end of a run, it is
    /// extended.
    LookAgain { effect: Option<Effect> },
    /// A judge has failed its anchors, so its judgements do not count.
    Dismiss { seat: Seat, tally: Tally },
    /// The other judges are also asked about these scenarios, on which the versions are close.
    Consult { scenarios: Vec<usize> },
    /// Scenarios on which the winner lost much are retried.
    Retry { scenarios: Vec<usize>, won: Shipment },
    /// The winner of the final comparison.
    Ship(Shipment),
    /// The run is over.
    Close(Ending),
}

/// The result of measuring a candidate. Without a score it is incomplete and not part of any series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub score: Option<Score>,
    /// In the order of the contract.
    pub dimensions: Vec<Option<Score>>,
    /// In the order of the chain; empty for a single skill.
    pub members: Vec<Option<Score>>,
    /// Trials that have a score.
    pub judged: u32,
    /// The number of those that score 0 because an agent did not finish.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failed: u32,
    pub of: u32,
    /// The evaluator gave numbers without evidence.
    pub claimed: bool,
    /// The evaluator's own number.
    pub claim: Option<Score>,
    /// The score of the text itself, if the main score is the outcome of trials.
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
    /// Its score fell by this much below the best.
    Regressed { by: f64 },
    /// Only its text score fell.
    WorseText { by: f64 },
}

/// The result of the final comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shipment {
    pub verdict: Verdict,
    /// The version that remains: the challenger if it won, otherwise the start.
    pub champion: CandidateId,
    /// The candidate that met the start, if any.
    pub challenger: Option<CandidateId>,
    /// The mean scores of the two over the pairs.
    pub scores: Vec<(CandidateId, Option<Score>)>,
    /// The tested difference and its confidence, if there was a test.
    pub effect: Option<Effect>,
    /// The scenarios on which both were judged.
    pub pairs: Vec<Pair>,
    /// The two samples, if only the challenger was tried and compared with the start's first trials.
    #[serde(rename = "apart", default, skip_serializing_if = "Option::is_none")]
    pub unpaired: Option<UnpairedSamples>,
    /// The number of looks.
    #[serde(rename = "looks")]
    pub interim_analyses: usize,
    /// The scenarios for which a winner was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fell: Vec<usize>,
    /// The pairs or trials that would show the measured difference, if the result is indecisive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
}

impl Shipment {
    /// Whether both versions were judged.
    pub fn is_compared(&self) -> bool {
        self.unpaired.is_some() || !self.pairs.is_empty()
    }
}

/// Both versions on one scenario: the means of their trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub scenario: usize,
    pub start: Score,
    pub challenger: Score,
}

/// Two samples that are not pairs: each version on its own scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpairedSamples {
    /// The start's first trials, with which the search began.
    pub start: Vec<(usize, Score)>,
    /// The means of the challenger's fresh trials.
    pub challenger: Vec<(usize, Score)>,
    /// The version of each of them, if they were the last trials of a search that went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<CandidateId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The challenger is better than the start.
    Won,
    /// It is worse or, without a test, not better.
    Lost,
    /// There is no difference that matters.
    Tied,
    /// The trials are not conclusive.
    Indecisive,
    /// It is better overall, but much worse on some scenario.
    Regressed,
    /// It scored higher, but no trial used its skill, so nothing shows that it is better.
    Unused,
    /// The search found nothing better than the start.
    Unchallenged,
    /// Too few trials could be judged, or not as many of one version as of the other.
    Unjudged,
}

/// The differences that the suite can show. The simulation takes time, so it is decided once and recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visible {
    /// Unknown if no scenario has two trials with a score.
    pub noise: Option<Noise>,
    /// The final comparison at the end of a search.
    pub comparison: Comparison,
    /// The comparison needed to see half of what it sees now. `None` if that is too small to matter.
    pub better: Option<Needed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// 0 if the suite has too few scenarios for a comparison.
    pub pairs: usize,
    /// Trials of each version on each scenario.
    pub trials: u32,
    /// The start's first trials, if only the challenger is tried on those scenarios and compared with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<usize>,
    /// The points left up to 100.
    pub headroom: f64,
    /// The smallest change that the comparison would see in four of five cases. `None` if it is more than the headroom.
    pub smallest: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The champion is in the target.
    Applied,
    /// The champion is kept in the store, as requested.
    Kept,
    /// The target is unchanged.
    Unchanged,
    /// A person's own edit is in the target.
    Conflict,
    /// The champion is a commit, and the target is unchanged.
    Proposed,
    /// The scenarios were tried, without a skill or with the target as it is; nothing else was requested.
    #[serde(rename = "tried")]
    Exercised,
    /// Two versions were compared; nothing else was requested.
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
