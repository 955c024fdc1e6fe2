//! The decisions of `reflex`.

use serde::{Deserialize, Serialize};

use crate::judging::stop;

use super::answers::{Issue, PlanStep};
use super::checks::Check;
use super::criteria::Level;
use super::step::Artifact;
use super::task::Terms;
use super::verdict::Evaluation;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The criteria and limits of the plan from now on.
    Agreed(Box<Terms>),
    /// A phase begins. Its time counts against the time limit once it is done.
    Enter(Phase),
    Planned(Vec<PlanStep>),
    /// The artifact is written. The first time, the checks of its level are ready too.
    Produced {
        artifact: Box<Artifact>,
        checks: Option<Vec<Check>>,
    },
    /// The checks of the other level are ready.
    Prepared(Vec<Check>),
    Evaluated(Box<Evaluation>),
    /// The artifact is worse than the best of its level, and the run continues from the best.
    Drop {
        hash: String,
        best: String,
    },
    Criticised(Vec<Issue>),
    Refined(Box<Artifact>),
    /// From A to B, with the same artifact.
    Switch(Level),
    /// The next iteration begins.
    Advance(u32),
    Stop(Stop),
    Close,
}

/// A stretch of work that starts over if it was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Plan,
    /// Both run side by side.
    ProducePrepare,
    Evaluate,
    Critique,
    Refine,
    /// Runs alone only when a run goes from A to B.
    Prepare,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    pub reason: Reason,
    /// A person's message, or the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The reason why a run ended. In the order of precedence: completion, a person, failures, and resources last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Level B is passed.
    ThresholdReached,
    /// At level B only warnings are left, and they keep it below the threshold.
    NoMajorIssues,
    UserStop,
    /// A phase gave no answer that keeps its contract, or nothing that could be judged.
    PhaseError,
    /// The artifact returned to an earlier version, twice.
    Oscillation,
    Stagnation,
    BudgetExceeded,
    IterationLimit,
}

/// The status of a run, in the original's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Running,
    Completed,
    Stopped,
    Failed,
}

impl Reason {
    pub const ALL: [Self; 8] = [
        Self::ThresholdReached,
        Self::NoMajorIssues,
        Self::UserStop,
        Self::PhaseError,
        Self::Oscillation,
        Self::Stagnation,
        Self::BudgetExceeded,
        Self::IterationLimit,
    ];

    pub fn status(self) -> Status {
        match self {
            Self::ThresholdReached | Self::NoMajorIssues => Status::Completed,
            Self::PhaseError => Status::Failed,
            Self::UserStop
            | Self::Oscillation
            | Self::Stagnation
            | Self::BudgetExceeded
            | Self::IterationLimit => Status::Stopped,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::ThresholdReached => "threshold_reached",
            Self::NoMajorIssues => "no_major_issues",
            Self::UserStop => "user_stop",
            Self::PhaseError => "phase_error",
            Self::Oscillation => "oscillation",
            Self::Stagnation => "stagnation",
            Self::BudgetExceeded => "budget_exceeded",
            Self::IterationLimit => "iteration_limit",
        }
    }
}

impl From<stop::Reason> for Reason {
    fn from(reason: stop::Reason) -> Self {
        match reason {
            stop::Reason::Reached => Self::ThresholdReached,
            stop::Reason::Failed | stop::Reason::Refused => Self::PhaseError,
            stop::Reason::Oscillating => Self::Oscillation,
            stop::Reason::Stalled | stop::Reason::Finished => Self::Stagnation,
            stop::Reason::Exhausted => Self::IterationLimit,
        }
    }
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self { reason, note: None }
    }
}

impl Phase {
    /// Returns the original's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "PLAN",
            Self::ProducePrepare => "PRODUCE_PREPARE",
            Self::Evaluate => "EVALUATE",
            Self::Critique => "CRITIQUE",
            Self::Refine => "REFINE",
            Self::Prepare => "PREPARE",
        }
    }
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}
