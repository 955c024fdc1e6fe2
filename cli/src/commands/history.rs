//! `history`: prints the journal: one line per event, or all events as an array.

use skilltune_phases::runs::run::{NotARun, Run};

use crate::args::runs::ViewArgs;
use crate::loops::LoopCommands;
use crate::report::journal;
use crate::report::ui::with_loop;
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::settings::values::Format;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &ViewArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(&scope.runs.load(&id)?, args.format, scope.printer))
}

fn tell<L: LoopCommands>(known: &Known<L>, format: Format, printer: Printer) -> Result<Exit, Complaint> {
    let (first, rest) = known.records.split_first().ok_or(NotARun::Empty).map_err(ours)?;
    let mut run = Run::begin(first).map_err(ours)?;
    if format == Format::Json {
        printer.json(&known.records)?;
        return Ok(Exit::Reached);
    }
    printer.data(&journal::line(&run, first))?;
    for record in rest {
        run.apply(record);
        printer.data(&journal::line(&run, record))?;
    }
    Ok(Exit::Reached)
}
