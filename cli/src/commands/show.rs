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
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(scope, &scope.runs.load(&id)?, args))
}

fn tell<L: LoopCommands>(scope: &Scope<'_>, known: &Known<L>, args: &ShowArgs) -> Result<Exit, Complaint> {
    let (printer, run) = (scope.printer, &known.run);
    let part = args.part.as_deref();
    let text = part.map(|part| L::part(known, part, &scope.objects())).transpose()?;
    match (args.format, text) {
        (Format::Human, None) => progress::retell(&known.records, scope.objects(), scope.env, printer)?,
        (Format::Human, Some(text)) => printer.data(text.trim_end())?,
        (Format::Json, None) => printer.json(&json::object(run, &L::summary(run, None)).to_string())?,
        (Format::Json, Some(text)) => {
            let object = json!({ "run_id": run.plan.run, "loop": L::KIND, "part": part, "text": text });
            printer.json(&object.to_string())?;
        }
    }
    Ok(Exit::Reached)
}
