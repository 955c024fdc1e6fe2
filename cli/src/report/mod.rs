//! What a run leaves for people and scripts to read: pure renderings of its state, as Markdown and JSON.
//!
//! Words of models and files are data here: they are made harmless in `plain` and `markdown` before they stand in a
//! page. Nothing here opens a file; whoever calls writes the text where it belongs.

pub mod advice;
pub mod costs;
pub mod journal;
pub mod json;
pub mod ui;
pub mod words;
