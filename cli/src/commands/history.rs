//! `history`: prints the journal, one line per event.

use skilltune_phases::runs::run::{NotARun, Run};

use crate::args::runs::RunArgs;
use crate::loops::LoopCommands;
use crate::report::journal;
use crate::report::ui::with_loop;
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &RunArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(&scope.runs.load(&id)?, scope.printer))
}

fn tell<L: LoopCommands>(known: &Known<L>, printer: Printer) -> Result<Exit, Complaint> {
    let (first, rest) = known.records.split_first().ok_or(NotARun::Empty).map_err(ours)?;
    let mut run = Run::begin(first).map_err(ours)?;
    printer.data(&journal::line(&run, first))?;
    for record in rest {
        run.apply(record);
        printer.data(&journal::line(&run, record))?;
    }
    Ok(Exit::Reached)
}
