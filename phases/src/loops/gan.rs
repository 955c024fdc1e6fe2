//! The builder/evaluator loop, after moai's: the builder builds what a brief asks for against a contract that both
//! sides have agreed on, and a new evaluator judges it each round.
//!
//! ```text
//! draft -> propose -> rule -> ... -> the contract, frozen
//! build -> inspect | look -> judge -> passed?  promote | commit
//!            side by side              else    the next sprint, from the best, or a question to a person
//! ```
//!
//! Machines check first, and a judge is asked only about what they leave open. Every number is computed from verdicts
//! on the criteria of the contract. An artifact that has not passed is not handed over unless a person accepts it.

pub mod answers;
mod briefs;
pub mod contract;
pub mod course;
mod decision;
pub mod evaluation;
pub mod inspect;
mod judgement;
mod machine;
pub mod negotiation;
pub mod original;
pub mod profile;
pub mod projection;
mod proposing;
mod request;
pub mod rules;
mod state;
mod step;
mod task;
pub mod test_scenario;
mod view;

#[cfg(test)]
mod tests;

use crate::base::id::TreeId;
use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::loops::shared::request as shared;
use crate::loops::shared::step::{Handover, Shared};
use crate::loops::{Loop, MostCalls, Offer};
use crate::runs::plan::{self, LoopKind};
use crate::runs::{event, run};
use crate::suites::checks::CheckResult;

pub use briefs::GanBrief;
pub use decision::{Decision, End};
pub use state::{Sprint, State};
pub use step::{Answer, Reading, Step};
pub use task::{Apply, ArtifactDir, Brief, Browser, Level, Task};
pub use view::{Ended, HigherScore, Uncounted};

/// The workspace folders of the artifact, of the files given with the brief, and of the browser's screenshots.
pub const ARTIFACT: &str = "artifact";
pub const GIVEN: &str = "given";
pub const SCREENS: &str = "screens";
/// The folder in which the browser finds the artifact.
pub const SITE: &str = "site";

/// The marker type of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gan {}

pub type Plan = plan::Plan<Gan>;
pub type Run = run::Run<Gan>;
pub type Event = event::Event<Gan>;
pub type Record = event::Record<Gan>;
pub type Done = event::Done<Gan>;
pub type AgentRequest = shared::AgentRequest<Gan>;
pub type Next<'a> = super::Next<'a, Gan>;

impl Gan {
    pub const ROLES: &'static [RoleSpec] = &[
        RoleSpec::like(Role::EXECUTOR, Role::BUILDER, Rights::Edit, false),
        RoleSpec::new(Role::EVALUATOR, Rights::Read, true),
    ];
}

impl Vocabulary for Gan {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    fn role(step: &Step) -> Option<Role> {
        match step {
            Step::Propose { .. } | Step::Build { .. } => Some(Role::BUILDER),
            Step::Draft | Step::Rule { .. } | Step::Judge { .. } => Some(Role::EVALUATOR),
            Step::Inspect { .. }
            | Step::Browse { .. }
            | Step::Allow
            | Step::Try { .. }
            | Step::Ask { .. }
            | Step::Promote { .. }
            | Step::Commit { .. } => None,
        }
    }
}

impl Loop for Gan {
    const KIND: LoopKind = LoopKind::Gan;
    const OFFERS: &'static [Offer] = &[
        Offer::RUN,
        Offer::SKIP,
        Offer::new("refocus", "continue with another dimension first").detailed("DIMENSION"),
        Offer::new("amend", "change the contract and judge again").detailed("FILE"),
        Offer::new("guide", "continue with guidance for the builder").detailed("TEXT"),
        Offer::new("force", "treat the result as passed"),
        Offer::new("accept", "accept the result as it is"),
        Offer {
            help: Some("end the run and keep the best round in the run's folder"),
            ..Offer::new("end", "keep the best round in the run's folder")
        },
        Offer::new("abort", "end the run without a result"),
    ];
    const DETAILS: Option<&'static str> =
        Some("details of the answer: a dimension, guidance, or a JSON file of changes");

    type Brief = GanBrief;

    const CODE: &'static [u8] = b"answer";

    fn next(run: &Run) -> Next<'_> {
        machine::next(run)
    }

    fn brief(brief: &GanBrief) -> &dyn shared::Brief<Self> {
        brief.0.brief()
    }

    fn request(run: &Run, step: &Step) -> Option<AgentRequest> {
        AgentRequest::of(run, step)
    }

    fn shared(run: &Run, step: &Step) -> Option<Shared> {
        proposing::shared(run, step)
    }

    fn of_handover(handover: Handover) -> Option<Answer> {
        Some(match handover {
            Handover::Promoted => Answer::Promoted,
            Handover::Conflict { found } => Answer::Conflict { found },
            Handover::Proposed(proposal) => Answer::Committed(proposal),
            Handover::NotProposed { why } => Answer::NotCommitted { why },
        })
    }

    fn is_yes(answer: &Answer) -> bool {
        *answer == Answer::Allowed(true)
    }

    fn tail(run: &Run) -> Vec<Step> {
        machine::tail(run)
    }

    fn checked(step: &Step, result: CheckResult) -> Option<Answer> {
        let Step::Try { scenario, .. } = step else { return None };
        Some(judgement::of_command(scenario, &result))
    }

    fn fits(step: &Step, answer: &Answer) -> bool {
        matches!(
            (step, answer),
            (Step::Draft, Answer::Drafted(_))
                | (Step::Propose { .. }, Answer::Proposed(_))
                | (Step::Rule { .. }, Answer::Ruled(_))
                | (Step::Build { .. }, Answer::Built { .. })
                | (Step::Browse { .. } | Step::Try { .. }, Answer::Inspected { .. })
                | (Step::Judge { .. }, Answer::Judged(_))
        )
    }

    fn trees(answer: &Answer) -> Vec<TreeId> {
        answer.trees()
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        std::iter::once(run.plan.task.start).chain(run.plan.task.materials).collect()
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        machine::most_calls(plan)
    }

    fn extensions(run: &Run) -> usize {
        run.state.course.extensions()
    }
}
