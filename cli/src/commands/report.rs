//! `report`: prints the final report, or the progress of the run.

use crate::args::runs::ViewArgs;
use crate::loops::LoopCommands;
use crate::report::json;
use crate::report::page::page;
use crate::report::ui::with_loop;
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &ViewArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(&scope.runs.load(&id)?, args.format, scope))
}

fn tell<L: LoopCommands>(known: &Known<L>, format: Format, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (objects, printer) = (scope.objects(), scope.printer);
    match format {
        Format::Human => printer.data(page(&known.run, &objects).trim_end()),
        Format::Json => printer.json(&json::report(&known.run, &objects)),
    }?;
    Ok(Exit::Reached)
}
