//! The journal's vocabulary: what happened, what was decided. The only place where time enters the core.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::delivery::SkillUse;
use crate::edit::EditReport;
use crate::id::{CallKey, CandidateId, TreeId};
use crate::judgement::Judgement;
use crate::plan::{Place, Plan};
use crate::score::Score;
use crate::step::{Choice, Step};
use crate::stop::Reason;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub seq: u64,
    pub at: Timestamp,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Started(Box<Plan>),
    Done(Box<Done>),
    Decided(Decision),
    Noted(Signal),
}

/// A step has ended: answered or failed, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub step: Step,
    /// How often this step had failed before, in the whole run.
    pub attempt: u32,
    /// The agent's call, where there was one.
    pub call: Option<CallKey>,
    pub outcome: Outcome,
    pub spent: Spent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Exercised {
        artifacts: TreeId,
        files: u64,
        /// What became of the skill, where it was installed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<SkillUse>,
    },
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
    Failed(Failure),
}

/// An agent's failure is data: it is an outcome, never an error of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// For people, and for the second try's prompt.
    pub why: String,
    /// From when on trying again may help, where the service has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Its deadline passed.
    TimedOut,
    /// It ended with an error, by a signal, or could not be started.
    Crashed,
    /// It answered nothing.
    Empty,
    /// It answered something that cannot be read.
    OffSchema,
    /// It left more than a workspace may hold.
    TooLarge,
    /// The draft is not a valid change: a no-op, not a skill, outside its folder.
    Gate,
    /// The model would not do it.
    Refused,
    /// It came to no end within the turns it has.
    TurnLimit,
    /// It came to no end within the money it has.
    BudgetLimit,
    /// It was not let do what it needed for an answer.
    DeniedTool,
    /// The service wants fewer requests.
    RateLimited,
    /// What the account may use up is used up.
    UsageLimit,
    /// The service has too much to do, or is out of order.
    Overloaded,
    /// The service was not reached, or cut off in the middle.
    Network,
    /// Nobody is logged in, or the key is not accepted.
    Authentication,
    /// There is no such model, or not for this account.
    ModelNotFound,
    /// More was asked than the model can read.
    PromptTooLong,
    /// It has changed what it was given to be left alone.
    Breach,
    /// The agent does not take the arguments or the settings that it is given.
    UsageError,
}

/// What one call cost. A stored answer costs nothing again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Those of the input that the service had kept from an earlier question, and that are cheaper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The money was not told: it is what the tokens cost at the prices of the settings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Found in the cache of an earlier run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It fell by this much below the best.
    Regressed { by: f64 },
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

/// What happened around the loop. No decision looks at these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The run was stopped by a person or the system, and can be taken up again.
    Paused(Pause),
    Resumed {
        program: String,
    },
    /// The loop waits for a person's answer.
    Held,
    /// The run waits for a limit to be lifted, and goes on by itself.
    Waiting {
        until: Timestamp,
    },
    /// The wait is over.
    Waited,
    /// A person's command brought these trees into the target.
    Placed {
        from: Vec<TreeId>,
        to: Vec<TreeId>,
        by: PlacedBy,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    Interrupted,
    Terminated,
    Stopped,
    /// A call failed in a way that trying again does not mend.
    Blocked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacedBy {
    Apply,
    Rollback,
}

impl Failure {
    pub fn new(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), until: None }
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Regressed { by } => write!(f, "it scored {by:.1} below the best so far"),
        }
    }
}
