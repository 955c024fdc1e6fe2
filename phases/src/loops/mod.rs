//! The loops: pure state machines over a run.

mod tune;

pub use tune::Tune;

use crate::event::Decision;
use crate::plan::{LoopKind, Plan};
use crate::run::Run;
use crate::step::Step;

/// What a loop wants next.
#[expect(missing_debug_implementations, reason = "a lazy iterator shows nothing")]
pub enum Next<'a> {
    /// Record this decision, and ask again.
    Decide(Decision),
    /// Take these steps, in this order, as many at a time as there is room for. Those under way may be among them.
    Do(Box<dyn Iterator<Item = Step> + 'a>),
    End,
}

pub trait Loop {
    fn next<'a>(&'a self, run: &'a Run) -> Next<'a>;

    /// An upper bound of what a run will ask of agents, for those who want to know before they begin.
    fn most_calls(&self, plan: &Plan) -> MostCalls;
}

/// Calls by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostCalls {
    pub executor: u64,
    pub evaluator: u64,
    pub improver: u64,
}

impl LoopKind {
    pub fn machine(self) -> &'static dyn Loop {
        match self {
            Self::Tune => &Tune,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Tune => "tune",
        }
    }
}
