//! The decisions of `evolve`.

use serde::{Deserialize, Serialize};

use super::course::{Pattern, Persona};
use super::evaluation::{Contract, Evaluation};
use super::plan::{Item, Planned};
use super::spec::Id;
use super::step::Choice;
use super::task::Base;
use super::weakened::Weakening;
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The plan and what is judged, from now on.
    Planned {
        plan: Box<Planned>,
        contract: Box<Contract>,
    },
    /// Tasks are done, layer by layer.
    Pass(Box<Pass>),
    /// Tasks of one layer begin.
    Batch(Box<Batch>),
    /// The work of a task is taken back, because a command fails with it.
    TakenBack {
        batch: usize,
        task: Id,
        why: Box<str>,
    },
    /// A batch is merged.
    Integrated {
        batch: usize,
        tree: TreeId,
        ends: Vec<TaskEnd>,
    },
    /// The project was not as the run knew it when the run was resumed.
    Found(Box<Base>),
    /// The run goes on with the project as it was found.
    Moved(Box<Moved>),
    /// The run goes on with the project as it was.
    Stayed {
        /// The files that a person has changed.
        changed: Vec<Box<str>>,
        why: Box<str>,
    },
    Evaluated(Box<Round>),
    /// The criteria changed, or a patch led to nothing.
    Amended(Box<Amended>),
    /// A person gave guidance to a run that waits, or ended one that did not.
    Answered {
        choice: Choice,
    },
    Ended(End),
    Close,
}

/// Tasks that are done, layer by layer, from one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    pub kind: PassKind,
    pub from: TreeId,
    pub layers: Vec<Vec<Id>>,
    /// Tasks that the plan did not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<Item>,
    /// A note for the executors of the tasks.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub note: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// The tasks of the plan.
    Plan,
    /// Flow A: fix what a command reports.
    Fix,
    /// Flow B: the tasks of unmet and changed criteria.
    Patch,
    /// Flow C: the same, from another point of view.
    Pivot { persona: Persona, pattern: Pattern },
}

/// Tasks that are done side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub layer: usize,
    pub from: TreeId,
    pub tasks: Vec<Due>,
    /// Tasks that are left out, because one that they need has failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Id>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    pub task: Id,
    /// How often the task has begun in this run.
    pub go: u32,
    /// Why it is done again in this layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnd {
    pub task: Id,
    pub end: WorkEnd,
}

/// How the work of a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEnd {
    /// Merged, with the tree after it.
    Merged(TreeId),
    /// Not merged; the task is done again on the merged tree.
    Again(Box<str>),
    Failed(Box<str>),
    Skipped,
}

/// One evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub tree: TreeId,
    /// The stages that are newly red. If there are any, nothing else was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<Stage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// The merged work, and the tasks to come, on a project that a person has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The files that a person has changed.
    pub changed: Vec<Box<str>>,
    /// The tree after each merged work.
    pub works: Vec<TreeId>,
    /// The tasks that were planned again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Id>,
    pub plan: Planned,
    /// The tasks to come, if some were planned again after the first had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<Pass>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amended {
    pub contract: Contract,
    /// Whether a person approved the changes of criteria and constraints; none if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// The persona that it is from, in flow C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    /// The tasks that follow from it; none if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<Pass>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    pub ending: Ending,
    /// The result; none if nothing was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// Whether its commands are green, also without the changes that a person has not committed.
    pub stands: bool,
    /// Whether they are green only together with those changes, or do not go together with the last commit alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_uncommitted: bool,
    /// The places where it weakens tests: a person looks at them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<Weakening>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All conditions hold.
    Success,
    /// A person ended the run.
    Caller,
    /// All personas were used, and a person ended the run or took what there was.
    HumanEscalation,
    /// Only a plan was asked for.
    Planned,
    /// The result could not be judged.
    Incomplete,
    /// No plan could be made.
    Failed,
    /// All receipts of a result were repeated.
    Repeated,
    /// Some receipts of a result could not be repeated.
    NotRepeated,
}

impl Ending {
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Caller => "caller",
            Self::HumanEscalation => "human_escalation",
            Self::Planned => "planned",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Repeated => "repeated",
            Self::NotRepeated => "not_repeated",
        }
    }
}

impl Pass {
    pub fn tasks(&self) -> impl Iterator<Item = &Id> {
        self.layers.iter().flatten()
    }
}
