//! The files that a run leaves in its folder for people and scripts.

use skilltune_orchestrator::engine::{EngineError, Extent};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::base;
use skilltune_phases::runs::run::Run;

use crate::report::ui::Ui;
use crate::report::{html, json, page, replace};

/// Writes all files of a run, and at its end its report.
pub fn write<L: Ui>(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run<L>,
    extent: Extent,
) -> Result<(), EngineError> {
    L::write_files(objects, folder, run, extent)?;
    if run.closed_at.is_some() && extent == Extent::All {
        replace(&folder.report(), &page::page(run, objects))?;
        let report = json::report(run, objects);
        // Before `report.json`, which says that all of them are there; it is written also if they cannot be.
        let pages = html::write(objects, folder, run, &report);
        replace(&folder.report_json(), &base::json::page(&report))?;
        pages?;
    }
    Ok(())
}
