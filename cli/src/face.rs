//! What a person's side has to know of a loop, so that its runs are found, locked, driven and left like any others.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::engine::LoopEngine;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::loops::reflex::{self, Reflex};
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::plan::{Plan, RunId};
use skilltune_phases::run::Run;

use crate::exit::Exit;
use crate::report;
use crate::report::worded::Worded;

/// What follows, for the loop of this kind: `with_loop!(kind, L => load::<L>())`. The one list of all loops.
macro_rules! with_loop {
    ($kind:expr, $L:ident => $what:expr) => {
        match $kind {
            skilltune_phases::plan::LoopKind::Tune => {
                type $L = skilltune_phases::loops::tune::Tune;
                $what
            }
            skilltune_phases::plan::LoopKind::Reflex => {
                type $L = skilltune_phases::loops::reflex::Reflex;
                $what
            }
        }
    };
}

pub(crate) use with_loop;

pub trait Face: LoopEngine + Worded {
    /// How its pages are worded.
    const PAGES: Self::Pages;
    /// What begins a run of it.
    const START: &'static str;

    /// Whether a run has this name, beside its id.
    fn is_named(_: &RunId, _: &str) -> bool {
        false
    }

    /// The folders that a run may write, locked while it is under way.
    fn targets(plan: &Plan<Self>) -> Vec<PathBuf>;

    /// Whether a run that is taken up may still call an agent.
    fn may_call(run: &Run<Self>) -> bool;

    /// How a run that is over, or was left, ends the program.
    fn exit(run: &Run<Self>) -> Exit;
}

impl Face for Tune {
    const PAGES: Self::Pages = report::PAGES;
    const START: &'static str = "skilltune tune SKILL";

    fn targets(plan: &Plan<Self>) -> Vec<PathBuf> {
        plan.task.target.members.iter().map(|member| PathBuf::from(&member.path)).collect()
    }

    /// When the final comparison is decided, all that is left is a person's word and the target's replacement.
    fn may_call(run: &Run<Self>) -> bool {
        run.course.shipment.is_none()
    }

    fn exit(run: &Run<Self>) -> Exit {
        run.class().into()
    }
}

impl Face for Reflex {
    const PAGES: Self::Pages = report::reflex::PAGES;
    const START: &'static str = "skilltune reflex new TASK";

    fn is_named(id: &RunId, name: &str) -> bool {
        Alias::of_run(id.as_str()).is_some_and(|alias| alias.as_str() == name)
    }

    fn targets(plan: &Plan<Self>) -> Vec<PathBuf> {
        let reflex::Task { project, evolution, alias, .. } = &plan.task;
        vec![Path::new(project).join(evolution).join(alias)]
    }

    fn may_call(run: &Run<Self>) -> bool {
        run.closed_at.is_none()
    }

    fn exit(run: &Run<Self>) -> Exit {
        run.class().into()
    }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::event::FailureKind;
    use skilltune_phases::loops::reflex::Step;

    use super::*;
    use crate::report::reflex::world::{ONLY_WARNINGS, Play, TO_THE_THRESHOLD, failed, missing, plan, play};

    #[test]
    fn only_a_passed_level_b_is_a_goal_that_was_reached() {
        let exit = |play: &Play<Reflex>| Reflex::exit(&play.run);
        assert_eq!(exit(&play(plan(), missing(TO_THE_THRESHOLD))), Exit::Reached);
        assert_eq!(exit(&play(plan(), missing(ONLY_WARNINGS))), Exit::Ended);
        assert_eq!(exit(&Play::begin(plan())), Exit::Ended);
        let mute = |_: &_, _: &Step| failed(FailureKind::Empty, "");
        assert_eq!(exit(&play(plan(), mute)), Exit::Unjudged);
    }

    #[test]
    fn a_run_of_reflex_writes_the_folder_of_its_task_and_no_other() {
        assert_eq!(Reflex::targets(&plan()), [PathBuf::from("/p/.ai-factory/evolution/courses-api")]);
    }
}
