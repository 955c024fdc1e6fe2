//! The journal's vocabulary: events and decisions. Time enters the core only here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ceiling::{Ceiling, Ceilings};
use crate::base::id::{CallKey, TreeId};
use crate::base::model::ModelName;
use crate::base::role::Role;
use crate::base::vocabulary::Vocabulary;
use crate::base::window::Window;
use crate::runs::plan::{Cast, Plan};
use crate::runs::proposal::Proposal;

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

/// The end of a step: its answer or failure, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Done<L: Vocabulary> {
    pub step: L::Step,
    /// How often this step had failed before in the whole run.
    pub attempt: u32,
    /// The agent's call, if an agent was called.
    pub call: Option<CallKey>,
    #[serde(with = "outcome", bound = "")]
    pub outcome: Outcome<L::Answer>,
    pub spent: Spent,
    /// The model that answered, if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// The usage windows of the agent's account, as the agent reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// Where a worker made the call. Its words are those of another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// The machine of a worker, and the losses of workers before it gave the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the worker in the settings.
    pub worker: Box<str>,
    pub host: Box<str>,
    /// The version of its agent, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<str>>,
    /// How often the call was lost with its worker and made again.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost: u32,
    /// Why it was lost the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_none(number: &u32) -> bool {
    *number == 0
}

/// The outcome of a step. An agent's failure is data, not an error of skilltune.
pub type Outcome<A> = Result<A, Failure>;

/// The reason why a step has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// Shown to people, and to the agent in the prompt of the next try.
    pub why: String,
    /// The time when a retry may help, if the service named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The exit code of the program, if that was its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The agent was still at work at its timeout.
    TimedOut,
    /// The model had not sent anything at the timeout.
    NoResponse,
    /// The agent exited with an error or by a signal, or could not be started.
    Crashed,
    /// The answer is empty.
    Empty,
    /// The answer does not have the requested form.
    OffSchema,
    /// The agent's output is larger than a workspace may be.
    TooLarge,
    /// The draft is not a valid change: a no-op, not a skill, outside its folder.
    Gate,
    /// The model refused.
    Refused,
    /// The agent used up its turns.
    TurnLimit,
    /// The answer was cut off: the model reached its output limit.
    OutputLimit,
    /// The agent used up its budget.
    BudgetLimit,
    /// The agent was denied a tool that it needed.
    DeniedTool,
    /// The service asked for fewer requests.
    RateLimited,
    /// The account used up its quota, which resets.
    UsageLimit,
    /// The account has no credit left: somebody has to pay.
    NoCredit,
    /// The service is overloaded or broken.
    Overloaded,
    /// The service could not be reached, or the connection broke.
    Network,
    /// There is no login, or the key is not accepted.
    Authentication,
    /// The service knows the account and refuses it.
    Forbidden,
    /// The model does not exist, or this account may not use it.
    ModelNotFound,
    /// The prompt is longer than the model can read.
    PromptTooLong,
    /// The agent changed files that it had to leave unchanged.
    Breach,
    /// The agent rejects its arguments or its settings.
    UsageError,
    /// The agent, or its wrapper, needs a setup step on this machine first.
    NotSetUp,
    /// The agent was not started: a file that it would run or read is not the one that the user trusted.
    NotTrusted,
    /// Each worker that began the call was lost before it replied.
    WorkerLost,
    /// No worker makes such a call.
    NoWorker,
}

/// The cost of one call. A cache hit costs nothing again.
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
    /// The agent reported no price: `usd` is computed from the tokens and the prices in the settings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// A cache hit: an earlier run has paid for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// An event around the loop. Only a changed agent influences decisions; ceilings determine when a run pauses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The run was stopped and can be resumed.
    Paused(Pause),
    Resumed {
        program: String,
    },
    /// The role has another agent from here on.
    Recast {
        role: Role,
        cast: Cast,
    },
    /// The run has these ceilings from here on.
    Ceilings(Ceilings),
    /// The loop waits for a person's answer.
    Held,
    /// The next call of this role would use the part of this window that must stay free.
    KeptFree {
        role: Role,
        window: Window,
    },
    /// These workers make the calls from here on; none for this machine.
    Workers(Vec<String>),
    /// This worker does not make such calls.
    WorkerRefused {
        worker: Box<str>,
        why: Box<str>,
    },
    /// The run waits for a limit to be lifted, and then continues by itself.
    Waiting {
        until: Timestamp,
    },
    /// The wait is over.
    Waited,
    /// A command is about to replace what it found in the target. If it is killed, this record still names those trees.
    Placing {
        from: Vec<TreeId>,
        to: Vec<TreeId>,
        by: PlacedBy,
    },
    /// A command wrote these trees into the target.
    Placed {
        from: Vec<TreeId>,
        to: Vec<TreeId>,
        by: PlacedBy,
    },
    /// A command made a commit of a version.
    Proposed(Proposal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// The calls that are due were written into a folder, and wait for their replies.
    Exported,
    Interrupted,
    Terminated,
    Stopped,
    /// A call failed in a way that a retry does not fix.
    Blocked,
    /// The next call might exceed this ceiling.
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
        Self { kind, why: why.into(), until: None, exit_code: None }
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
