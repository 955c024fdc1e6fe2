//! A run that we failed, for scripts: with `--format json` the last thing on stdout is one object then, too.

use serde_json::{Value, json};
use skilltune_orchestrator::store::{self, Home};
use skilltune_phases::plan::RunId;
use skilltune_phases::run::Run;

use crate::report::ui::Ui;
use crate::settings::values::Streamed;
use crate::terminal::complaint::{Complaint, Kind};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

/// What its outcome and its reason are, beside those of runs that came to an end.
const ERROR: &str = "error";

/// Hands on how it went; a failure of ours is told to scripts on the way, people are told of it by whoever is called.
pub fn told<L: Ui>(
    went: Result<Exit, Complaint>,
    format: Streamed,
    home: &Home,
    id: &RunId,
    printer: Printer,
) -> Result<Exit, Complaint> {
    match (&went, format) {
        (Err(complaint), Streamed::Json | Streamed::Jsonl) if complaint.kind == Kind::Ours => {
            // Where it cannot be written, that is what is complained of, or comes on top of it.
            let _ = printer.json(&object::<L>(home, id, complaint).to_string());
        }
        (Ok(_) | Err(_), _) => {}
    }
    went
}

/// As much of the usual object as the journal tells.
fn object<L: Ui>(home: &Home, id: &RunId, complaint: &Complaint) -> Value {
    let history = store::read(&home.run(id).history()).ok();
    let run = history.and_then(|history| Run::<L>::replay(&history.records).ok());
    let mut object = run.map_or_else(|| json!({ "run_id": id, "loop": L::KIND }), |run| L::summary(&run));
    object["outcome"] = ERROR.into();
    object["reason"] = ERROR.into();
    object["error"] = json!({ "what": complaint.what, "causes": complaint.causes, "hints": complaint.hints });
    object
}
