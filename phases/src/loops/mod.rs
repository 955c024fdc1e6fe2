//! The loops: pure state machines over a run.
//!
//! A loop is an uninhabited marker type, and three traits say what it is, each on top of the last: `Vocabulary` names what
//! it writes into its journal, `Fold` how its state follows from the records, `Loop` what it wants next. The journal and
//! the engine are written once, for any of them.

pub mod gan;
pub mod reflex;
pub mod tune;

use crate::id::TreeId;
use crate::order::Request;
use crate::plan::{LoopKind, Plan};
use crate::role::{ByRole, RoleSpec};
use crate::run::{Fold, Run};

/// The machine: what comes next, and how a step is made ready.
pub trait Loop: Fold {
    const KIND: LoopKind;

    /// A step made ready to be carried out.
    type Request: Request;

    fn next(run: &Run<Self>) -> Next<'_, Self>;

    /// The next decision of a run that a person stops; none once it has ended, or where a stop only pauses a run.
    fn on_stop(_: &Run<Self>, _reason: Option<&str>) -> Option<Self::Decision> {
        None
    }

    /// Makes a step ready if it is a call. The engine carries out any other step itself.
    fn request(run: &Run<Self>, step: &Self::Step) -> Option<Self::Request>;

    /// The stored trees that an answer names. Without them the answer does not count.
    fn trees(answer: &Self::Answer) -> Vec<TreeId>;

    /// The stored trees that a run names besides those of its answers.
    fn run_trees(run: &Run<Self>) -> Vec<TreeId>;

    /// An upper bound of the calls of a run, shown before it begins: its default ceiling.
    fn most_calls(plan: &Plan<Self>) -> MostCalls;

    /// How often a person has asked for more than the plan: each time for as much again at most.
    fn extensions(_: &Run<Self>) -> usize {
        0
    }

    /// The calls of a run in which none fails, where it is known how such runs usually go.
    fn expected_calls(_: &Plan<Self>) -> Option<Expected> {
        None
    }

    /// The roles whose agents a run may call: no other has to be on this machine.
    fn callable(_: &Plan<Self>) -> Vec<&'static RoleSpec> {
        Self::ROLES.iter().collect()
    }
}

/// What a loop wants next.
#[expect(missing_debug_implementations, reason = "a lazy iterator shows nothing")]
pub enum Next<'a, L: Loop> {
    /// Record this decision, and ask again.
    Decide(L::Decision),
    /// Carry out these steps in this order, as many at a time as there are free slots. Steps under way may be among them.
    Do(Box<dyn Iterator<Item = L::Step> + 'a>),
    End,
}

/// Calls by role.
pub type MostCalls = ByRole<u64>;

/// The calls of a run: at most, and as runs like it usually go.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub most: MostCalls,
    pub likely: MostCalls,
}
