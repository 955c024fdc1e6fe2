//! Reports of a run for people and scripts: pure renderings of its state, as Markdown and JSON.
//!
//! Text from models and files is data here: `plain` and `markdown` make it harmless before it goes into a page. Only
//! `write_reports` and `replace` touch the disk: they write pages into the folder of a run.

use serde_json::Value;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::engine::EngineError;
use skilltune_orchestrator::store::RunFolder;

pub mod advice;
pub mod ceilings;
pub mod costs;
pub mod estimate;
pub mod journal;
pub mod json;
pub mod summary;
pub mod ui;
pub mod words;

/// Writes the reports of an ended run.
pub fn write_reports(folder: &RunFolder, page: &str, json: &Value) -> Result<(), EngineError> {
    replace(&folder.report(), page)?;
    replace(&folder.report_json(), &skilltune_phases::base::json::page(json))
}

#[track_caller]
pub fn replace(path: &SafePath, text: &str) -> Result<(), EngineError> {
    Ok(path.replace(text.as_bytes(), Durability::Order)?)
}
