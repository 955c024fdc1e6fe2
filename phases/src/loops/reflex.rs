//! The reflex loop, after aif-loop: one text for a task, planned, written, judged by rules and revised, at two levels.
//!
//! ```text
//! propose rules -> agree to criteria and limits
//! plan -> produce | prepare -> evaluate -> critique -> refine -> next iteration: evaluate -> ...
//!           side by side          |                     worse than the best? back to it: plan -> produce -> ...
//!                                 +-> A is passed: prepare B -> evaluate the same artifact -> ...
//! ```
//!
//! Planning starts only after somebody has agreed to the criteria. Every version is judged before the next one is
//! written. The checks of the rules are prepared once for each level and frozen: machine checks run first, then the
//! judge decides what they leave open. The score is computed, and the best version is kept.

pub mod answers;
mod briefs;
pub mod checks;
pub mod criteria;
mod decision;
pub mod forms;
mod machine;
pub mod original;
pub mod projection;
mod request;
pub mod sections;
mod state;
mod step;
mod task;
pub mod verdict;
mod view;

use crate::base::id::TreeId;
use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::loops::shared::request::{self as shared, Brief};
use crate::loops::shared::step::Shared;
use crate::loops::{Loop, MostCalls, Offer};
use crate::runs::plan::{self, LoopKind};
use crate::runs::{event, run};
use crate::suites::checks::CheckResult;

pub use briefs::ReflexBrief;
pub use checks::PAGE;
pub use decision::{Decision, Phase, Reason, Status, Stop};
pub use request::Answers;
pub use state::{Clock, Done as WasDone, Judged, Line, Note, State};
pub use step::{Answer, Artifact, Step};
pub use task::{Bounds, Confirmed, Rules, Setup, Task, Terms};
pub use view::{ArtifactStatus, Ended, shown_commands};

/// The marker type of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflex {}

pub type Plan = plan::Plan<Reflex>;
pub type Run = run::Run<Reflex>;
pub type Record = event::Record<Reflex>;
pub type Event = event::Event<Reflex>;
pub type Done = event::Done<Reflex>;
pub type FailedCall = run::FailedCall<Reflex>;
pub type Outcome = event::Outcome<Answer>;
pub type AgentRequest = shared::AgentRequest<Reflex>;
pub type Next<'a> = super::Next<'a, Reflex>;

impl Reflex {
    // All agents only read, and answer in words. A new writer is judged like the old one.
    pub const ROLES: &'static [RoleSpec] = &[
        RoleSpec::new(Role::EXECUTOR, Rights::Read, false),
        RoleSpec::new(Role::EVALUATOR, Rights::Read, true),
        RoleSpec::new(Role::IMPROVER, Rights::Read, false),
    ];
}

impl Vocabulary for Reflex {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    fn role(step: &Step) -> Option<Role> {
        match step {
            Step::Plan { .. } | Step::Produce { .. } => Some(Role::EXECUTOR),
            Step::Propose | Step::Prepare { .. } | Step::Judge { .. } => Some(Role::EVALUATOR),
            Step::Critique { .. } | Step::Refine { .. } => Some(Role::IMPROVER),
            Step::Agree | Step::Allow { .. } | Step::Match { .. } | Step::Check { .. } => None,
        }
    }
}

impl Loop for Reflex {
    const KIND: LoopKind = LoopKind::Reflex;
    const OFFERS: &'static [Offer] = &[Offer::RUN, Offer::SKIP];

    type Brief = ReflexBrief;

    const CODE: &'static [u8] = b"answer";

    fn next(run: &Run) -> Next<'_> {
        machine::next(run)
    }

    /// Returns the decision that ends a stopped run. A stop is final, as in the original.
    fn on_stop(run: &Run, reason: Option<&str>) -> Option<Decision> {
        machine::stop(run, reason)
    }

    fn brief(brief: &ReflexBrief) -> &dyn Brief<Self> {
        brief.kind.brief()
    }

    fn request(run: &Run, step: &Step) -> Option<AgentRequest> {
        AgentRequest::of(run, step)
    }

    fn shared(_: &Run, step: &Step) -> Option<Shared> {
        matches!(step, Step::Agree | Step::Allow { .. }).then_some(Shared::Ask)
    }

    fn is_yes(answer: &Answer) -> bool {
        *answer == Answer::Allowed(true)
    }

    fn checked(_: &Step, result: CheckResult) -> Option<Answer> {
        Some(Answer::Checked(vec![result]))
    }

    fn fits(step: &Step, answer: &Answer) -> bool {
        matches!(
            (step, answer),
            (Step::Propose, Answer::Proposed(_))
                | (Step::Plan { .. }, Answer::Planned(_))
                | (Step::Produce { .. } | Step::Refine { .. }, Answer::Written(_))
                | (Step::Prepare { .. }, Answer::Prepared(_))
                | (Step::Check { .. }, Answer::Checked(_))
                | (Step::Judge { .. }, Answer::Judged(_))
                | (Step::Critique { .. }, Answer::Criticised(_))
        )
    }

    fn trees(answer: &Answer) -> Vec<TreeId> {
        match answer {
            Answer::Written(artifact) => vec![artifact.tree],
            Answer::Proposed(_)
            | Answer::Agreed(_)
            | Answer::Planned(_)
            | Answer::Prepared(_)
            | Answer::Allowed(_)
            | Answer::Checked(_)
            | Answer::Judged(_)
            | Answer::Criticised(_) => Vec::new(),
        }
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        run.plan.task.context.into_iter().collect()
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        machine::most_calls(plan)
    }
}
