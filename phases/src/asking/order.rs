//! An order: one step, ready to carry out. It says which role acts, with which rights, and what the workspace holds.
//!
//! An order owns all it needs, so that it can be carried out apart from the run, and it has the same type for every
//! loop. A loop adds the question: the text for the agent. No file is opened here: the engine loads the folders named
//! by an order's placements.

use serde::{Deserialize, Serialize};

use crate::asking::prompt::Faulty;
use crate::base::id::{Digest, TreeId};
use crate::base::material::Folders;
use crate::base::role::{Rights, Role};
use crate::skills::offline::Task;
use crate::suites::scenario::SkillFile;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The step as JSON, a part of the call's key.
    pub step: String,
    /// How often the step has failed before in the whole run.
    pub attempt: u32,
    pub role: Role,
    pub rights: Rights,
    pub placements: Vec<Placement>,
    /// The skill on trial, if it is installed for the agent.
    pub installed: Option<Installed>,
    /// The folder of the workspace that replaces the folder of the skill's plugin.
    pub plugin: Option<String>,
    /// Runs instead of an agent.
    pub command: Option<Command>,
    /// Whether the workspace is a git repository with one commit of everything in it.
    pub repository: bool,
    /// What programs of the call do with the caches of build tools.
    pub caches: Option<CacheUse>,
    /// Files of a person that programs of the call need. No repository, prompt or edit has them.
    pub brought: Option<Placement>,
    /// Files that come over those of the workspace after the setup, just before the command starts.
    pub planted: Vec<Planted>,
    /// Runs in the folder of the draft, or else in the workspace, before the agent or the command. The repository has no
    /// file that it makes.
    pub setup: Option<Command>,
    /// Whether the program finds our own files empty: the run's folder, the store and the workspaces of other calls.
    pub hides: bool,
}

/// A stored tree and its path in the workspace. Prompts and readers find it by that path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub at: String,
    pub tree: TreeId,
    pub access: Access,
    /// Paths of the tree that are not placed.
    pub hidden: Vec<String>,
    /// The files of the tree to place, each at its own path. If empty, all are placed.
    pub picked: Vec<SkillFile>,
    /// Whether to place symlinks that lead out of the tree. The work of a task may hold an environment of programs, so
    /// it has them. In other trees an agent could reach a person's own files through them.
    pub links_outside: bool,
}

/// A stored tree whose files replace those of the workspace. In their texts, words are replaced by codes that no agent has
/// seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planted {
    pub tree: TreeId,
    pub words: Vec<(Box<str>, String)>,
}

/// Returns a text with codes in place of words.
pub fn with_codes(text: &str, words: &[(Box<str>, String)]) -> String {
    words.iter().fold(text.to_owned(), |text, (word, code)| text.replace(&**word, code))
}

/// What an agent may do with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Read only. A change is a failure of the call.
    Fixed,
    /// Edit: this is the draft that the call must make.
    Draft,
    /// Change freely: the folder is not read after the call.
    Scratch,
}

/// A skill in the folder where the agent looks for skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub name: String,
    /// The skill's folder within the workspace.
    pub at: String,
    /// Whether the prompt calls the skill by its name.
    pub called: bool,
}

/// A command of skilltune that runs instead of an agent, on a copy of its input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub argv: Vec<String>,
    /// The text for its standard input, if any.
    pub input: Option<Box<str>>,
    pub seconds: u64,
    /// Whether the system confines it to its workspace.
    pub confined: bool,
    pub needs: Needs,
    /// Whether other runs may reuse its result. The result of a check is not reused: it depends on programs and scripts
    /// that may have changed since, or been missing.
    pub is_shared: bool,
    /// The check that it decides: its number, and the exit code with which the check is met.
    pub check: Option<(usize, i32)>,
}

/// What a command needs besides its copy of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Needs {
    Nothing,
    /// It is a browser, which sets up its own sandbox through `/proc`.
    Proc,
    /// It finds the user's toolchains and package caches, which it can read and not write.
    Toolchains,
}

