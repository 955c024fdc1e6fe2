//! The loops: pure state machines over a run, each with a vocabulary of its own.
//!
//! A loop is a type that nothing is made of: it names what its plans, steps, answers and decisions are, and how they
//! follow from each other. The fold, the journal and the engine are written once, for any of them.

pub mod reflex;
pub mod tune;

use std::fmt::Debug;
use std::hash::Hash;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::id::TreeId;
use crate::order::Request;
use crate::plan::{LoopKind, Plan};
use crate::role::Role;
use crate::run::Run;

/// A value that a journal can hold.
pub trait JournalValue:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> JournalValue for T {}

pub trait Loop: Copy + Debug + PartialEq + Send + Sync + 'static {
    const KIND: LoopKind;

    /// What the loop is asked to do: its part of a plan.
    type Task: JournalValue;
    /// What it can ask for: plain data, so that a step is its own key.
    type Step: JournalValue + Eq + Hash;
    /// What a step is answered with.
    type Answer: JournalValue;
    type Decision: JournalValue;
    /// Where it stands: the fold of its decisions.
    type Course: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What separates a new chance for a failed step from its last one.
    type Stage: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// A step made ready to be carried out.
    type Request: Request;

    fn begin(plan: &Plan<Self>, at: Timestamp) -> Self::Course;

    /// Brings the loop's own state up to a change of the run.
    fn fold(run: &mut Run<Self>, change: &Change<'_, Self>, at: Timestamp);

    /// An answer as it is kept in memory.
    fn lean(_course: &Self::Course, answer: Self::Answer) -> Self::Answer {
        answer
    }

    fn next(run: &Run<Self>) -> Next<'_, Self>;

    /// The stored trees that an answer names: without them it is none.
    fn trees(answer: &Self::Answer) -> Vec<TreeId>;

    /// The stored trees that a run names besides those of its answers.
    fn kept(run: &Run<Self>) -> Vec<TreeId>;

    /// The role that answers a step, if an agent does.
    fn role(step: &Self::Step) -> Option<Role>;

    fn round(run: &Run<Self>) -> u32;

    fn stage(run: &Run<Self>) -> Self::Stage;

    /// How often a step may be tried in one stage.
    fn tries(run: &Run<Self>) -> u32;

    /// The money that a run may spend, which an agent can be told too.
    fn usd(plan: &Plan<Self>) -> Option<f64>;

    /// Makes a step ready if it is a call; the engine does any other step itself.
    fn request(run: &Run<Self>, step: &Self::Step) -> Option<Self::Request>;

    /// An upper bound of what a run will ask of agents, for those who want to know before they begin.
    fn most_calls(plan: &Plan<Self>) -> MostCalls;
}

/// What has just become of a run; what all loops share is folded already.
#[derive(Debug)]
pub enum Change<'a, L: Loop> {
    Decided(&'a L::Decision),
    /// A step was answered, or has failed.
    Ended(&'a L::Step),
    /// Work goes on after a pause or a wait.
    Resumed,
    /// The agent of this role has changed: nothing that was measured before may be compared with what is measured after.
    Recast(Role),
}

/// What a loop wants next.
#[expect(missing_debug_implementations, reason = "a lazy iterator shows nothing")]
pub enum Next<'a, L: Loop> {
    /// Record this decision, and ask again.
    Decide(L::Decision),
    /// Take these steps, in this order, as many at a time as there is room for. Those under way may be among them.
    Do(Box<dyn Iterator<Item = L::Step> + 'a>),
    End,
}

/// Calls by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostCalls {
    pub executor: u64,
    pub evaluator: u64,
    pub improver: u64,
}

impl LoopKind {
    pub const ALL: [Self; 2] = [Self::Tune, Self::Reflex];

    pub fn word(self) -> &'static str {
        match self {
            Self::Tune => "tune",
            Self::Reflex => "reflex",
        }
    }
}
