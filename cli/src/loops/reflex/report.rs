//! The reports of a run of `reflex` for people and scripts, and its output while it runs.

pub mod advice;
pub mod changes;
pub mod history;
pub mod json;
pub mod page;
pub mod words;
