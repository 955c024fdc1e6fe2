//! What a run of `tune` leaves for people to read.

pub mod changes;
pub mod evaluation;
pub mod final_report;
pub mod json;
pub mod troubles;
pub mod uses;

use skilltune_orchestrator::engine::{EngineError, Extent, edit_diff};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::tune::Run;

use crate::report::{replace, write_reports};

pub use changes::{Diff, changes};
pub use evaluation::evaluation;
pub use final_report::final_report;

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
        write_reports(folder, &final_report(run), &json::report(run))?;
    }
    Ok(())
}
