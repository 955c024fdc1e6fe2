//! The words that the original writes, and what stands in their place when it or a hand wrote another.

use std::fmt;

use serde::{Serialize, Serializer};

/// A closed list of words.
pub trait Vocabulary: Copy + 'static {
    const ALL: &'static [Self];

    fn word(self) -> &'static str;

    /// Capitals do not matter: it was a model that wrote them.
    fn of(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.word().eq_ignore_ascii_case(text.trim()))
    }
}

/// A word of the list, or what was found where one was due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word<T> {
    Known(T),
    Other(String),
}

impl<T: Vocabulary> Word<T> {
    pub fn of(text: &str) -> Self {
        T::of(text).map_or_else(|| Self::Other(text.to_owned()), Self::Known)
    }

    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Other(_) => None,
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(known) => known.word(),
            Self::Other(text) => text,
        }
    }
}

impl<T> From<T> for Word<T> {
    fn from(known: T) -> Self {
        Self::Known(known)
    }
}

impl<T: Vocabulary> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Vocabulary> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

macro_rules! vocabularies {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($variant),+
        }

        impl Vocabulary for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }
    )+};
}

vocabularies! {
    /// How a run stands.
    Status {
        Running = "running",
        Completed = "completed",
        Stopped = "stopped",
        Failed = "failed",
    }
    /// Which rules an artifact is held to: those of A, then those of both.
    Phase {
        A = "A",
        B = "B",
    }
    /// What is being done; `Prepare` alone only where a run goes from A to B.
    Step {
        Plan = "PLAN",
        ProducePrepare = "PRODUCE_PREPARE",
        Evaluate = "EVALUATE",
        Critique = "CRITIQUE",
        Refine = "REFINE",
        Prepare = "PREPARE",
    }
    /// What a line of the history tells.
    Event {
        RunStarted = "run_started",
        PlanCreated = "plan_created",
        ArtifactCreated = "artifact_created",
        ChecksPrepared = "checks_prepared",
        EvaluationDone = "evaluation_done",
        CritiqueDone = "critique_done",
        RefinementDone = "refinement_done",
        PhaseSwitched = "phase_switched",
        IterationAdvanced = "iteration_advanced",
        PhaseError = "phase_error",
        Stopped = "stopped",
        Failed = "failed",
    }
    /// How the step of a line went.
    LineStatus {
        Ok = "ok",
        Error = "error",
    }
    /// Why a run ended; a person may have stopped it in words of their own.
    StopReason {
        ThresholdReached = "threshold_reached",
        NoMajorIssues = "no_major_issues",
        UserStop = "user_stop",
        Stagnation = "stagnation",
        BudgetExceeded = "budget_exceeded",
        IterationLimit = "iteration_limit",
        PhaseError = "phase_error",
    }
    Severity {
        Fail = "fail",
        Warn = "warn",
        Info = "info",
    }
    /// What was found of a rule; `na` is what nobody could tell.
    Verdict {
        Pass = "pass",
        Fail = "fail",
        Warn = "warn",
        NotApplicable = "na",
    }
}

impl Severity {
    /// What a rule weighs that does not say.
    pub fn weight(self) -> u32 {
        match self {
            Self::Fail => 2,
            Self::Warn => 1,
            Self::Info => 0,
        }
    }
}

impl StopReason {
    /// How a run stands that ended so.
    pub fn status(self) -> Status {
        match self {
            Self::ThresholdReached | Self::NoMajorIssues => Status::Completed,
            Self::UserStop | Self::Stagnation | Self::BudgetExceeded | Self::IterationLimit => {
                Status::Stopped
            }
            Self::PhaseError => Status::Failed,
        }
    }
}
