//! The plan/execute/evaluate/evolve loop, after gestalt's: a specification becomes a change of a project, judged
//! criterion by criterion.
//!
//! ```text
//! split -> classify -> divide -> group -> the plan
//! layer: work side by side -> merge -> build, test -> (take back, work again) -> the next layer
//! lint, build, test -> checks, judge -> done? commit
//!                           red:     fix (A)           else a person is asked
//!                           short:   amend (B), or with another point of view (C)
//! ```
//!
//! A task works on a copy, and is merged in three ways: no line of another task is lost. Every number is computed from
//! verdicts with evidence in the tree, and from exit codes.

mod advice;
mod amend;
pub mod amendment;
mod batch;
mod briefs;
pub mod course;
pub mod decision;
mod ending;
mod evaluate;
pub mod evaluation;
pub mod evidence;
mod machine;
pub mod measuring;
mod moving;
mod next;
pub mod oracle;
pub mod plan;
mod planning;
mod proposing;
pub mod receipt;
mod request;
pub mod spec;
mod stages;
mod state;
pub mod step;
pub mod task;
mod verifying;
pub mod view;
pub mod weakened;

use jiff::Timestamp;

use crate::base::id::TreeId;
use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::loops::shared::request::{self as shared, Brief};
use crate::loops::shared::step::{Handover, Shared};
use crate::loops::{Loop, MostCalls, Offer};
use crate::runs::event;
use crate::runs::plan::{LoopKind, Plan as RunPlan};
use crate::runs::run::{self, Change, Fold};

pub use advice::{Advice, Opinion};
pub use briefs::{
    AdviceBrief, AmendBrief, Call, DivideBrief, DriftBrief, Edit, Edits, File, JudgeBrief, OracleBrief,
    ProbeBrief, RawInterface, RawJudgement, RawOracle, RawVerdict, SpoilBrief, WorkBrief,
};
pub use decision::{Decision, End, Ending};
pub use proposing::EVIDENCE;
pub use stages::{Counted, Gate};
pub use state::{Begun, State};
pub use step::{Answer, Choice, Question, Step};
pub use task::{MergedWork, Task};
pub use view::Ended;

/// The folder of the workspace with the project's files.
pub const PROJECT: &str = "project";

/// The marker type of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evolve {}

pub type Plan = RunPlan<Evolve>;
pub type Run = run::Run<Evolve>;
pub type Event = event::Event<Evolve>;
pub type AgentRequest = shared::AgentRequest<Evolve>;
pub type Next<'a> = super::Next<'a, Evolve>;

impl Evolve {
    pub const ROLES: &'static [RoleSpec] = &[
        RoleSpec::new(Role::EXECUTOR, Rights::Build, false),
        RoleSpec::new(Role::EVALUATOR, Rights::Read, true),
        RoleSpec::like(Role::EVALUATOR, Role::EXPERT, Rights::Read, false),
        RoleSpec::like(Role::EXECUTOR, Role::CONTROL, Rights::Build, false),
    ];

    /// Returns the roles of a run: with experts, with an executor that does everything alone. Without a shell, executors only
    /// edit.
    pub fn roles_of(is_advised: bool, has_control: bool, has_shell: bool) -> Vec<RoleSpec> {
        let is_wanted = |spec: &&RoleSpec| match &spec.role {
            role if *role == Role::EXPERT => is_advised,
            role if *role == Role::CONTROL => has_control,
            _ => true,
        };
        let rights = |spec: &RoleSpec| match spec.rights {
            Rights::Build if !has_shell => Rights::Edit,
            rights => rights,
        };
        let roles = Self::ROLES.iter().filter(is_wanted);
        roles.map(|spec| RoleSpec { rights: rights(spec), ..spec.clone() }).collect()
    }
}

impl Vocabulary for Evolve {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    fn role(step: &Step) -> Option<Role> {
        match step {
            Step::Work { .. } => Some(Role::EXECUTOR),
            Step::Control => Some(Role::CONTROL),
            Step::Advise { .. } => Some(Role::EXPERT),
            Step::Split
            | Step::Classify
            | Step::Interface
            | Step::Oracle { .. }
            | Step::Spoil { .. }
            | Step::Divide { .. }
            | Step::Replan { .. }
            | Step::Group
            | Step::Match
            | Step::Agree { .. }
            | Step::Drift { .. }
            | Step::Judge { .. }
            | Step::Amend { .. } => Some(Role::EVALUATOR),
            Step::SetUp { .. }
            | Step::Look { .. }
            | Step::Run { .. }
            | Step::Merge { .. }
            | Step::Allow
            | Step::Probe { .. }
            | Step::Settle { .. }
            | Step::File { .. }
            | Step::Audit { .. }
            | Step::Transplant { .. }
            | Step::Follow { .. }
            | Step::Ask { .. }
            | Step::Promote { .. }
            | Step::Commit { .. } => None,
        }
    }
}

