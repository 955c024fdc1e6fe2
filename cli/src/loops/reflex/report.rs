//! What a run of `reflex` leaves for people and scripts to read, and how it is told while it goes on.

pub mod advice;
pub mod changes;
pub mod history;
pub mod json;
pub mod page;
pub mod status;
pub mod words;

use skilltune_orchestrator::engine::reflex::Pages;

pub use crate::loops::reflex::report::history::event;
pub use crate::loops::reflex::report::page::report;
pub use crate::loops::reflex::report::status::{facts, result};

/// How the engine has a run's pages worded.
pub const PAGES: Pages =
    Pages { report: page::report, report_json: |run| format!("{:#}\n", json::report(run)) };
