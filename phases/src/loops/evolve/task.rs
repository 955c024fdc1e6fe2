//! What a run of `evolve` was asked to do.

use serde::{Deserialize, Serialize};

use super::course::Caps;
use super::evidence::{CommandReceipt, Interface, Oracle, Word};
use super::plan::Planned;
use super::spec::{Id, Specification};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::loops::shared::persona::Persona;
use crate::runs::proposal::Form;
use crate::suites::checks::{Commands, RunThem};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of a person")]
pub struct Task {
    /// A short name, made from the file of the specification. The branch has it.
    pub name: String,
    /// The file of the specification.
    pub file: String,
    pub spec: Specification,
    /// The folder of the project.
    pub root: String,
    /// Its content when the run began, uncommitted changes included.
    pub start: TreeId,
    /// The content of the last commit, if the project is in a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<TreeId>,
    /// Paths that agents do not get: a program would read them by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// The folders that are repositories of their own, if the result is to be a commit: it cannot take their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// The plan that a person gave; otherwise agents make one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// The tasks of that plan to plan again: files that they name have changed since it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<Id>,
    /// The tasks of that plan to do; all if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<Id>,
    /// The work of an earlier run that the tasks build on, in its order, on the project as it is now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_on: Vec<MergedWork>,
    /// Whether the run ends with the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan_only: bool,
    /// The commands of the project that are set; others are found in each tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<Set>,
    /// Whether commands may run that were found and not set.
    pub finds: bool,
    /// What happens with the checks of the specification and with oracles.
    pub checks: Commands,
    /// Whether the evaluator writes oracles before the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_oracles: bool,
    /// Whether wrong versions of the result are made, to see whether oracles reject them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_strength: bool,
    /// Whether one executor does everything once more alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_control: bool,
    /// The result to look at again without any agent; a run of this kind does nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Box<Verify>>,
    pub command_seconds: u64,
    /// Ignored files that copies need to build. They are in no prompt and in no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brought: Option<TreeId>,
    /// The command that makes a copy ready for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Vec<String>>,
    /// Whether executors may run commands.
    pub has_shell: bool,
    pub apply: Apply,
    pub rules: Rules,
    /// The experts that may advise on tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experts: Vec<Adviser>,
    #[serde(default)]
    pub advice: AdviceRules,
    /// The number of retries after an answer that cannot be used.
    pub retries: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A result with its receipts, which are repeated. The run's `start` is the project before the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    pub result: TreeId,
    /// Whether the receipts are about this tree.
    pub is_same: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    pub oracles: Vec<(Id, Oracle)>,
    /// What the receipts say of each criterion.
    pub words: Vec<(Id, Word)>,
    /// What they say of each command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandReceipt>,
}

/// The merged work of a task, as the trees before and after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedWork {
    pub task: Id,
    /// The batch in which it was done; none if an earlier run did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    pub before: TreeId,
    pub after: TreeId,
}

/// A command of the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    pub stage: Stage,
    pub argv: Vec<String>,
}

/// Where the result goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    /// The result stays among the run's files.
    #[default]
    Never,
    /// Each task is a commit.
    Propose(Form),
    /// The result goes into the project's own folder.
    Tree,
}

/// The numbers that end a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// The least share of the criteria, by weight, that a result meets.
    pub score: f64,
    /// The least share of the goal's statements that hold.
    pub alignment: f64,
    /// Whether the changes of each layer are compared with the specification, by one call.
    pub looks_for_drift: bool,
    pub caps: Caps,
}

impl Default for Rules {
    fn default() -> Self {
        Self { score: 0.85, alignment: 0.8, looks_for_drift: true, caps: Caps::default() }
    }
}

/// An expert that may advise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adviser {
    pub persona: Persona,
    /// Its fields of knowledge, in a few words each.
    pub domains: Vec<Box<str>>,
    pub description: Box<str>,
}

/// Which of the relevant experts advise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdviceRules {
    /// The least relevance, from 0 to 1.
    pub relevance: f64,
    /// The most experts for one task.
    pub most: u32,
}

impl Default for AdviceRules {
    fn default() -> Self {
        Self { relevance: 0.5, most: 3 }
    }
}

/// The project at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// Its content, uncommitted changes included.
    pub tree: TreeId,
    /// The content of the last commit, if the project is in a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<TreeId>,
    /// Paths that agents do not get: a program would read them by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
}

impl Verify {
    pub(super) fn oracle(&self, criterion: &str) -> Option<&Oracle> {
        self.oracles.iter().find(|(id, _)| **id == *criterion).map(|(_, oracle)| oracle)
    }

    pub(super) fn trees(&self) -> impl Iterator<Item = TreeId> {
        let stub = self.interface.as_ref().and_then(|interface| interface.stub);
        let files = self.oracles.iter().filter_map(|(_, oracle)| oracle.files);
        [self.result].into_iter().chain(stub).chain(files)
    }
}

impl Task {
    /// Returns the project as it was when the run began.
    pub(super) fn base(&self) -> Base {
        Base { tree: self.start, committed: self.committed, hidden: self.hidden.clone() }
    }

    /// Whether a task of the plan is to be done, also one that was planned instead of another.
    pub(super) fn does(&self, id: &str) -> bool {
        let is_new = || self.plan.as_ref().is_none_or(|plan| plan.item(id).is_none());
        self.only.is_empty() || self.only.iter().any(|one| **one == *id) || is_new()
    }

    /// Whether the evaluator writes oracles: only if they may run.
    pub fn asks_for_oracles(&self) -> bool {
        self.has_oracles && !self.plan_only && self.verify.is_none() && self.checks.run != RunThem::Never
    }

    /// Whether experts may advise. Otherwise no call asks about them.
    pub fn is_advised(&self) -> bool {
        !self.experts.is_empty() && self.advice.most > 0
    }
}
