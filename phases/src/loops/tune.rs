//! The tune loop, after skill-iter-tune: measure, keep or drop, improve, measure again; at the end compare, and ship.
//!
//! ```text
//! open round -> measure -> scored -> keep | drop -> stop? -> focus (chain) -> improve -> draft -> open round ...
//! stop -> the best against the start, on fresh trials -> ship -> ask? -> promote -> close
//! ```
//!
//! Round 1 measures the untouched target. The search is loose: a draft is based on the newest valid candidate, and is
//! dropped only when it falls far below the best. The end is strict: `aims::compare`. A run that compares two versions
//! consists of this end alone.

pub mod aims;
pub mod anchor;
mod calls;
pub mod compare;
mod decision;
pub mod evidence;
mod known;
mod machine;
mod request;
pub mod results;
pub mod search;
mod state;
mod step;
mod task;
pub mod trial;
mod view;

use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::runs::{event, plan, run};

pub use crate::base::delivery::Uses;
pub use compare::basis::Basis;
pub use decision::{Answer, Decision, Ending, Measured, Pair, Shipment, UnpairedSamples, Verdict, Why};
pub use request::{AgentRequest, INPUT, SKILL, TuneBrief, WORKSPACE};
pub use results::fail_on::FailReason;
pub use state::{Edit, FailedEdit, Round, RoundResult, State};
pub use step::{Asked, Choice, Hold, Improver, Kept, Seat, Step, Trial};
pub use task::{Aim, Apply, FailOn, LeftOut, Regraded, Rules, Search, Sides, StoredTest, Suite, Task};
pub use view::Dropped;

/// The tune loop, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tune {}

pub type Plan = plan::Plan<Tune>;
pub type Run = run::Run<Tune>;
pub type Record = event::Record<Tune>;
pub type Event = event::Event<Tune>;
pub type Done = event::Done<Tune>;
pub type FailedCall = run::FailedCall<Tune>;
pub type Next<'a> = super::Next<'a, Tune>;
pub type Outcome = event::Outcome<Answer>;
pub type StepState<'a> = run::StepState<'a, Answer>;

impl Tune {
    pub const ROLES: &'static [RoleSpec] = &[
        RoleSpec::new(Role::EXECUTOR, Rights::Work, true),
        RoleSpec::new(Role::EVALUATOR, Rights::Read, true),
        RoleSpec::new(Role::IMPROVER, Rights::Edit, false),
        RoleSpec::optional(Role::IMPROVER, Role::SECOND_IMPROVER, Rights::Edit, false),
        RoleSpec::optional(Role::EVALUATOR, Role::SECOND_EVALUATOR, Rights::Read, true),
        RoleSpec::optional(Role::EVALUATOR, Role::THIRD_EVALUATOR, Rights::Read, true),
    ];
}

impl Vocabulary for Tune {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    fn role(step: &Step) -> Option<Role> {
        step.role()
    }
}
