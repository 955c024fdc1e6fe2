//! The loops: pure state machines over a run.
//!
//! A loop is an uninhabited marker type with three traits, each built on the one before: `Vocabulary` names what the
//! loop writes into its journal, `Fold` computes its state from the records, `Loop` decides what comes next. The
//! journal and the engine are written once, for all loops.

pub mod evolve;
pub mod expert;
pub mod gan;
pub mod gauge;
pub mod reflex;
pub mod review;
pub mod shared;
pub mod tune;
pub mod vacuous;

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::id::TreeId;
use crate::base::role::{ByRole, RoleSpec};
use crate::loops::shared::request::{AgentRequest, Brief};
use crate::loops::shared::step::{Handover, Shared};
use crate::runs::plan::{LoopKind, Plan};
use crate::runs::run::{Fold, Run};
use crate::suites::checks::CheckResult;

/// The state machine of a loop: it decides what comes next and prepares the steps.
pub trait Loop: Fold {
    const KIND: LoopKind;
    /// The answers that its questions to a person offer.
    const OFFERS: &'static [Offer] = &[];
    /// What the details of its answers are, if any has details.
    const DETAILS: Option<&'static str> = None;

    /// The data of a call that only the run knows.
    type Brief: Clone + Debug + Serialize + DeserializeOwned + Send + 'static;

    /// The purpose of the code of an answer, a part of the code.
    const CODE: &'static [u8];

    fn next(run: &Run<Self>) -> Next<'_, Self>;

    /// Returns the next decision of a run that a person stops; none if it has ended or if a stop only pauses it.
    fn on_stop(_: &Run<Self>, _reason: Option<&str>) -> Option<Self::Decision> {
        None
    }

    /// Returns the decision with which a person ends a run by this answer while it asks nothing.
    fn ended_by(_: &Run<Self>, _answer: &str) -> Option<Self::Decision> {
        None
    }

    /// Returns the decision with which a run that has ended goes on, if its plan allows that.
    fn reopening(_: &Run<Self>) -> Option<Self::Decision> {
        None
    }

    /// Returns the question of a call.
    fn brief(brief: &Self::Brief) -> &dyn Brief<Self>;

    /// Prepares a step if it is a call. The engine carries out any other step itself.
    fn request(run: &Run<Self>, step: &Self::Step) -> Option<AgentRequest<Self>>;

    /// Returns how the engine carries out a step that loops share; none for calls and for steps of the loop alone.
    fn shared(run: &Run<Self>, step: &Self::Step) -> Option<Shared>;

    /// Returns the answer to a step that promoted or proposed the result; none in a loop without such steps.
    fn of_handover(_: Handover) -> Option<Self::Answer> {
        None
    }

    /// Whether a person has agreed: to run commands, or to hand over the result.
    fn is_yes(answer: &Self::Answer) -> bool;

    /// Returns the steps that follow the end of a run: a question if a person has to agree, then the one that promotes or
    /// proposes the result.
    fn tail(_: &Run<Self>) -> Vec<Self::Step> {
        Vec::new()
    }

    /// Returns the answer to a step whose command decides a check; none for other steps.
    fn checked(_step: &Self::Step, _result: CheckResult) -> Option<Self::Answer> {
        None
    }

    /// Returns whether an answer is of the kind that the call of this step gives. A worker may reply with any kind.
    fn fits(step: &Self::Step, answer: &Self::Answer) -> bool;

    /// Returns the stored trees that an answer names. Without them the answer does not count.
    fn trees(answer: &Self::Answer) -> Vec<TreeId>;

    /// Returns the stored trees that a run names besides those of its answers.
    fn run_trees(run: &Run<Self>) -> Vec<TreeId>;

    /// Returns an upper bound of the calls of a run, shown before it begins: its default limit.
    fn most_calls(plan: &Plan<Self>) -> MostCalls;

    /// Returns how often the run went on after what it had planned. Each time adds at most as much again.
    fn extensions(_: &Run<Self>) -> usize {
        0
    }

    /// Returns the calls of a run in which none fails, if it is known how such runs usually go.
    fn expected_calls(_: &Plan<Self>) -> Option<Expected> {
        None
    }

    /// Returns the roles whose agents a run may call. No other agents have to be on this machine.
    fn callable(plan: &Plan<Self>) -> Vec<RoleSpec> {
        Self::roles(plan)
    }
}

/// An answer that questions of a loop offer to a person.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    pub name: &'static str,
    pub about: &'static str,
    /// Used instead of `about` where the question is not known.
    pub help: Option<&'static str>,
    /// What a person has to add, such as `FILE`.
    pub detail: Option<&'static str>,
}

impl Offer {
    pub const RUN: Self = Self::new("run", "run the commands");
    pub const SKIP: Self = Self::new("skip", "let the judge decide instead");

    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, help: None, detail: None }
    }

    #[must_use]
    pub const fn detailed(self, detail: &'static str) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

/// Evaluates an expression with the loop of this kind: `with_loop!(kind, L => L::KIND)`.
#[macro_export]
macro_rules! with_loop {
    ([$kind:expr, $L:ident => $what:expr] $($loop:ident in $module:ident,)*) => {
        match $kind {
            $($crate::runs::plan::LoopKind::$loop => {
                type $L = $crate::loops::$module::$loop;
                $what
            })*
        }
    };
    ($kind:expr, $L:ident => $what:expr) => {
        $crate::all_loops!(with_loop $kind, $L => $what)
    };
}

/// The next action of a loop.
#[expect(missing_debug_implementations, reason = "a lazy iterator shows nothing")]
pub enum Next<'a, L: Loop> {
    /// Record this decision, and ask again.
    Decide(L::Decision),
    /// Carry out these steps in this order, as many at a time as there are free slots. They may include running steps.
    Do(Box<dyn Iterator<Item = L::Step> + 'a>),
    End,
}

impl<L: Loop> Next<'_, L> {
    fn one(step: L::Step) -> Self {
        Self::Do(Box::new(std::iter::once(step)))
    }
}

/// Calls by role.
pub type MostCalls = ByRole<u64>;

/// The calls of a run: the maximum, and the usual number for runs like it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub most: MostCalls,
    pub likely: MostCalls,
}
