//! What a person's side has to know of a loop, so that its runs are found, locked, driven and left like any others.

use std::path::PathBuf;

use skilltune_orchestrator::engine::Craft;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::plan::Plan;
use skilltune_phases::run::Run;

use crate::exit::Exit;
use crate::report;

pub trait Face: Craft {
    /// How its pages are worded.
    const PAGES: Self::Pages;
    /// What begins a run of it.
    const START: &'static str;

    /// The folders that a run may write, locked while it is under way.
    fn targets(plan: &Plan<Self>) -> Vec<PathBuf>;

    /// How a run that is over, or was left, ends the program.
    fn exit(run: &Run<Self>) -> Exit;
}

impl Face for Tune {
    const PAGES: Self::Pages = report::PAGES;
    const START: &'static str = "skilltune tune SKILL";

    fn targets(plan: &Plan<Self>) -> Vec<PathBuf> {
        plan.task.target.members.iter().map(|member| PathBuf::from(&member.path)).collect()
    }

    fn exit(run: &Run<Self>) -> Exit {
        run.class().into()
    }
}
