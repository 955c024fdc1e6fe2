//! The journal's vocabulary: what happened, what was decided. The only place where time enters the core.

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ceiling::{Ceiling, Ceilings};
use crate::id::{CallKey, TreeId};
use crate::model::ModelName;
use crate::plan::{Cast, Plan};
use crate::proposal::Proposal;
use crate::role::Role;
use crate::vocabulary::Vocabulary;
use crate::window::Window;

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
    Noted(#[serde(deserialize_with = "signal_to::<L, _>")] Signal),
}

/// Reads a signal that a run of the loop can be given: it names only roles that the loop has.
fn signal_to<'de, L: Vocabulary, D: Deserializer<'de>>(from: D) -> Result<Signal, D::Error> {
    let signal = Signal::deserialize(from)?;
    if let Signal::Recast { role, .. } | Signal::KeptFree { role, .. } = &signal
        && L::spec(role).is_none()
    {
        return Err(D::Error::custom(format!("the loop has no role {role}")));
    }
    Ok(signal)
}

/// A step has ended: answered or failed, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Done<L: Vocabulary> {
    pub step: L::Step,
    /// How often this step had failed before, in the whole run.
    pub attempt: u32,
    /// The agent's call, if an agent was called.
    pub call: Option<CallKey>,
    #[serde(with = "outcome", bound = "")]
    pub outcome: Outcome<L::Answer>,
    pub spent: Spent,
    /// The model that answered, if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// What the agent reports of the usage windows of its account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
}

/// How a step ended. An agent's failure is data, not an error of skilltune.
pub type Outcome<A> = Result<A, Failure>;

/// Why a step has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// Shown to people, and to the agent in the prompt of its next try.
    pub why: String,
    /// When trying again may help, if the service said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It was still at work when its time was up.
    TimedOut,
    /// Its time was up, and its model had not sent a word.
    NoResponse,
    /// It ended with an error, by a signal, or could not be started.
    Crashed,
    /// Its answer is empty.
    Empty,
    /// Its answer does not have the form that was asked for.
    OffSchema,
    /// It left more than a workspace may hold.
    TooLarge,
    /// The draft is not a valid change: a no-op, not a skill, outside its folder.
    Gate,
    /// The model refused.
    Refused,
    /// It used up its turns.
    TurnLimit,
    /// Its answer was cut off: the model may not write more.
    OutputLimit,
    /// It used up its money.
    BudgetLimit,
    /// It was denied a tool that it needed.
    DeniedTool,
    /// The service wants fewer requests.
    RateLimited,
    /// The account has used up its quota.
    UsageLimit,
    /// The service is overloaded or broken.
    Overloaded,
    /// The service could not be reached, or the connection broke.
    Network,
    /// There is no login, or the key is not accepted.
    Authentication,
    /// The model does not exist, or this account may not use it.
    ModelNotFound,
    /// The prompt is longer than the model can read.
    PromptTooLong,
    /// It changed files that it had to leave unchanged.
    Breach,
    /// The agent rejects its arguments or its settings.
    UsageError,
    /// The agent, or the wrapper around it, needs something done on this machine before it works.
    NotSetUp,
    /// It was not started: a file that it would run or read is not the one that a person trusted.
    NotTrusted,
}

/// What one call cost. A stored answer costs nothing again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The part of the input that the service had cached, at a lower price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The agent named no price: `usd` is computed from the tokens and the prices in the settings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// A cache hit: an earlier run has paid for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// What happened around the loop. Of these, only a changed agent influences decisions; ceilings say when a run pauses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The run was stopped, and can be resumed.
    Paused(Pause),
    Resumed {
        program: String,
    },
    /// From here on another agent has this role.
    Recast {
        role: Role,
        cast: Cast,
    },
    /// From here on the run has these ceilings.
    Ceilings(Ceilings),
    /// The loop waits for a person's answer.
    Held,
    /// The next call of this role would use what has to stay free of this window.
    KeptFree {
        role: Role,
        window: Window,
    },
    /// The run waits for a limit to be lifted, and then continues by itself.
    Waiting {
        until: Timestamp,
    },
    /// The wait is over.
    Waited,
    /// A person's command is about to replace what it found in the target: if it is killed, this still names that.
    Placing {
        from: Vec<TreeId>,
        to: Vec<TreeId>,
        by: PlacedBy,
    },
    /// A person's command wrote these trees into the target.
    Placed {
        from: Vec<TreeId>,
        to: Vec<TreeId>,
        by: PlacedBy,
    },
    /// A person's command made a commit of a version.
    Proposed(Proposal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    Interrupted,
    Terminated,
    Stopped,
    /// A call failed in a way that a retry does not fix.
    Blocked,
    /// The next call might pass it.
    Ceiling(Ceiling),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacedBy {
    Apply,
    Rollback,
}

impl Spent {
    pub fn tokens(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }
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
