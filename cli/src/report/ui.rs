//! What the program has to know of a loop, so that its runs are found, locked, driven, told of and left like any others.

use std::path::PathBuf;

use serde_json::Value;
use skilltune_orchestrator::engine::{EngineError, Extent, LoopEngine};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::plan::{Plan, RunId};
use skilltune_phases::run::Run;

use crate::terminal::exit::Exit;

/// What follows, for the loop of this kind: `with_loop!(kind, L => load::<L>())`.
macro_rules! with_loop {
    ([$kind:expr, $L:ident => $what:expr] $($loop:ident in $module:ident,)*) => {
        match $kind {
            $(skilltune_phases::plan::LoopKind::$loop => {
                type $L = skilltune_phases::loops::$module::$loop;
                $what
            })*
        }
    };
    ($kind:expr, $L:ident => $what:expr) => {
        skilltune_phases::all_loops!(with_loop $kind, $L => $what)
    };
}

pub(crate) use with_loop;

pub trait Ui: LoopEngine {
    /// The command that begins a run of it.
    const START: &'static str;

    /// Whether a run has this name, beside its id.
    fn is_named(_: &RunId, _: &str) -> bool {
        false
    }

    /// Writes the pages and reports of a run into its folder.
    fn write_pages(
        objects: &Objects,
        folder: &RunFolder,
        run: &Run<Self>,
        extent: Extent,
    ) -> Result<(), EngineError>;

    /// The folders that a run may write, locked while it is under way.
    fn targets(plan: &Plan<Self>) -> Vec<PathBuf>;

    /// The most seconds that a command of its own may take.
    fn command_seconds(_: &Plan<Self>) -> u64 {
        0
    }

    /// Whether a run that is taken up may still call an agent.
    fn may_call(run: &Run<Self>) -> bool;

    /// How a run that is over, or was left, ends the program.
    fn exit(run: &Run<Self>) -> Exit;

    /// What a step does, and to what.
    fn step(run: &Run<Self>, step: &Self::Step) -> String;

    /// Where the run is while something is under way, such as `round 2`.
    fn place(run: &Run<Self>) -> String;

    /// Where a run stands that is taken up again: what follows those words.
    fn resumed_at(run: &Run<Self>) -> String;

    /// The run as one object for scripts.
    fn summary(run: &Run<Self>) -> Value;
}
