//! An order: one step made ready to be carried out. It says who is asked, with which rights, and what the workspace holds.
//!
//! An order owns all it needs, so that it can be carried out apart from the run, and it is the same type for every loop.
//! What a loop adds is the question: the text that an agent gets. No file is opened here: whoever carries out an
//! order loads the folders that its placements name.

use std::fmt::Debug;

use serde::Serialize;

use crate::id::{Digest, TreeId};
use crate::material::Folders;
use crate::offline::Task;
use crate::prompt::Faulty;
use crate::role::{Rights, Role};
use crate::scenario::SkillFile;

#[derive(Clone, Debug)]
pub struct Order {
    /// The step as JSON, which goes into the key of the call.
    pub step: String,
    /// How often the step has failed before, in the whole run.
    pub attempt: u32,
    pub role: Role,
    pub rights: Rights,
    pub placements: Vec<Placement>,
    /// The skill on trial, if it is installed for the agent.
    pub installed: Option<Installed>,
    /// The folder of the workspace that stands for that of the skill's plugin.
    pub plugin: Option<String>,
    /// Runs in place of an agent.
    pub command: Option<Command>,
    /// The workspace is made a git repository with one commit of all that it holds.
    pub repository: bool,
}

/// A stored tree, and its path in the workspace, by which prompts and readers find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub at: String,
    pub tree: TreeId,
    pub access: Access,
    /// Paths of the tree that are left out.
    pub hidden: Vec<String>,
    /// The only files of the tree that are placed, each where it says; all of them, if there are none.
    pub picked: Vec<SkillFile>,
    /// Symlinks that lead out of the tree are placed too: it is the work of a task, and may hold an environment of programs.
    /// Elsewhere an agent would reach a person's own files through them.
    pub links_outside: bool,
}

/// What an agent may do to a folder that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it. A change is a failure of the call.
    Fixed,
    /// Edit it: this is the draft that the call is to make.
    Draft,
    /// Change it as it likes: nobody reads it after the call.
    Scratch,
}

/// A skill in the folder where the agent looks for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub name: String,
    /// Its folder within the workspace.
    pub at: String,
    /// The prompt calls it by its name.
    pub called: bool,
}

/// A command of ours that runs in place of an agent, on a copy of what it checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub argv: Vec<String>,
    /// What it reads on its standard input: nothing, if there is none.
    pub input: Option<Box<str>>,
    pub seconds: u64,
    /// The system confines it to its workspace.
    pub confined: bool,
    /// It is a browser, which sets up a sandbox of its own through `/proc`.
    pub is_browser: bool,
    /// What it comes to serves other runs too. That of a check does not: it depends on programs and scripts that may be others
    /// by then, or may have been missing.
    pub is_shared: bool,
}

/// What a loop asks an agent with an order.
pub trait Question {
    /// The prompt. Only a prompt page of the user's own can fail.
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty>;

    /// The same for the built-in agent, which reads no prose; none, if it has no part in the loop.
    fn task(&self) -> Option<Task> {
        None
    }

    /// A JSON Schema of the answer, for an agent that can be held to one.
    fn schema(&self) -> Option<String> {
        None
    }
}

/// An order of one loop, together with its question.
pub trait Request: Question + AsRef<Order> + Clone + Debug + Send + 'static {}

impl<T: Question + AsRef<Order> + Clone + Debug + Send + 'static> Request for T {}

impl Order {
    /// The folder that the agent is to edit, if there is one.
    pub fn draft(&self) -> Option<&Placement> {
        self.placements.iter().find(|placement| placement.access == Access::Draft)
    }

    /// The folders that the agent must leave unchanged.
    pub fn fixed(&self) -> impl Iterator<Item = &Placement> {
        self.placements.iter().filter(|placement| placement.access == Access::Fixed)
    }

    /// Whether an answer may come from another run, and serve others.
    pub fn is_shared(&self) -> bool {
        self.command.as_ref().is_none_or(|command| command.is_shared)
    }

    /// All that is left out of what is placed.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        self.placements.iter().flat_map(|placement| placement.hidden.iter().map(String::as_str))
    }

    /// All files that are picked out of trees.
    pub fn picked(&self) -> impl Iterator<Item = &SkillFile> {
        self.placements.iter().flat_map(|placement| &placement.picked)
    }

    /// Whether the workspace holds a folder at this path.
    pub fn places(&self, at: &str) -> bool {
        self.placements.iter().any(|placement| placement.at == at)
    }

    /// What an answer must repeat, so that no text which the agent reads can answer in its place: nobody can know a hash that
    /// covers their own words. It covers all that the agent finds in its workspace, and these texts of its prompt: whatever
    /// another agent wrote has to be among them.
    pub(crate) fn code(&self, what: &[u8], texts: &[&str], seed: u64) -> String {
        let (seed, attempt) = (seed.to_le_bytes(), self.attempt.to_le_bytes());
        let own = [what, &seed, self.step.as_bytes(), &attempt];
        let placed = self.placements.iter().flat_map(|one| [one.at.as_bytes(), one.tree.0.as_bytes()]);
        let texts = texts.iter().map(|text| text.as_bytes());
        Digest::of_parts(own.into_iter().chain(placed).chain(texts)).short()
    }
}

impl Placement {
    pub(crate) fn new(at: impl Into<String>, tree: TreeId, access: Access) -> Self {
        Self { at: at.into(), tree, access, hidden: Vec::new(), picked: Vec::new(), links_outside: false }
    }

    /// The work of a task, all of whose symlinks are placed.
    pub(crate) fn work(at: impl Into<String>, tree: TreeId) -> Self {
        Self { links_outside: true, ..Self::new(at, tree, Access::Scratch) }
    }

    pub(crate) fn hiding(self, hidden: &[String]) -> Self {
        Self { hidden: hidden.to_vec(), ..self }
    }

    pub(crate) fn picking(self, picked: &[SkillFile]) -> Self {
        Self { picked: picked.to_vec(), ..self }
    }
}

/// A step as an order names it.
pub(crate) fn step_text(step: &impl Serialize) -> String {
    serde_json::to_string(step).expect("a step has a JSON text")
}
