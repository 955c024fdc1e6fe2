//! The journal's vocabulary: what happened, what was decided. The only place where time enters the core.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{CallKey, TreeId};
use crate::plan::{Cast, Plan};
use crate::role::Role;
use crate::vocabulary::Vocabulary;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Record<L: Vocabulary> {
    pub seq: u64,
    pub at: Timestamp,
    pub event: Event<L>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound = "")]
pub enum Event<L: Vocabulary> {
    Started(Box<Plan<L>>),
    Done(Box<Done<L>>),
    Decided(L::Decision),
    Noted(Signal),
}

/// A step has ended: answered or failed, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Done<L: Vocabulary> {
    pub step: L::Step,
    /// How often this step had failed before, in the whole run.
    pub attempt: u32,
    /// The agent's call, where there was one.
    pub call: Option<CallKey>,
    #[serde(with = "outcome", bound = "")]
    pub outcome: Outcome<L::Answer>,
    pub spent: Spent,
}

/// How a step ended. A failure of an agent is data, never an error of ours.
pub type Outcome<A> = Result<A, Failure>;

/// Why a step was not answered.
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
    /// Its deadline passed while it was at work.
    TimedOut,
    /// Its deadline passed, and its model had not said a word.
    NoResponse,
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

/// What happened around the loop. Decisions look at none of these but a changed agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The run was stopped by a person or the system, and can be taken up again.
    Paused(Pause),
    Resumed {
        program: String,
    },
    /// From here on the agent of a role is another one than before.
    Recast {
        role: Role,
        cast: Cast,
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

/// An outcome in the journal: the answer itself, or `{"failed": ...}`.
pub mod outcome {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Failure, Outcome};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written<F, A> {
        Failed { failed: F },
        Answered(A),
    }

    pub fn serialize<A: Serialize, S: Serializer>(outcome: &Outcome<A>, to: S) -> Result<S::Ok, S::Error> {
        let written = match outcome {
            Ok(answer) => Written::Answered(answer),
            Err(failed) => Written::Failed { failed },
        };
        written.serialize(to)
    }

    pub fn deserialize<'de, A: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Outcome<A>, D::Error> {
        Ok(match Written::<Failure, A>::deserialize(from)? {
            Written::Answered(answer) => Ok(answer),
            Written::Failed { failed } => Err(failed),
        })
    }
}
