//! `list`: prints the runs of the project, the newest first.

use serde_json::{Value, json};
use skilltune_phases::runs::plan::RunId;

use crate::args::runs::ListArgs;
use crate::loops::LoopCommands;
use crate::report::json;
use crate::report::summary::Summary;
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;
use crate::text::{figures, plain};

pub fn run(args: &ListArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (runs, printer) = (&scope.runs, scope.printer);
    let ids = runs.ids(scope.only);
    match args.format {
        Format::Json => {
            let rows: Vec<Value> =
                ids.iter().map(|id| with_loop!(runs.kind(id), L => object::<L>(scope, id))).collect();
            printer.json(&serde_json::to_string_pretty(&rows).expect("JSON has a text"))?;
        }
        Format::Human if ids.is_empty() => printer.talk("no runs yet"),
        Format::Human => {
            for id in &ids {
                printer.data(&with_loop!(runs.kind(id), L => row::<L>(scope, id)))?;
            }
        }
    }
    Ok(Exit::Reached)
}

fn object<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> Value {
    match scope.runs.load::<L>(id) {
        Ok(known) => {
            let mut object = json::object(&known.run, &L::summary(&known.run, Some(&scope.objects())));
            object["updated_at"] = json!(known.run.updated_at);
            object
        }
        Err(complaint) => json!({ "run_id": id, "error": complaint.what }),
    }
}

fn row<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> String {
    let run = match scope.runs.load::<L>(id) {
        Ok(known) => known.run,
        Err(complaint) => return format!("{id}  damaged: {}", complaint.what),
    };
    let status = scope.runs.status(&run).word(&run);
    let Summary { kind, subject, progress, result, .. } = L::summary(&run, Some(&scope.objects()));
    let (subject, updated) = (plain::one_line(&subject), figures::moment(run.updated_at));
    format!("{id}  {kind:<6}  {status:<8}  {progress:<22}  {result:<14}  {updated}  {subject}")
}
