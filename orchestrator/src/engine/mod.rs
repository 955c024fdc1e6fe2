//! The engine: asks the loop what is next, does it, writes down what happened, tells everyone, asks again.
//!
//! ```text
//! drive:  loop.next -> Decide -> record
//!                   -> Do     -> call (prepare, guardian, finish) -> record
//!                   -> End    -> files, barrier
//! record: journal line -> run.apply -> files -> observer
//! files:  project (engine) -> pages (observer) -> state
//! ```
//!
//! `Err` means that we failed. A failing agent, a timeout, rubbish: these are outcomes, and recorded.

mod call;
mod call_dir;
mod drive;
mod edited_copy;
mod files;
mod gan;
mod materials;
mod proposing;
pub mod reflex;
mod refusal;
mod reply;
mod repository;
mod tamper;
mod tune;
mod unreadable;

use std::path::{Path, PathBuf};

use skilltune_phases::event::{Failure, Record, Spent};
use skilltune_phases::id::TreeId;
use skilltune_phases::keys::Keys;
use skilltune_phases::loops::Loop;
use skilltune_phases::price::Prices;
use skilltune_phases::prompt::Faulty;
use skilltune_phases::role::ByRole;
use skilltune_phases::run::{NotARun, Run};

use crate::agent::{Agent, Talk};
use crate::disk::{DiskError, SafePath};
use crate::evolution::EvolutionError;
use crate::git::{Program, ProposeError};
use crate::process::{CancelToken, GuardianPool, How, ProcessError};
use crate::promote::PromoteError;
use crate::snapshot::{CaptureError, Limits, ObjectError, Objects, PlaceError};
use crate::store::{AnswerCache, JournalError, RunFolder};

pub use drive::{Context, Drive, Halt, Patience, Stopped};
pub use files::{is_published, publish};
pub use tune::{Diff, context, edit_diff, propose_candidate, tree_dangers, tree_diff};
use unreadable::unreadable;

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
    #[error(transparent)]
    Propose(#[from] ProposeError),
    #[error(transparent)]
    Evolution(#[from] EvolutionError),
    #[error(transparent)]
    Prompt(#[from] Faulty),
    #[error("the journal does not belong to a run")]
    NotARun(#[from] NotARun),
    #[error("the loop requests steps that cannot be answered")]
    Stuck,
    #[error("an internal step ended unexpectedly")]
    Lost,
}

/// Why an answer cannot be read: by a fault of the agent, which is recorded, or of ours, which ends the run.
#[derive(Debug)]
pub enum ReadError {
    Agent(Failure),
    Ours(EngineError),
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> Self {
        Self::Agent(failure)
    }
}

impl<E> From<E> for ReadError
where
    EngineError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Ours(error.into())
    }
}

/// What the engine does for one loop, beyond what it does for all of them.
pub trait LoopEngine: Loop {
    /// Reads what an agent that has answered left.
    fn read(
        shop: &Workshop,
        request: &Self::Request,
        remains: &AgentOutput<'_>,
    ) -> Result<Self::Answer, ReadError>;

    /// The versions that a step edits, if it makes an edit: the trees of its answer add no key to them.
    fn base(request: &Self::Request) -> Option<Vec<TreeId>> {
        request.as_ref().draft().map(|copy| vec![copy.tree])
    }

    /// Reads what a command of ours came to, in a loop that has any.
    fn ran(
        shop: &Workshop,
        request: &Self::Request,
        ran: &CommandOutput<'_>,
    ) -> Result<Self::Answer, ReadError>;

    /// Does a step that is no call, or says what to run for it.
    fn own(
        run: &Run<Self>,
        step: &Self::Step,
        hands: LocalContext<'_, Self>,
    ) -> Result<LocalOutcome<Self::Answer>, EngineError>;

    /// Whether a decision changes the files of a run, so that they are written at once.
    fn changes_files(decision: &Self::Decision) -> bool;

    /// Writes the files that programs and people expect in a place of their own: artifacts, projections.
    fn project(
        objects: &Objects,
        folder: &RunFolder,
        run: &Run<Self>,
        extent: Extent,
    ) -> Result<(), EngineError>;

    /// Whether those files are there, in a place where others may remove them.
    fn is_projected(_: &Run<Self>) -> bool {
        true
    }

    /// The text of the state file.
    fn state(run: &Run<Self>) -> String;
}

/// What an agent that has answered left.
#[derive(Clone, Copy, Debug)]
pub struct AgentOutput<'a> {
    pub space: &'a Path,
    pub answer: &'a str,
    /// The tools that it was not let use.
    pub denied: &'a [String],
    pub talk: Option<&'a Talk>,
    pub spent: &'a Spent,
}

