//! What a run leaves for people and scripts to read: pure renderings of its state, as Markdown and JSON.
//!
//! Words of models and files are data here: they are made harmless in `plain` and `markdown` before they stand in a
//! page. Nothing here opens a file; whoever calls writes the text where it belongs.

use skilltune_orchestrator::engine::Pages;

pub(crate) mod advice;
mod changes;
mod evaluation;
pub(crate) mod figures;
mod final_report;
pub(crate) mod journal;
pub(crate) mod json;
mod markdown;
pub(crate) mod plain;
pub(crate) mod reflex;
pub(crate) mod troubles;
pub(crate) mod uses;
pub(crate) mod worded;
pub(crate) mod words;
#[cfg(test)]
pub(crate) mod world;

pub(crate) use changes::{Diff, changes};
pub(crate) use evaluation::evaluation;
pub(crate) use final_report::final_report;

/// How the engine has a run's pages worded.
pub(crate) const PAGES: Pages = Pages {
    evaluation,
    changes: |run, round, diff| changes(run, round, &Diff { files: &diff.files, unified: &diff.unified }),
    report: final_report,
    report_json: |run| format!("{:#}\n", json::report(run)),
};
