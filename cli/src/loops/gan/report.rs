//! The reports of a run of `gan` for people and scripts, and its output while it runs.

pub mod history;
pub mod json;
pub mod page;
pub mod words;
