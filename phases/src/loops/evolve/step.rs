//! The steps of `evolve`, and their answers.

use serde::{Deserialize, Serialize};

use super::amendment::Amendment;
use super::course::Persona;
use super::evaluation::Judgement;
use super::evidence::{Interface, Probed, Proposal};
use super::plan::{Classified, Group, Item};
use super::spec::Id;
use super::weakened::Weakening;
use crate::base::id::{Digest, TreeId};
use crate::loops::shared::commands::Stage;
use crate::loops::shared::test_results::TestResults;
use crate::runs::proposal::{self, Form};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The evaluator splits the goal into statements that hold or do not.
    Split,
    /// The evaluator says which criteria are essential.
    Classify,
    /// The evaluator names what work has to provide, so that oracles can use it.
    Interface,
    /// The evaluator writes the oracle of a criterion, or mends it once.
    Oracle { criterion: Id, go: u32 },
    /// The evaluator divides the work into tasks: at first for all criteria, later for new ones.
    Divide { round: u32 },
    /// The evaluator plans tasks again, because files that they name have changed. It sees this tree.
    Replan { tasks: Vec<Id>, tree: TreeId },
    /// The evaluator groups the tasks.
    Group,
    /// The evaluator says which experts are relevant to which tasks.
    Match,
    /// An expert says what it thinks of a task. The number is its place among the experts of the run.
    Advise { task: Id, expert: usize },
    /// The evaluator makes one advice of what several experts say about a task.
    Agree { task: Id },
    /// Run the setup command of copies once, on the unchanged project.
    SetUp { tree: TreeId },
    /// Find the commands of a tree.
    Look { tree: TreeId },
    /// Run a command of the project on a tree.
    Run { tree: TreeId, stage: Stage },
    /// An executor does a task in a copy.
    Work { task: Id, go: u32, from: TreeId },
    /// Merge the work of a batch, without the tasks that were taken back.
    Merge { batch: usize, without: Vec<Id> },
    /// The evaluator compares the merged changes of a batch with the specification.
    Drift { batch: usize },
    /// Ask a person whether the checks of the specification and the oracles may run.
    Allow,
    /// Run the oracle of a criterion, or its check in the specification, on a tree.
    Probe { criterion: Id, go: u32, tree: TreeId },
    /// The evaluator judges what no machine could decide.
    Judge {
        tree: TreeId,
        /// The hash of all that is judged.
        contract: Digest,
        /// Raised whenever the evaluator changes.
        era: u32,
    },
    /// Ask a person about a criterion whose oracle fails, and that the evaluator finds met.
    Settle { tree: TreeId, criterion: Id },
    /// The evaluator writes wrong versions of a result, to see whether the oracle of a criterion rejects them.
    Spoil { tree: TreeId, criterion: Id },
    /// One executor does everything alone, to compare the plan with it.
    Control,
    /// The evaluator changes the criteria, in flow C as a persona.
    Amend { round: u32, persona: Option<Persona> },
    /// Put the changes of a tree on another version of the project: the last commit, or what a person has changed since.
    Transplant { tree: TreeId, onto: TreeId },
    /// Put the merged work on the project as it was found when the run was resumed.
    Follow { from: TreeId, tree: TreeId, to: TreeId },
    /// Look for changes of a tree that may weaken tests.
    Audit { tree: TreeId },
    /// Add the receipts and the oracles to a result.
    File { tree: TreeId },
    /// Ask a person.
    Ask { question: Question, round: u32 },
    /// Put the result into the project's folder.
    Promote { from: TreeId, to: TreeId },
    /// Commit the result.
    Commit { tree: TreeId, form: Form },
}

/// A question to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Whether criteria or constraints may change.
    Amendment,
    /// How the run goes on after all personas were used.
    Escalation,
    /// Whether a result may be handed over that touches tests or their settings.
    Weakened,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Split(Vec<Box<str>>),
    Classified(Vec<Classified>),
    Divided(Vec<Item>),
    Grouped(Vec<Group>),
    Interface(Box<Interface>),
    Proposed(Box<Proposal>),
    Probed(Box<Probed>),
    Spoiled(Vec<Wrong>),
    Matched(Vec<Relevant>),
    Advised(Box<Perspective>),
    Agreed(Box<Consensus>),
    Found(Vec<Command>),
    Ran(Box<CommandEnd>),
    Worked {
        made: TreeId,
        summary: Box<str>,
        /// Whether the executor could not read the run's own files, so no oracle either.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_blind: bool,
    },
    Merged(Box<Integration>),
    Drifted(Vec<Drift>),
    Allowed(bool),
    Judged(Box<Judgement>),
    Amended(Box<Amendment>),
    Audited(Vec<Weakening>),
    /// None if the changes do not go together with that version.
    Transplanted(Option<TreeId>),
    Followed(Box<Followed>),
    /// The result with its receipts.
    Filed(TreeId),
    Chosen(Choice),
    Promoted,
    /// The folder has changed since the run began. The content found there is kept.
    Conflict {
        found: Vec<TreeId>,
    },
    Committed(Box<proposal::Proposal>),
    NotCommitted {
        why: Box<str>,
    },
}