impl Fold for Evolve {
    type State = State;
    type Stage = ();

    fn roles(plan: &Plan) -> Vec<RoleSpec> {
        let task = &plan.task;
        if task.verify.is_some() {
            return Vec::new();
        }
        Self::roles_of(task.is_advised(), task.has_control, task.has_shell)
    }

    fn begin(plan: &Plan, _: Timestamp) -> State {
        state::begin(plan)
    }

    fn closes(decision: &Decision) -> bool {
        matches!(decision, Decision::Close)
    }

    fn fold(run: &mut Run, change: &Change<'_, Self>, at: Timestamp) {
        state::fold(run, change, at);
    }

    fn round(run: &Run) -> u32 {
        u32::try_from(run.state.rounds.len() + 1).unwrap_or(u32::MAX)
    }

    fn stage(_: &Run) {}

    fn tries(run: &Run) -> u32 {
        run.plan.task.retries + 1
    }
}

impl Loop for Evolve {
    const KIND: LoopKind = LoopKind::Evolve;
    const OFFERS: &'static [Offer] = &[
        Offer::RUN,
        Offer::SKIP,
        Offer::new("approve", "change the criteria, or hand over a result that touches tests"),
        Offer::new("refuse", "keep the criteria, or keep the result in the run's folder"),
        Offer::new("guide", "continue with guidance for the agents").detailed("TEXT"),
        Offer::new("accept", "take the best result as it is"),
        Offer::new("end", "end the run with the best result so far"),
        Offer::new("leave", "leave the criterion unmet and disputed"),
        Offer::new("holds", "the criterion is met, whatever its oracle says"),
        Offer::new("fails", "the oracle is right: the criterion is not met"),
    ];
    const DETAILS: Option<&'static str> = Some("guidance for the agents");

    type Brief = Call;

    const CODE: &'static [u8] = b"evolve";

    fn next(run: &Run) -> Next<'_> {
        machine::next(run)
    }

    fn ended_by(run: &Run, answer: &str) -> Option<Decision> {
        let is_open = run.state.end.is_none() && !run.state.is_ended_by_caller;
        (answer == "end" && is_open).then_some(Decision::Answered { choice: Choice::End })
    }

    fn brief(brief: &Call) -> &dyn Brief<Self> {
        brief
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
        matches!(answer, Answer::Allowed(true) | Answer::Chosen(Choice::Approve) | Answer::Filed(_))
    }

    fn tail(run: &Run) -> Vec<Step> {
        ending::tail(run)
    }

    fn fits(step: &Step, answer: &Answer) -> bool {
        matches!(
            (step, answer),
            (Step::Split, Answer::Split(_))
                | (Step::Classify, Answer::Classified(_))
                | (Step::Interface, Answer::Interface(_))
                | (Step::Oracle { .. }, Answer::Proposed(_))
                | (Step::Spoil { .. }, Answer::Spoiled(_))
                | (Step::Probe { .. }, Answer::Probed(_))
                | (Step::Divide { .. } | Step::Replan { .. }, Answer::Divided(_))
                | (Step::Group, Answer::Grouped(_))
                | (Step::Match, Answer::Matched(_))
                | (Step::Advise { .. }, Answer::Advised(_))
                | (Step::Agree { .. }, Answer::Agreed(_))
                | (Step::Work { .. } | Step::Control, Answer::Worked { .. })
                | (Step::Drift { .. }, Answer::Drifted(_))
                | (Step::Judge { .. }, Answer::Judged(_))
                | (Step::Amend { .. }, Answer::Amended(_))
                | (Step::SetUp { .. } | Step::Run { .. }, Answer::Ran(_))
        )
    }

    fn trees(answer: &Answer) -> Vec<TreeId> {
        answer.trees()
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        let (task, state) = (&run.plan.task, &run.state);
        let bases = std::iter::once(&state.base).chain(&state.found);
        let of_bases = bases.flat_map(|base| [Some(base.tree), base.committed]).flatten();
        let built_on = task.built_on.iter().map(|work| work.after);
        let verified = task.verify.iter().flat_map(|verify| verify.trees());
        let trees = [task.start].into_iter().chain(task.committed).chain(task.brought).chain(verified);
        trees.chain(of_bases).chain(built_on).collect()
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        view::most_calls(plan)
    }

    fn extensions(run: &Run) -> usize {
        run.state.guidance.len()
    }

    fn expected_calls(plan: &Plan) -> Option<super::Expected> {
        let likely = view::likely_calls(plan);
        Some(super::Expected { most: Self::most_calls(plan), likely })
    }
}
