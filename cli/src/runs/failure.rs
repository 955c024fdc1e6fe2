//! Reports an internal error of a run to scripts: with `--format json` the last output on stdout is always one object.

use serde_json::{Value, json};
use skilltune_orchestrator::store::{self, Home};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::runs::run::Run;

use crate::report::json;
use crate::report::ui::Ui;
use crate::settings::values::{Format, Streamed};
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::printer::Printer;

/// The outcome and the reason of a failed run, besides those of ended runs.
const ERROR: &str = "error";

/// Passes the result on. Writes an internal error as JSON for scripts; the caller reports it to people.
pub fn report<L: Ui, T>(
    went: Result<T, Complaint>,
    format: Streamed,
    home: &Home,
    id: &RunId,
    printer: Printer,
) -> Result<T, Complaint> {
    match (&went, format) {
        (Err(complaint), Streamed::Json | Streamed::Jsonl) if complaint.kind == ErrorKind::Ours => {
            // If this write fails, that error is reported instead or in addition.
            let _ = printer.json(&object::<L>(home, id, complaint));
        }
        (Ok(_) | Err(_), _) => {}
    }
    went
}

/// Passes the result of a command on a run on. Writes an internal error as JSON for scripts.
pub fn of_command<T>(went: Result<T, Complaint>, format: Format, printer: Printer) -> Result<T, Complaint> {
    match (&went, format) {
        (Err(complaint), Format::Json) if complaint.kind == ErrorKind::Ours => {
            // If this write fails, that error is reported instead or in addition.
            let _ = printer.json(&with_error(json!({}), complaint));
        }
        (Ok(_) | Err(_), _) => {}
    }
    went
}

/// Returns the part of the usual object that the journal provides.
fn object<L: Ui>(home: &Home, id: &RunId, complaint: &Complaint) -> Value {
    let history = store::read(&home.run(id).history()).ok();
    let run = history.and_then(|history| Run::<L>::replay(&history.records).ok());
    let object = run.map_or_else(
        || json!({ "run_id": id, "loop": L::KIND }),
        |run| json::object(&run, &L::summary(&run, None)),
    );
    with_error(object, complaint)
}

fn with_error(mut object: Value, complaint: &Complaint) -> Value {
    object["outcome"] = ERROR.into();
    object["reason"] = ERROR.into();
    object["error"] = json!({ "what": complaint.what, "causes": complaint.causes, "hints": complaint.hints });
    object
}
