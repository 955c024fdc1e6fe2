//! The reports of a run of `tune` for people.

pub mod calibrating;
pub mod changes;
pub mod comparing;
mod contexts;
pub mod evaluation;
pub mod final_report;
pub mod json;
pub mod junit;
pub mod troubles;
pub mod uses;
pub mod viewer;
pub mod without_skill;

use serde_json::Value;
use skilltune_orchestrator::engine::{EngineError, Extent, edit_diff};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::tune::{Aim, Run};

use crate::report::{replace, write_reports};

pub use changes::{Diff, changes};
pub use evaluation::evaluation;
pub use final_report::final_report;

/// Returns the report of a run with any aim.
pub fn whole(objects: &Objects, run: &Run) -> String {
    match run.plan.task.aim {
        Aim::Improve => {
            let contexts =
                contexts::section(objects, run).map_or(String::new(), |section| format!("\n{section}"));
            final_report(run) + &contexts
        }
        Aim::Try { .. } => without_skill::page(run),
        Aim::Calibrate { .. } => calibrating::page(run),
        Aim::Compare(_) => comparing::page(run),
    }
}

/// Returns the same report for scripts.
pub fn whole_json(objects: &Objects, run: &Run) -> Value {
    let mut report = json::report(run);
    report["context"] = contexts::json(objects, run);
    report
}

/// Writes the pages of the rounds, and at the end of a run its reports.
pub fn write(objects: &Objects, folder: &RunFolder, run: &Run, extent: Extent) -> Result<(), EngineError> {
    for round in extent.of(&run.state.rounds).iter().filter(|round| round.measured.is_some()) {
        let (place, number) = (folder.iteration(round.number), round.number);
        place.make()?;
        replace(&place.join(format!("iteration-{number}-eval.md")), &evaluation(run, round))?;
        if round.edit.is_some() {
            let diff = edit_diff(objects, run, round)?;
            let page = changes(run, round, &Diff { files: &diff.files, unified: &diff.unified });
            replace(&place.join(format!("iteration-{number}-changes.md")), &page)?;
        }
    }
    if extent == Extent::All && run.closed_at.is_some() {
        if !without_skill::is_one(run) && !calibrating::is_one(run) {
            replace(&folder.junit(), &junit::junit(run))?;
            viewer::write(objects, &folder.viewer(), run)?;
        }
        write_reports(folder, &whole(objects, run), &whole_json(objects, run))?;
    }
    Ok(())
}
