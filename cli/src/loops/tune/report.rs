//! What a run of `tune` leaves for people to read.

pub mod changes;
pub mod evaluation;
pub mod final_report;
pub mod json;
pub mod troubles;
pub mod uses;

use skilltune_orchestrator::engine::Pages;

pub use changes::{Diff, changes};
pub use evaluation::evaluation;
pub use final_report::final_report;

/// How the engine has a run's pages worded.
pub const PAGES: Pages = Pages {
    evaluation,
    changes: |run, round, diff| changes(run, round, &Diff { files: &diff.files, unified: &diff.unified }),
    report: final_report,
    report_json: |run| format!("{:#}\n", json::report(run)),
};
