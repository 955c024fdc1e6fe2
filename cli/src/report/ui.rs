//! The interface of a loop to the command line, so that its runs are found, locked, driven and reported like all
//! others.

use std::path::PathBuf;

use serde_json::Value;
use skilltune_orchestrator::engine::{EngineError, Extent, LoopEngine};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::runs::plan::{Plan, RunId};
use skilltune_phases::runs::run::Run;
use skilltune_phases::skills::candidate::Candidate;

use crate::report::document::Report;
use crate::report::summary::Summary;
use crate::terminal::exit::Exit;

pub(crate) use skilltune_phases::with_loop;

pub trait Ui: LoopEngine {
    /// The command that starts a run of this loop.
    const START: &'static str;
    /// The word for what a run writes to.
    const TARGET: &'static str = "skill";

    /// Returns true if a run has this name besides its id.
    fn is_named(_: &RunId, _: &str) -> bool {
        false
    }

    /// Returns the final report, or the progress so far.
    fn report(run: &Run<Self>, objects: &Objects) -> Report;

    /// Returns the keys that only `report.json` has: the first ones, and those at its end.
    fn details(run: &Run<Self>, objects: &Objects) -> [Value; 2];

    /// Returns what each scenario did, with texts, for the pages in `data/`.
    fn cases(_: &Run<Self>, _: &Objects) -> Vec<Value> {
        Vec::new()
    }

    /// Writes the files of a run into its folder, besides its report.
    fn write_files(_: &Objects, _: &RunFolder, _: &Run<Self>, _: Extent) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns the folders that a run may write; they are locked while it is active.
    fn targets(plan: &Plan<Self>) -> Vec<PathBuf>;

    /// Names a version that a command replaced.
    fn displaced(from: &[TreeId]) -> String {
        Candidate::original(from.to_vec()).id.short()
    }

    /// Returns the longest time in seconds that a command of the run may take.
    fn command_seconds(_: &Plan<Self>) -> u64 {
        0
    }

    /// Returns texts that no answer, prompt or page may repeat, besides the keys of the agents.
    fn secrets(_: &Plan<Self>, _: &Objects) -> Vec<String> {
        Vec::new()
    }

    /// Returns folders that programs of calls may find empty, besides our own: they hold what those must not know.
    fn hidden(_: &Plan<Self>) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns true if a resumed run may still call an agent.
    fn may_call(run: &Run<Self>) -> bool;

    /// Returns the exit code for a run that has ended or paused.
    fn exit(run: &Run<Self>) -> Exit;

    /// Returns in one word how an ended run ended: completed, stopped before its goal, or failed.
    fn ended_as(run: &Run<Self>) -> &'static str {
        if Self::exit(run) == Exit::Unjudged { "failed" } else { "completed" }
    }

    /// Describes the action of a step and its object.
    fn step(run: &Run<Self>, step: &Self::Step) -> String;

    /// Describes an answer, after the words for its step.
    fn answered(answer: &Self::Answer) -> String;

    /// Describes a decision; `run` is the state after it.
    fn decided(run: &Run<Self>, decision: &Self::Decision) -> String;

    /// Describes the position of the run while something is active, such as `round 2`.
    fn place(run: &Run<Self>) -> String;

    /// Describes where a run resumes: the text after `resumed`.
    fn resumed_at(run: &Run<Self>) -> String;

    /// Describes the run in short. With `objects`, it also reads files beside the run.
    fn summary(run: &Run<Self>, objects: Option<&Objects>) -> Summary;
}
