//! The facts about `gan` that the program needs.

use std::path::PathBuf;

use serde_json::Value;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::gan::{Answer, Decision, Ended, Gan, Plan, Run, Step};

use crate::loops::gan::report::json::details;
use crate::loops::gan::report::page::report;
use crate::loops::gan::report::{history, words};
use crate::loops::gan::summary::summary;
use crate::report::document::Report;
use crate::report::summary::Summary;
use crate::report::ui::Ui;
use crate::terminal::exit::Exit;

impl Ui for Gan {
    const START: &'static str = "skilltune gan BRIEF.md";
    const TARGET: &'static str = "folder";

    /// A version of gan is one tree, and is named by it.
    fn displaced(from: &[TreeId]) -> String {
        from.first().map_or_else(String::new, TreeId::short)
    }

    fn command_seconds(plan: &Plan) -> u64 {
        plan.task.browser.as_ref().map_or(0, |browser| browser.seconds)
    }

    fn targets(plan: &Plan) -> Vec<PathBuf> {
        // A run without a destination writes only its own folder.
        vec![PathBuf::from(plan.task.into.as_ref().unwrap_or(&plan.folder))]
    }

    fn may_call(run: &Run) -> bool {
        run.state.end.is_none()
    }

    fn exit(run: &Run) -> Exit {
        run.class().into()
    }

    fn ended_as(run: &Run) -> &'static str {
        match run.outcome() {
            Ended::Passed | Ended::Forced | Ended::Accepted => "completed",
            Ended::Short | Ended::Aborted | Ended::Held | Ended::Paused => "stopped",
            Ended::Unjudged => "failed",
        }
    }

    fn step(run: &Run, step: &Step) -> String {
        words::step(run, step)
    }

    fn answered(answer: &Answer) -> String {
        history::answered(answer)
    }

    fn decided(run: &Run, decision: &Decision) -> String {
        history::decided(run, decision)
    }

    fn place(run: &Run) -> String {
        words::place(run)
    }

    fn resumed_at(run: &Run) -> String {
        let best =
            run.best().map_or(String::new(), |best| format!(", best so far {}", best.evaluation().score));
        format!(" in {}{best}", words::place(run))
    }

    fn summary(run: &Run, _: Option<&Objects>) -> Summary {
        summary(run)
    }

    fn report(run: &Run, _: &Objects) -> Report {
        report(run)
    }

    fn details(run: &Run, objects: &Objects) -> [Value; 2] {
        [Value::Null, details(run, objects)]
    }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::runs::event::FailureKind;
    use skilltune_worlds::drive::failed;
    use skilltune_worlds::gan::{Drive, everything, held, into_folder, nothing, plan, play_with};

    use super::*;

    #[test]
    fn only_a_pass_is_a_goal_that_was_reached() {
        let exit = |drive: &Drive| Gan::exit(&drive.run);
        assert_eq!(exit(&play_with(plan(), &everything, |_, _| None)), Exit::Reached);
        assert_eq!(exit(&play_with(plan(), &nothing, |_, _| None)), Exit::Ended);
        assert_eq!(exit(&held(plan(), &nothing)), Exit::Ended);
        let mute = play_with(plan(), &nothing, |_, _| Some(failed(FailureKind::Empty)));
        assert_eq!(exit(&mute), Exit::Unjudged);
        let passed = play_with(plan(), &everything, |_, _| None);
        let short = play_with(plan(), &nothing, |_, _| None);
        let words = [&passed, &short, &mute].map(|drive| Gan::ended_as(&drive.run));
        assert_eq!(words, ["completed", "stopped", "failed"]);
    }

    #[test]
    fn a_run_of_gan_writes_its_folder_if_it_has_one_and_else_its_own() {
        assert_eq!(Gan::targets(&into_folder(plan())), [PathBuf::from("/project/site")]);
        let own = PathBuf::from("/project/.skilltune/runs/pump-20261121-213000");
        assert_eq!(Gan::targets(&plan()), [own]);
    }
}
