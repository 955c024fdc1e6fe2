//! The reflex loop, after aif-loop: one text for a task, planned, written, judged by rules and mended, at two levels.
//!
//! ```text
//! plan -> produce | prepare -> evaluate -> critique -> refine -> next iteration: evaluate -> ...
//!           side by side          |                     worse than the best? back to it: plan -> produce -> ...
//!                                 +-> A is passed: prepare B -> evaluate the same artifact -> ...
//! ```
//!
//! Whatever was written is judged before anything rewrites it. How a rule is told is prepared once a level, and frozen:
//! machine checks first, then the judge for what they leave open. The score is computed, the best is kept.

pub mod answers;
pub mod checks;
mod course;
pub mod criteria;
mod decision;
pub mod forms;
mod machine;
mod order;
pub mod original;
pub mod projection;
pub mod prompts;
pub mod reply;
pub mod sections;
mod step;
mod task;
pub mod verdict;
mod view;

use jiff::Timestamp;

use crate::event::{self, Failure};
use crate::id::TreeId;
use crate::loops::{Loop, MostCalls};
use crate::plan::{self, LoopKind};
use crate::role::Role;
use crate::run;

pub use course::{Clock, Course, Done as WasDone, Judged, Line, Note};
pub use decision::{Decision, Phase, Reason, Status, Stop};
pub use order::{Answers, Order};
pub use step::{Artifact, Outcome, PAGE, Step};
pub use task::{Bounds, Commands, Confirmed, Rules, RunThem, Task};
pub use view::{Ended, Standing, told_commands};

/// The loop, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflex {}

pub type Plan = plan::Plan<Reflex>;
pub type Run = run::Run<Reflex>;
pub type Record = event::Record<Reflex>;
pub type Event = event::Event<Reflex>;
pub type Done = event::Done<Reflex>;
pub type Mishap = run::Mishap<Reflex>;
pub type Next<'a> = super::Next<'a, Reflex>;

impl Loop for Reflex {
    const KIND: LoopKind = LoopKind::Reflex;

    type Task = Task;
    type Step = Step;
    type Outcome = Outcome;
    type Decision = Decision;
    type Course = Course;
    /// A phase.
    type Stage = u32;
    type Order = Order;

    fn begin(_: &Plan, at: Timestamp) -> Course {
        Course::begin(at)
    }

    fn decided(run: &mut Run, decision: &Decision, at: Timestamp) {
        course::decided(run, decision, at);
    }

    fn answered(run: &mut Run, step: &Step) {
        course::answered(run, step);
    }

    fn taken_up(course: &mut Course, at: Timestamp) {
        course.begin_again(at);
    }

    /// Who writes is judged like anybody else; who judges is another measure.
    fn recast(run: &mut Run, role: Role) {
        run.course.era += u32::from(role == Role::Evaluator);
    }

    fn next(run: &Run) -> Next<'_> {
        machine::next(run)
    }

    fn failure(outcome: &Outcome) -> Option<&Failure> {
        outcome.failure()
    }

    fn trees(outcome: &Outcome) -> Vec<TreeId> {
        match outcome {
            Outcome::Written(artifact) => vec![artifact.tree],
            Outcome::Planned(_)
            | Outcome::Prepared(_)
            | Outcome::Allowed(_)
            | Outcome::Told(_)
            | Outcome::Judged(_)
            | Outcome::Criticised(_)
            | Outcome::Failed(_) => Vec::new(),
        }
    }

    fn kept(run: &Run) -> Vec<TreeId> {
        run.plan.task.context.into_iter().collect()
    }

    fn role(step: &Step) -> Option<Role> {
        match step {
            Step::Plan { .. } | Step::Produce { .. } => Some(Role::Executor),
            Step::Prepare { .. } | Step::Judge { .. } => Some(Role::Evaluator),
            Step::Critique { .. } | Step::Refine { .. } => Some(Role::Improver),
            Step::Allow { .. } | Step::Match { .. } | Step::Check { .. } => None,
        }
    }

    fn round(run: &Run) -> u32 {
        run.course.iteration
    }

    fn stage(run: &Run) -> u32 {
        run.course.stage()
    }

    fn tries(run: &Run) -> u32 {
        run.plan.task.rules.retries + 1
    }

    fn usd(plan: &Plan) -> Option<f64> {
        plan.task.rules.usd
    }

    fn order(run: &Run, step: &Step) -> Option<Order> {
        Order::of(run, step)
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        machine::most_calls(plan)
    }
}
