//! The reports of a run of `tune` for people.

pub mod calibrating;
pub mod cases;
pub mod changes;
pub mod comparing;
pub mod contexts;
pub mod evaluation;
pub mod final_report;
pub mod history;
pub mod json;
pub mod junit;
pub mod trial_results;
pub mod troubles;
pub mod uses;
pub mod viewer;
pub mod without_skill;

use skilltune_orchestrator::engine::{EngineError, Extent, edit_diff};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::tune::Run;

use crate::report::replace;

pub use changes::{Diff, changes};
pub use evaluation::evaluation;
#[cfg(test)]
pub use final_report::final_report;

/// Writes the pages of the rounds, and at the end of a run the files for other programs.
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
    let has_cases = run.plan.task.searches() || run.plan.task.aim.sides().is_some();
    if has_cases && extent == Extent::All && run.closed_at.is_some() {
        replace(&folder.junit(), &junit::junit(run))?;
        viewer::write(objects, &folder.viewer(), run)?;
    }
    Ok(())
}
