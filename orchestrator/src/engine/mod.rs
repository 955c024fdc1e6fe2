//! The engine: asks the loop what is next, does it, writes down what happened, tells everyone, asks again.
//!
//! ```text
//! drive:  loop.next -> Decide -> record
//!                   -> Do     -> call (prepare, guardian, finish) -> record
//!                   -> End    -> project, barrier
//! record: journal line -> run.apply -> observer -> pages of the rounds
//! ```
//!
//! `Err` means that we failed. A failing agent, a timeout, rubbish: these are outcomes, and recorded.

mod breach;
mod call;
mod desk;
mod draft;
mod drive;
mod materials;
mod pages;
mod reply;

use std::path::PathBuf;

use skilltune_phases::event::Record;
use skilltune_phases::price::Prices;
use skilltune_phases::run::{NotARun, Run};
use skilltune_phases::step::{Choice, Hold, Role, Step};

use crate::agent::Agent;
use crate::disk::DiskError;
use crate::process::{GuardianPool, ProcessError};
use crate::promote::PromoteError;
use crate::snapshot::{CaptureError, Limits, ObjectError, Objects, PlaceError};
use crate::store::{JournalError, RunFolder};

pub use drive::{Desk, Drive, Halt, Left, Patience};
pub use pages::{Diff, Pages, tree_diff, write_all as write_pages};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Objects(#[from] ObjectError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Promote(#[from] PromoteError),
    #[error("the journal is not that of a run")]
    NotARun(#[from] NotARun),
    #[error("the loop asks for steps that nothing can answer")]
    Stuck,
    #[error("a step of ours came to a sudden end")]
    Lost,
}

/// Who is told of what happens, while it happens.
pub trait Observer {
    /// A record was written and applied.
    fn recorded(&mut self, run: &Run, record: &Record);
    fn began(&mut self, run: &Run, step: &Step);
    fn ended(&mut self, run: &Run, step: &Step);
}

/// Somebody to ask.
pub trait Person {
    /// The answer, or none when nobody is there: then the run waits.
    fn ask(&mut self, run: &Run, hold: Hold) -> Option<Choice>;
}

/// All that calls of agents need, whatever the loop.
#[derive(Debug)]
pub struct Workshop {
    pub objects: Objects,
    pub folder: RunFolder,
    /// Answers of all runs of the project.
    pub cache: PathBuf,
    /// Where this run's workspaces stand, outside of any project.
    pub work: PathBuf,
    pub cast: CastAgents,
    pub pool: GuardianPool,
    pub limits: CallLimits,
    /// Of the models whose agents tell tokens and no money.
    pub prices: Prices,
}

/// The agents of the three roles.
#[derive(Clone, Debug)]
pub struct CastAgents {
    pub executor: Agent,
    pub evaluator: Agent,
    pub improver: Agent,
}

#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// How much is kept of each of an agent's output streams.
    pub output_bytes: u64,
    /// How much an agent may leave in its workspace.
    pub artifacts: Limits,
    /// How long a child may take to leave after it was asked to.
    pub grace: std::time::Duration,
}

impl CastAgents {
    pub fn of(&self, role: Role) -> &Agent {
        match role {
            Role::Executor => &self.executor,
            Role::Evaluator => &self.evaluator,
            Role::Improver => &self.improver,
        }
    }
}
