//! Reports of a run for people and scripts: pure renderings of its state, as Markdown and JSON.
//!
//! A loop gives a `summary` and a `document` as data, and `page` and `json` render them. Text from models and files is
//! data here: `plain` and `markdown` make it harmless before it goes into a page. Only `files` and `replace` touch
//! the disk: they write pages into the folder of a run.

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::engine::EngineError;

pub mod advice;
pub mod ceilings;
pub mod costs;
pub mod document;
pub mod estimate;
pub mod files;
pub mod html;
pub mod journal;
pub mod json;
pub mod list;
pub mod machines;
pub mod outcome;
pub mod page;
pub mod summary;
pub mod ui;
pub mod words;

#[track_caller]
pub fn replace(path: &SafePath, text: &str) -> Result<(), EngineError> {
    Ok(path.replace(text.as_bytes(), Durability::Order)?)
}