/// An expert that is relevant to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relevant {
    pub task: Id,
    /// The name of the expert.
    pub expert: Box<str>,
    /// The domains of its knowledge that the task needs.
    pub domains: Vec<Box<str>>,
    /// From 0 to 1.
    pub relevance: f64,
    pub why: Box<str>,
}

/// The advice of one expert on a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Perspective {
    pub text: Box<str>,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The advice that the evaluator makes of several perspectives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consensus {
    pub text: Box<str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

/// A question on which experts differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub about: Box<str>,
    /// The names of the experts.
    pub between: Vec<Box<str>>,
    pub settled: Box<str>,
}

/// A command of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub stage: Stage,
    pub argv: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// None if it could not start.
    pub exit: Option<i32>,
    /// The end of its output.
    pub said: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestResults>,
}

/// The merge of a batch, in the order of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integration {
    pub tree: TreeId,
    /// The changes of each merged task, for a judge. A long one is cut.
    pub diff: Box<str>,
    pub works: Vec<Integrated>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integrated {
    pub task: Id,
    /// The tree with this work; none if it was not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// Why it was not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<str>>,
    /// The files that it changed.
    pub files: Vec<Box<str>>,
}

/// What a person changed in the project while the run was paused, and the merged work on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Followed {
    /// The changed files. A long list is cut.
    pub changed: Vec<Box<str>>,
    /// The tasks that name one of them.
    pub named: Vec<Id>,
    /// The tree after each merged work.
    pub trees: Vec<TreeId>,
    /// Why they do not go together, if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<str>>,
}

/// A version of a result that a hasty reviewer would take for right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    pub what: Box<str>,
    pub tree: TreeId,
}

/// A place where the work goes against the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    pub task: Id,
    pub what: Box<str>,
    pub evidence: Box<str>,
}

/// An answer of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    Approve,
    Refuse,
    /// Go on with guidance.
    Guide {
        text: Box<str>,
    },
    /// Take the best result as it is.
    Accept,
    End,
    /// A disputed criterion is met.
    Holds,
    /// A disputed criterion is not met.
    Fails,
    /// A disputed criterion stays disputed.
    Leave,
}

impl Answer {
    pub(super) fn trees(&self) -> Vec<TreeId> {
        match self {
            Self::Worked { made, .. } => vec![*made],
            Self::Merged(all) => all.works.iter().filter_map(|one| one.tree).chain([all.tree]).collect(),
            Self::Transplanted(tree) => tree.iter().copied().collect(),
            Self::Followed(followed) => followed.trees.clone(),
            Self::Interface(interface) => interface.stub.into_iter().collect(),
            Self::Proposed(proposal) => match &**proposal {
                Proposal::Oracle(oracle) => oracle.files.into_iter().collect(),
                Proposal::Judge { .. } => Vec::new(),
            },
            Self::Spoiled(all) => all.iter().map(|wrong| wrong.tree).collect(),
            Self::Filed(tree) => vec![*tree],
            Self::Conflict { found } => found.clone(),
            Self::Split(_)
            | Self::Classified(_)
            | Self::Divided(_)
            | Self::Grouped(_)
            | Self::Matched(_)
            | Self::Advised(_)
            | Self::Agreed(_)
            | Self::Found(_)
            | Self::Ran(_)
            | Self::Drifted(_)
            | Self::Allowed(_)
            | Self::Probed(_)
            | Self::Judged(_)
            | Self::Amended(_)
            | Self::Audited(_)
            | Self::Chosen(_)
            | Self::Promoted
            | Self::Committed(_)
            | Self::NotCommitted { .. } => Vec::new(),
        }
    }
}
