//! The engine: asks the loop for the next step, runs it, records the outcome, notifies the observer, and repeats.
//!
//! ```text
//! drive:  loop.next -> Decide -> record
//!                   -> Do     -> call (prepare, guardian, finish) -> record
//!                   -> End    -> files, barrier
//! record: journal line -> run.apply -> files -> observer
//! files:  project (engine) -> pages (observer) -> state
//! ```
//!
//! `Err` means that skilltune failed. A failing agent, a timeout or invalid output is an outcome, and is recorded.

mod at_once;
mod caches;
mod call;
mod call_dir;
mod command;
mod drive;
mod edited_copy;
mod evolve;
mod expert;
mod exported_call;
mod exports;
mod files;
mod gan;
mod hiding;
mod materials;
mod ports;
pub mod reflex;
mod refusal;
mod reply;
mod repository;
mod review;
mod setup;
mod shared;
mod tamper;
mod tune;
mod unreadable;
mod worker_call;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skilltune_phases::asking::prompt::Faulty;
use skilltune_phases::base::id::{Digest, TreeId};
use skilltune_phases::base::model::ModelName;
use skilltune_phases::base::role::{ByRole, Role};
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::runs::event::{Failure, FailureKind, Record, Spent};
use skilltune_phases::runs::price::Prices;
use skilltune_phases::runs::run::{NotARun, Run};
use skilltune_phases::skills::keys::Keys;

use crate::agent::{Agent, Talk};
use crate::disk::{DiskError, SafePath};
use crate::evolution::EvolutionError;
use crate::git::{Program, ProposeError};
use crate::process::{CancelToken, GuardianPool, How, ProcessError};
use crate::promote::PromoteError;
use crate::snapshot::{CaptureError, Indexes, Limits, Manifest, ObjectError, Objects, PlaceError};
use crate::store::{AnswerCache, Journal, JournalError, Locks, RunFolder, TargetLock};
use crate::workers::Workers;

pub use caches::Caches;
pub use drive::{Drive, Halt, Patience, Stopped};
pub use exported_call::{ExportedCall, MadeReply, ReadyCall};
pub use exports::Exports;
pub use files::{is_published, publish};
pub use ports::Ports;
pub use shared::propose_now;
pub use tune::{BlamedFile, Diff, blamed_files, context, edit_diff, tree_dangers, tree_diff};
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

/// The reason why an answer cannot be read: an agent's fault, which is recorded, or our own, which ends the run.
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

/// The part of the engine that differs between loops.
pub trait LoopEngine: Loop {
    /// Reads the output of an agent that has answered.
    fn read(
        services: &Services,
        request: &AgentRequest<Self>,
        output: &AgentOutput<'_>,
    ) -> Result<Self::Answer, ReadError>;

    /// The versions that a step edits, if it makes an edit. The trees of its answer must add no key to them.
    fn base(request: &AgentRequest<Self>) -> Option<Vec<TreeId>> {
        request.as_ref().draft().map(|copy| vec![copy.tree])
    }

    /// Returns the trees that the reader of an answer needs besides those that are placed.
    fn also_reads(_: &AgentRequest<Self>) -> Vec<TreeId> {
        Vec::new()
    }

    /// Returns what the calls of one pair have in common: a comparison makes both on the same machine.
    fn pair(_: &Self::Step) -> Option<Digest> {
        None
    }

    /// Examines the answer of a worker: what can be looked up or computed is, by the rules of `read`.
    fn examined(
        _: &Services,
        request: &AgentRequest<Self>,
        answer: Self::Answer,
    ) -> Result<Self::Answer, ReadError> {
        request.check(&answer)?;
        Ok(answer)
    }

    /// Reads the outcome of a local command that decides no check.
    fn ran(
        _: &Services,
        _request: &AgentRequest<Self>,
        _: &CommandOutput<'_>,
    ) -> Result<Self::Answer, ReadError> {
        Err(Failure::new(FailureKind::UsageError, "this step runs no command").into())
    }

    /// Runs the machine checks of a step that consists of them.
    fn machine_checks(
        _: &Objects,
        _: &Run<Self>,
        _: &Self::Step,
    ) -> Result<Option<Self::Answer>, EngineError> {
        Ok(None)
    }

    /// Whether a decision changes the files of a run, so that they are written at once.
    fn changes_files(_: &Self::Decision) -> bool {
        true
    }

    /// Writes the files that programs and people expect at a fixed path: artifacts, projections.
    fn project(
        objects: &Objects,
        folder: &RunFolder,
        run: &Run<Self>,
        extent: Extent,
    ) -> Result<(), EngineError>;

    /// Whether the projected files exist, if others can remove them.
    fn is_projected(_: &Run<Self>) -> bool {
        true
    }

