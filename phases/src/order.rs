//! An order: one step made ready for whoever carries it out. What stands in the workspace, what is said to the agent, and
//! what it has to leave alone.
//!
//! An order owns all it needs, so that it can be carried out apart from the run. No file is opened here: whoever
//! carries it out loads the folders that its placements name.

use std::fmt::Debug;

use serde::Serialize;

use crate::id::{Digest, TreeId};
use crate::loops::Loop;
use crate::material::Folder;
use crate::offline::Task;
use crate::prompt::Faulty;
use crate::role::Role;

/// A stored tree, and where it stands in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub at: String,
    pub tree: TreeId,
}

/// A skill that stands where the agent looks for skills.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'a> {
    pub name: &'a str,
    /// Its folder within the workspace.
    pub at: &'a str,
    /// The prompt calls it by its name.
    pub called: bool,
}

/// What an answer must repeat, so that no text which the agent reads can speak in its place: nobody who writes into a
/// skill or an artifact can know a hash that their own words go into.
pub(crate) fn code(what: &[u8], seed: u64, step: &impl Serialize, attempt: u32) -> String {
    let step = serde_json::to_vec(step).expect("a step has a JSON text");
    Digest::of_parts([what, &seed.to_le_bytes(), &step, &attempt.to_le_bytes()]).short()
}

/// A command of ours that is run in place of an agent, on a copy of what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub argv: Vec<String>,
    pub seconds: u64,
    /// The system holds it to its workspace.
    pub confined: bool,
}

pub trait Order<L: Loop>: Clone + Debug + Send + 'static {
    fn step(&self) -> &L::Step;

    /// How often the step has failed before, in the whole run.
    fn attempt(&self) -> u32;

    fn placements(&self) -> &[Placement];

    /// Who is asked.
    fn role(&self) -> Role;

    /// The role whose rights they have meanwhile: what they may write.
    fn rights(&self) -> Role {
        self.role()
    }

    /// What is run in place of an agent, if it is a command.
    fn command(&self) -> Option<&Command> {
        None
    }

    /// The prompt; `folders` are the placements' contents, in their order. Only a page of a person's own can fail.
    fn prompt(&self, folders: &[Folder]) -> Result<String, Faulty>;

    /// The same for the built-in agent, which reads no prose; none, where it has no part in the loop.
    fn task(&self) -> Option<Task> {
        None
    }

    /// A JSON Schema of the answer, for an agent that can be held to one.
    fn schema(&self) -> Option<String> {
        None
    }

    /// The one placement that the agent is to change, if it is to change one.
    fn working_copy(&self) -> Option<&Placement> {
        None
    }

    /// What the agent has to leave as it finds it.
    fn left_alone(&self) -> &[Placement] {
        self.placements()
    }

    /// Where the skill is installed that is to be tried, if one is.
    fn installed(&self) -> Option<Installed<'_>> {
        None
    }
}