/// What a command of ours came to.
#[derive(Clone, Copy, Debug)]
pub struct CommandOutput<'a> {
    pub how: &'a How,
    /// How long it could take.
    pub seconds: u64,
    pub stdout: &'a str,
    pub stderr: &'a str,
    /// Its workspace, as it left it.
    pub space: &'a Path,
}

/// With what a step of our own is done.
#[expect(missing_debug_implementations, reason = "a person shows nothing")]
pub struct LocalContext<'a, L: LoopEngine> {
    pub context: &'a Context,
    pub person: &'a mut dyn Person<L>,
}

/// What became of a step of our own.
#[expect(missing_debug_implementations, reason = "work shows nothing")]
pub enum LocalOutcome<A> {
    Done(A),
    /// It waits for a person who is not there.
    Held,
    Work(Work<A>),
}

/// Programs of a step of our own, which may take long. They end when the run is to stop; then there is no answer, and the step
/// is done again when the run goes on.
pub type Work<A> = Box<dyn FnOnce(&CancelToken) -> Result<Option<A>, EngineError> + Send>;

/// How many of a run's files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those of the newest round.
    Newest,
    All,
}

impl Extent {
    /// The rounds whose files are written.
    pub fn of<T>(self, rounds: &[T]) -> &[T] {
        match self {
            Self::Newest => &rounds[rounds.len().saturating_sub(1)..],
            Self::All => rounds,
        }
    }
}

/// Follows a run while it happens.
pub trait Observer<L: Loop> {
    /// Writes the pages and reports. All of them are written before the barrier at the end of a run or a pause.
    fn write_pages(&mut self, shop: &Workshop, run: &Run<L>, extent: Extent) -> Result<(), EngineError>;
    /// A record was written and applied.
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>);
    fn began(&mut self, run: &Run<L>, step: &L::Step);
    fn ended(&mut self, run: &Run<L>, step: &L::Step);
}

/// Somebody to ask.
pub trait Person<L: Loop> {
    /// The answer to a step that asks, or none when nobody is there: then the run waits.
    fn ask(&mut self, run: &Run<L>, step: &L::Step) -> Option<L::Answer>;
}

/// Tells whether what calls run is still what a person has trusted.
pub trait Guard: std::fmt::Debug + Send + Sync {
    /// The first file that is not.
    fn changed_file(&self) -> Option<PathBuf>;
}

/// All that calls of agents need, whatever the loop.
#[derive(Debug)]
pub struct Workshop {
    pub objects: Objects,
    pub folder: RunFolder,
    /// Answers of all runs of the project.
    pub cache: AnswerCache,
    /// Where this run's workspaces are, outside of any project.
    pub work: SafePath,
    pub cast: CastAgents,
    pub pool: GuardianPool,
    pub limits: CallLimits,
    /// Those that its agents are given.
    pub keys: Keys,
    /// Of the models whose agents tell tokens and no money.
    pub prices: Prices,
    /// Where it is installed.
    pub git: Option<Program>,
    /// Asked before each call starts.
    pub guard: Option<Box<dyn Guard>>,
}

pub type CastAgents = ByRole<Agent>;

#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// How much is kept of each of an agent's output streams.
    pub output_bytes: u64,
    /// How much an agent may leave in its workspace.
    pub artifacts: Limits,
    /// How long a child may take to leave after it was asked to.
    pub grace: std::time::Duration,
}