/// What a call does with the run's caches of build tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheUse {
    /// It gets a copy.
    Copy,
    /// It gets a copy, which replaces them if its command passes.
    Replace,
    /// It gets a copy of those that were there before any work.
    CopyFirst,
    /// It comes before any work: it gets a copy of those that were there before, which replaces them if its command passes.
    ReplaceFirst,
}

/// A loop's question to an agent.
pub trait Question {
    /// Returns the prompt. Fails only for a prompt page of the user's own.
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty>;

    /// Returns the task of the built-in agent, which reads no prose, or `None` if it has no part in the loop.
    fn task(&self) -> Option<Task> {
        None
    }

    /// Returns a JSON Schema of the answer, for an agent that can enforce one.
    fn schema(&self) -> Option<String> {
        None
    }
}

impl Order {
    /// Returns an order for an agent that finds no skill installed.
    pub(crate) fn new(
        step: String,
        attempt: u32,
        (role, rights): (Role, Rights),
        placements: Vec<Placement>,
    ) -> Self {
        Self {
            step,
            attempt,
            role,
            rights,
            placements,
            installed: None,
            plugin: None,
            command: None,
            repository: false,
            caches: None,
            brought: None,
            planted: Vec::new(),
            setup: None,
            hides: false,
        }
    }

    /// Returns the folder that the agent must edit, if any.
    pub fn draft(&self) -> Option<&Placement> {
        self.placements.iter().find(|placement| placement.access == Access::Draft)
    }

    /// Returns the folders that the agent must leave unchanged.
    pub fn fixed(&self) -> impl Iterator<Item = &Placement> {
        self.placements.iter().filter(|placement| placement.access == Access::Fixed)
    }

    /// Returns whether runs may share the answer.
    pub fn is_shared(&self) -> bool {
        self.command.as_ref().is_none_or(|command| command.is_shared)
    }

    /// Returns all paths that are not placed.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        self.placements.iter().flat_map(|placement| placement.hidden.iter().map(String::as_str))
    }

    /// Returns all files that are picked from trees.
    pub fn picked(&self) -> impl Iterator<Item = &SkillFile> {
        self.placements.iter().flat_map(|placement| &placement.picked)
    }

    /// Returns whether the workspace has a folder at this path.
    pub fn places(&self, at: &str) -> bool {
        self.placements.iter().any(|placement| placement.at == at)
    }

    /// Returns the code that an answer must repeat. No text that the agent reads can forge an answer, because its
    /// author cannot know a hash that covers the text itself. The hash covers everything in the workspace, and these
    /// texts of the prompt: pass every text that another agent wrote.
    pub(crate) fn code(&self, what: &[u8], texts: &[&str], seed: u64) -> String {
        let (seed, attempt) = (seed.to_le_bytes(), self.attempt.to_le_bytes());
        let own = [what, &seed, self.step.as_bytes(), &attempt];
        let placed = self.placements.iter().flat_map(|one| [one.at.as_bytes(), one.tree.0.as_bytes()]);
        let texts = texts.iter().map(|text| text.as_bytes());
        Digest::of_parts(own.into_iter().chain(placed).chain(texts)).short()
    }
}

impl Command {
    /// Returns a command without input whose result is not reused.
    pub fn new(argv: Vec<String>, seconds: u64, confined: bool) -> Self {
        Self { argv, input: None, seconds, confined, needs: Needs::Nothing, is_shared: false, check: None }
    }
}

impl Placement {
    pub(crate) fn new(at: impl Into<String>, tree: TreeId, access: Access) -> Self {
        Self { at: at.into(), tree, access, hidden: Vec::new(), picked: Vec::new(), links_outside: false }
    }

    /// Places the work of a task with all its symlinks.
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

/// Returns a step's text for an order.
pub(crate) fn step_text(step: &impl Serialize) -> String {
    serde_json::to_string(step).expect("a step has a JSON text")
}