    /// Returns the text of the state file.
    fn state(run: &Run<Self>) -> String;
}

/// The output of an agent that has answered.
#[derive(Clone, Copy, Debug)]
pub struct AgentOutput<'a> {
    pub space: &'a Path,
    pub answer: &'a str,
    /// The tools that the agent was denied.
    pub denied: &'a [String],
    pub talk: Option<&'a Talk>,
    pub spent: &'a Spent,
    /// The draft as the agent got it, if a setup command ran before.
    pub after_setup: Option<&'a Manifest>,
    /// Whether our own files were hidden from the agent.
    pub is_hidden: bool,
}

/// The outcome of a local command.
#[derive(Clone, Copy, Debug)]
pub struct CommandOutput<'a> {
    pub how: &'a How,
    /// The command's timeout.
    pub seconds: u64,
    pub stdout: &'a str,
    pub stderr: &'a str,
    /// The command's workspace, as the command left it.
    pub space: &'a Path,
}

/// The outcome of a local step.
enum LocalOutcome<A> {
    Done(A),
    /// The step waits for a person who is not there.
    Held,
    Work(Work<A>),
}

/// The programs of a local step, which may run long. They end when the run stops; then there is no answer, and the step
/// runs again when the run resumes.
type Work<A> = Box<dyn FnOnce(&CancelToken) -> Result<Option<A>, EngineError> + Send>;

/// Which of a run's files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The files of the newest round.
    Newest,
    All,
}

impl Extent {
    /// Returns the rounds whose files are written.
    pub fn of<T>(self, rounds: &[T]) -> &[T] {
        match self {
            Self::Newest => &rounds[rounds.len().saturating_sub(1)..],
            Self::All => rounds,
        }
    }
}

/// Follows a run while it happens.
pub trait Observer<L: Loop> {
    /// Writes the pages and reports. The engine calls this before the barrier at the end of a run or a pause.
    fn write_pages(&mut self, services: &Services, run: &Run<L>, extent: Extent) -> Result<(), EngineError>;
    /// Called after a record was written and applied.
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>);
    fn began(&mut self, run: &Run<L>, step: &L::Step);
    fn ended(&mut self, run: &Run<L>, step: &L::Step);
}

/// The person who answers questions.
pub trait Person<L: Loop> {
    /// Returns the answer to a step that asks, or none if no person is there: then the run waits.
    fn ask(&mut self, run: &Run<L>, step: &L::Step) -> Option<L::Answer>;
}

/// Checks that the files that calls run are still the trusted ones.
pub trait Guard: std::fmt::Debug + Send + Sync {
    /// Returns the first file that changed since it was trusted.
    fn changed_file(&self) -> Option<PathBuf>;
}

/// The resources and settings of the engine.
#[derive(Debug)]
pub struct Context {
    pub services: Arc<Services>,
    pub journal: Journal,
    pub locks: Locks,
    pub lock: TargetLock,
    pub indexes: Indexes,
    pub jobs: usize,
    /// The most calls at a time of each agent that has such a limit.
    pub at_once: BTreeMap<String, usize>,
    pub patience: Patience,
}

/// Everything that agent calls need, in any loop.
#[derive(Debug)]
pub struct Services {
    pub objects: Objects,
    pub folder: RunFolder,
    /// The answers of all runs of the project.
    pub cache: AnswerCache,
    /// The models that answer now, of the roles for which they are known: cached answers of others are outdated.
    pub models: BTreeMap<Role, ModelName>,
    /// The folder of this run's workspaces, outside of any project.
    pub work: SafePath,
    /// Our folders, with all files of all runs: of the project, and of the user's workspaces.
    pub own: Vec<PathBuf>,
    pub cast: CastAgents,
    pub pool: GuardianPool,
    pub limits: CallLimits,
    /// The keys that the run's agents get.
    pub keys: Keys,
    /// The prices of the models whose agents report tokens but no cost.
    pub prices: Prices,
    /// The workers that make the calls; without any, this machine makes them.
    pub workers: Workers,
    /// The folder of calls that another scheduler makes.
    pub exports: Option<Exports>,
    /// The installed git, if any.
    pub git: Option<Program>,
    /// The caches of build tools in `work`.
    pub caches: Caches,
    /// The ports of programs that are running.
    pub ports: Ports,
    /// Checked before each call starts.
    pub guard: Option<Box<dyn Guard>>,
}

pub type CastAgents = ByRole<Agent>;

#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// The most that is kept of each output stream of an agent.
    pub output_bytes: u64,
    /// The most that an agent may leave in its workspace.
    pub artifacts: Limits,
    /// The time between a request to end and the kill of a child process.
    pub grace: std::time::Duration,
}
