//! The facts about `tune` that the program needs.

use std::path::PathBuf;

use serde_json::Value;
use skilltune_orchestrator::engine::{EngineError, Extent};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::tune::{Aim, Answer, Decision, Plan, Run, Step, Tune};

use crate::loops::tune::report::{
    calibrating, cases, comparing, contexts, final_report, history, json, without_skill,
};
use crate::loops::tune::summary::{progress, summary};
use crate::loops::tune::{report, words};
use crate::report::document::Report;
use crate::report::summary::Summary;
use crate::report::ui::Ui;
use crate::terminal::exit::Exit;

impl Ui for Tune {
    const START: &'static str = "skilltune tune SKILL";

    fn cases(run: &Run, objects: &Objects) -> Vec<Value> {
        cases::cases(run, objects)
    }

    fn write_files(
        objects: &Objects,
        folder: &RunFolder,
        run: &Run,
        extent: Extent,
    ) -> Result<(), EngineError> {
        report::write(objects, folder, run, extent)
    }

    fn targets(plan: &Plan) -> Vec<PathBuf> {
        plan.task.target.members.iter().map(|member| PathBuf::from(&member.path)).collect()
    }

    /// Returns whether agents may still be called: after the final comparison, only the user's answer and the
    /// replacement of the target are left.
    fn may_call(run: &Run) -> bool {
        run.state.shipment.is_none()
    }

    fn exit(run: &Run) -> Exit {
        run.class().into()
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
        let is_end = run.plan.task.searches() && run.state.stopped.is_some();
        if is_end { "end".to_owned() } else { progress(run) }
    }

    fn resumed_at(run: &Run) -> String {
        if !run.plan.task.searches() {
            return format!(", {} done", progress(run));
        }
        let place = match run.round_number() {
            0 => String::new(),
            _ if run.state.stopped.is_some() => ", after the search".to_owned(),
            round => format!(" in round {round}"),
        };
        let best = run.best().map_or(String::new(), |(_, score)| format!(", best so far {score}"));
        place + &best
    }

    fn summary(run: &Run, _: Option<&Objects>) -> Summary {
        summary(run)
    }

    fn report(run: &Run, objects: &Objects) -> Report {
        match &run.plan.task.aim {
            Aim::Improve => {
                let mut report = final_report::report(run);
                report.tail.extend(contexts::section(objects, run));
                report
            }
            Aim::Try { trials } => without_skill::report(run, *trials),
            Aim::Calibrate { trials } => calibrating::report(run, *trials),
            Aim::Compare(two) => comparing::report(run, two),
        }
    }

    fn details(run: &Run, objects: &Objects) -> [Value; 2] {
        json::details(run, objects)
    }
}
