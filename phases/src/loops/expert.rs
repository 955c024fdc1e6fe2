//! The expert loop: one question to an agent that plays an expert, and its answer.
//!
//! ```text
//! (inquire -> reply ->) ask -> close
//! ```
//!
//! The agent reads a copy of the project and writes nothing. Its answer is the expert's own text: no schema, no score. A
//! run that drafts an expert or a specification is the same; its answer must be readable as a file. Before a
//! specification it may ask a person.

mod draft;
mod inquiry;
mod request;
mod specification;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ending::Class;
use crate::base::id::TreeId;
use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::loops::shared::request::{self as shared, Brief};
use crate::loops::shared::step::Shared;
use crate::loops::{Loop, MostCalls};
use crate::runs::event::{Failure, FailureKind, Outcome};
use crate::runs::plan::{self, LoopKind};
use crate::runs::run::{self, Change, Fold, StepState};

pub use crate::loops::shared::persona::{Origin, Persona};
pub use draft::Draft;
pub use inquiry::Inquiry;
pub use request::Question;
pub use specification::{Basis, Document};

/// The marker type of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expert {}

pub type Plan = plan::Plan<Expert>;
pub type Run = run::Run<Expert>;
pub type AgentRequest = shared::AgentRequest<Expert>;
pub type Next<'a> = super::Next<'a, Expert>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub expert: Persona,
    pub task: String,
    /// The folder that the expert reads, if it reads one.
    pub reads: Option<String>,
    /// The copy of that folder.
    pub files: Option<TreeId>,
    /// What a person should know about the expert and the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The file that the answer is, if the run drafts one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafts: Option<Draft>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The agent asks what it would have to guess.
    Inquire,
    /// A person answers.
    Reply,
    Ask,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Inquired(Vec<Inquiry>),
    /// One for each question. An empty one leaves the decision to the agent.
    Replied(Vec<Box<str>>),
    /// The expert's own text, or the file that it drafted.
    Answered(Box<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Close,
}

/// The run's outcome for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Answered,
    /// The agent gave no usable answer.
    Unanswered,
    /// The run has not ended and can be resumed.
    Paused,
}

/// A call that fails by its own fault is made once more.
const TRIES: u32 = 2;

impl Task {
    /// Returns what the run drafts a specification from, if it does.
    pub fn basis(&self) -> Option<&Basis> {
        self.drafts.as_ref()?.specification.as_ref()
    }
}

impl Expert {
    pub const ROLES: &'static [RoleSpec] = &[RoleSpec::new(Role::EXPERT, Rights::Read, false)];
}

impl Run {
    /// Returns the answer, if there is one.
    pub fn answer(&self) -> Option<&str> {
        match self.state_of(&Step::Ask) {
            StepState::Answered(Answer::Answered(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns why there is no answer, if the call failed too often.
    pub fn failure(&self) -> Option<&Failure> {
        match self.state_of(&Step::Ask) {
            StepState::GivenUp(failure) => Some(failure),
            StepState::Answered(_) | StepState::Open => None,
        }
    }

    pub fn class(&self) -> Class {
        match self.outcome() {
            Ended::Answered => Class::Reached,
            Ended::Unanswered => Class::Unjudged,
            Ended::Paused => Class::Open,
        }
    }

    pub fn outcome(&self) -> Ended {
        match (self.closed_at, self.answer()) {
            (None, _) => Ended::Paused,
            (Some(_), Some(_)) => Ended::Answered,
            (Some(_), None) => Ended::Unanswered,
        }
    }
}

impl Vocabulary for Expert {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    fn role(step: &Step) -> Option<Role> {
        match step {
            Step::Inquire | Step::Ask => Some(Role::EXPERT),
            Step::Reply => None,
        }
    }
}

impl Fold for Expert {
    type State = ();
    type Stage = ();

    fn roles(_: &Plan) -> Vec<RoleSpec> {
        Self::ROLES.to_vec()
    }

    fn begin(_: &Plan, _: Timestamp) {}

    fn closes(Decision::Close: &Decision) -> bool {
        true
    }

    fn fold(_: &mut Run, _: &Change<'_, Self>, _: Timestamp) {}

    fn round(_: &Run) -> u32 {
        1
    }

    fn stage(_: &Run) {}

    fn tries(_: &Run) -> u32 {
        TRIES
    }
}

impl Loop for Expert {
    const KIND: LoopKind = LoopKind::Expert;

    type Brief = Question;

    const CODE: &'static [u8] = b"expert";

    fn next(run: &Run) -> Next<'_> {
        match run.state_of(&Step::Ask) {
            _ if run.closed_at.is_some() => Next::End,
            StepState::Open => Next::one(run.before().unwrap_or(Step::Ask)),
            StepState::Answered(_) | StepState::GivenUp(_) => Next::Decide(Decision::Close),
        }
    }

    fn brief(brief: &Question) -> &dyn Brief<Self> {
        brief
    }

    fn request(run: &Run, step: &Step) -> Option<AgentRequest> {
        (*step != Step::Reply).then(|| request::of(run, *step))
    }

    fn shared(_: &Run, step: &Step) -> Option<Shared> {
        (*step == Step::Reply).then_some(Shared::Ask)
    }

    fn is_yes(_: &Answer) -> bool {
        false
    }

    fn fits(step: &Step, answer: &Answer) -> bool {
        match step {
            Step::Inquire => matches!(answer, Answer::Inquired(_)),
            Step::Reply => matches!(answer, Answer::Replied(_)),
            Step::Ask => matches!(answer, Answer::Answered(_)),
        }
    }

    fn trees(_: &Answer) -> Vec<TreeId> {
        Vec::new()
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        run.plan.task.files.into_iter().collect()
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        let steps = 1 + u64::from(plan.task.basis().is_some_and(|basis| basis.asks));
        [(Role::EXPERT, steps * u64::from(TRIES))].into()
    }
}

impl AgentRequest {
    /// Reads the answer. An empty one is a failure of the call, and so is a draft that is not the file asked for.
    pub fn answered(&self, answer: &str) -> Outcome<Answer> {
        if self.brief.step == Step::Inquire {
            let read = inquiry::read(answer, &self.code);
            return read.map(Answer::Inquired).map_err(|why| shared::off_schema(&why));
        }
        let text: Box<str> = match (answer.trim(), &self.plan.task.drafts) {
            ("", _) => return Err(Failure::new(FailureKind::Empty, "no text at all")),
            (text, None) => text.into(),
            (text, Some(draft)) => {
                draft.read(text).map_err(|why| shared::off_schema(&why))?.trim_end().into()
            }
        };
        Ok(Answer::Answered(text))
    }
}
