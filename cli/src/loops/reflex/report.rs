//! What a run of `reflex` leaves for people and scripts to read, and how it is told while it goes on.

pub mod advice;
pub mod changes;
pub mod history;
pub mod json;
pub mod page;
pub mod status;
pub mod words;

use skilltune_orchestrator::engine::EngineError;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::loops::reflex::Run;

use crate::report::write_reports;

pub use crate::loops::reflex::report::history::event;
pub use crate::loops::reflex::report::page::report;
pub use crate::loops::reflex::report::status::{facts, result};

/// Writes the reports of a run that has ended.
pub fn write(folder: &RunFolder, run: &Run) -> Result<(), EngineError> {
    match run.closed_at {
        Some(_) => write_reports(folder, &page::report(run), &json::report(run)),
        None => Ok(()),
    }
}
