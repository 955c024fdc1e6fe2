//! The reports of a run of `reflex` for people and scripts, and its output while it runs.

pub mod advice;
pub mod changes;
pub mod history;
pub mod json;
pub mod page;
pub mod words;

use skilltune_orchestrator::engine::EngineError;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::reflex::Run;

use crate::loops::reflex::rules_file;
use crate::report::{replace, write_reports};

pub use crate::loops::reflex::report::history::event;
pub use crate::loops::reflex::report::page::report;

/// Writes the reports of a run that has ended, and its rules for another run.
pub fn write(folder: &RunFolder, run: &Run) -> Result<(), EngineError> {
    if run.closed_at.is_none() {
        return Ok(());
    }
    replace(&folder.place().join("rules.json"), &rules_file::written(&run.plan.task.criteria))?;
    write_reports(folder, &page::report(run), &json::report(run))
}
