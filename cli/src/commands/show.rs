//! `show`: replays a run, or one part of it: a round or an iteration, a candidate or a text.

use serde_json::json;

use crate::args::runs::ShowArgs;
use crate::loops::LoopCommands;
use crate::progress;
use crate::report::json;
use crate::report::ui::with_loop;
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &ShowArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (run, part) = named(args);
    let id = scope.named(run)?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(scope, &scope.runs.load(&id)?, (part, args.format)))
}

/// Returns the run and its part. A lone number of at most two digits is a round of the latest run: an id starts with
/// more.
fn named(args: &ShowArgs) -> (Option<&str>, Option<&str>) {
    let is_round = |text: &&str| text.len() <= 2 && text.parse::<u8>().is_ok();
    match (args.run.run.as_deref(), args.part.as_deref()) {
        (Some(number), None) if is_round(&number) => (None, Some(number)),
        other => other,
    }
}

fn tell<L: LoopCommands>(
    scope: &Scope<'_>,
    known: &Known<L>,
    (part, format): (Option<&str>, Format),
) -> Result<Exit, Complaint> {
    let (printer, run) = (scope.printer, &known.run);
    let text = part.map(|part| L::part(known, part, &scope.objects())).transpose()?;
    match (format, text) {
        (Format::Human, None) => progress::retell(&known.records, scope.objects(), scope.env, printer)?,
        (Format::Human, Some(text)) => printer.data(text.trim_end())?,
        (Format::Json, None) => printer.json(&json::object(run, &L::summary(run, None)))?,
        (Format::Json, Some(text)) => {
            let object = json!({ "run_id": run.plan.run, "loop": L::KIND, "part": part, "text": text });
            printer.json(&object)?;
        }
    }
    Ok(Exit::Reached)
}
