//! The facts about `reflex` that the program needs.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skilltune_orchestrator::engine::{EngineError, Extent};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::loops::reflex::{Answer, Decision, Plan, Reflex, Run, Step, Task};
use skilltune_phases::runs::plan::RunId;

use crate::loops::reflex::progress::shelf::on_disk;
use crate::loops::reflex::report::json::details;
use crate::loops::reflex::report::page::report;
use crate::loops::reflex::report::{history, words};
use crate::loops::reflex::rules_file;
use crate::loops::reflex::summary::summary;
use crate::report::document::Report;
use crate::report::replace;
use crate::report::summary::Summary;
use crate::report::ui::Ui;
use crate::terminal::exit::Exit;

impl Ui for Reflex {
    const START: &'static str = "skilltune reflex TASK";

    fn is_named(id: &RunId, name: &str) -> bool {
        Alias::of_run(id.as_str()).is_some_and(|alias| alias.as_str() == name)
    }

    /// Writes its rules for another run.
    fn write_files(_: &Objects, folder: &RunFolder, run: &Run, _: Extent) -> Result<(), EngineError> {
        if run.closed_at.is_some() {
            replace(&folder.place().join("rules.json"), &rules_file::written(&run.plan.task.criteria))?;
        }
        Ok(())
    }

    fn command_seconds(plan: &Plan) -> u64 {
        plan.task.rules.check_seconds
    }

    fn targets(plan: &Plan) -> Vec<PathBuf> {
        let Task { project, evolution, alias, .. } = &plan.task;
        vec![Path::new(project).join(evolution).join(alias)]
    }

    fn may_call(run: &Run) -> bool {
        run.closed_at.is_none()
    }

    fn exit(run: &Run) -> Exit {
        run.class().into()
    }

    fn ended_as(run: &Run) -> &'static str {
        // In the original's words.
        run.status().word()
    }

    fn step(run: &Run, step: &Step) -> String {
        words::step(run, step)
    }

    fn answered(answer: &Answer) -> String {
        history::answered(answer)
    }

    fn decided(_: &Run, decision: &Decision) -> String {
        history::decided(decision)
    }

    fn place(run: &Run) -> String {
        format!("iteration {}, level {}", run.state.iteration, run.state.level)
    }

    fn resumed_at(run: &Run) -> String {
        let best = run.best().and_then(|best| best.evaluation.score.map(|score| (score, best)));
        let best = best.map_or(String::new(), |(score, best)| {
            format!(", best so far {score} at level {}", best.evaluation.level)
        });
        format!(" in iteration {}, level {}{best}", run.state.iteration, run.state.level)
    }

    fn summary(run: &Run, objects: Option<&Objects>) -> Summary {
        summary(run, objects.and_then(|objects| on_disk(run, objects)).as_deref())
    }

    fn report(run: &Run, _: &Objects) -> Report {
        report(run)
    }

    fn details(run: &Run, _: &Objects) -> [Value; 2] {
        [Value::Null, details(run)]
    }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::reflex::Step;
    use skilltune_phases::runs::event::FailureKind;

    use super::*;
    use crate::loops::reflex::world::{ONLY_WARNINGS, TO_THE_THRESHOLD, missing, plan};
    use crate::loops::tune::world::{Play, failed, play};

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
