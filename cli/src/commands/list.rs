//! `list`: prints the runs of the project, the newest first.

use serde_json::{Value, json};
use skilltune_phases::runs::plan::{LoopKind, RunId};
use skilltune_phases::runs::run::Run;

use crate::args::runs::ListArgs;
use crate::loops::LoopCommands;
use crate::report::list::{ListedRun, folded, lines};
use crate::report::summary::Summary;
use crate::report::ui::with_loop;
use crate::report::{json, words};
use crate::runs::RunStatus;
use crate::runs::scope::Scope;
use crate::settings::values::Format;
use crate::terminal::columns::data_width;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;
use crate::text::figures::{self, count};

pub fn run(args: &ListArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (runs, printer) = (&scope.runs, scope.printer);
    let ids = runs.ids(only(scope.only, args.kind)?);
    let given = args.limit.map(|limit| limit as usize);
    match args.format {
        Format::Json => {
            let listed = ids.iter().take(given.unwrap_or(usize::MAX));
            let rows: Vec<Value> =
                listed.map(|id| with_loop!(runs.kind(id), L => object::<L>(scope, id))).collect();
            printer.json(&rows)?;
        }
        Format::Human if ids.is_empty() => printer.talk("no runs yet"),
        Format::Human => {
            let most = given.unwrap_or(if args.all { usize::MAX } else { LATEST });
            let latest = ids.iter().take(most);
            let mut rows: Vec<ListedRun> =
                latest.map(|id| with_loop!(runs.kind(id), L => row::<L>(scope, id))).collect();
            if !args.all {
                rows = folded(rows);
            }
            printer.data(&lines(&rows, data_width(scope.env), printer.data).join("\n"))?;
            if rows.iter().any(|row| row.older > 0) {
                printer.talk("older calibrations are folded; `skilltune list --all` lists each");
            }
            let left_out = ids.len().saturating_sub(most);
            if left_out > 0 && given.is_none() {
                let older = count(left_out, "older run");
                printer.talk(&format!("{older} left out; `skilltune list --all` lists all"));
            }
        }
    }
    Ok(Exit::Reached)
}

/// Each run costs reading its journal, and more than this are no overview.
const LATEST: usize = 200;

/// Returns the loop to list. `skilltune LOOP list` lists no other loop.
fn only(of: Option<LoopKind>, asked: Option<LoopKind>) -> Result<Option<LoopKind>, Complaint> {
    match (of, asked) {
        (Some(of), Some(asked)) if of != asked => {
            let (of, asked) = (of.word(), asked.word());
            Err(Complaint::input(format!("`skilltune {of} list` lists only runs of {of}"))
                .hint(format!("run `skilltune list --loop {asked}`")))
        }
        (of, asked) => Ok(asked.or(of)),
    }
}

fn object<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> Value {
    match scope.runs.load::<L>(id) {
        Ok(known) => {
            let mut object = json::object(&known.run, &L::summary(&known.run, Some(&scope.objects())));
            object["updated_at"] = json!(known.run.updated_at);
            object["rolled_back"] = words::is_rolled_back(&known.run).into();
            object
        }
        Err(complaint) => json!({ "run_id": id, "error": complaint.what }),
    }
}

fn row<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> ListedRun {
    let run = match scope.runs.load::<L>(id) {
        Ok(known) => known.run,
        Err(complaint) => return ListedRun::damaged(id, L::KIND.word(), &complaint.what),
    };
    let status = scope.runs.status(&run);
    let Summary { kind, subject, progress, result, .. } = L::summary(&run, Some(&scope.objects()));
    ListedRun {
        run: id.clone(),
        kind,
        status: word(&run, status),
        progress,
        result,
        updated: figures::moment(run.updated_at),
        subject,
        folds: kind == "calibrate" && status == RunStatus::Ended,
        older: 0,
    }
}

/// Returns the status of a run in one word. For an ended run it says how it ended.
fn word<L: LoopCommands>(run: &Run<L>, status: RunStatus) -> &'static str {
    match status {
        RunStatus::Ended if words::is_rolled_back(run) => "rolled back",
        RunStatus::Ended => L::ended_as(run),
        RunStatus::Running { .. } | RunStatus::Held | RunStatus::Open => status.word(run),
    }
}
