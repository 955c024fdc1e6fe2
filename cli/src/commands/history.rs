//! `history`: the journal, one line an event.

use skilltune_phases::run::{NotARun, Run};

use super::loops::LoopCommands;
use super::scope::Scope;
use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::face::with_loop;
use crate::printer::Printer;
use crate::report::journal;
use crate::runs::Known;
use crate::session::ours;

pub fn run(args: &RunArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(&scope.runs.load(&id)?, scope.printer))
}

fn tell<L: LoopCommands>(known: &Known<L>, printer: Printer) -> Result<Exit, Complaint> {
    let (first, rest) = known.records.split_first().ok_or(NotARun::Empty).map_err(ours)?;
    let mut run = Run::begin(first).map_err(ours)?;
    printer.data(&journal::line(first, &L::event(&run, first)))?;
    for record in rest {
        run.apply(record);
        printer.data(&journal::line(record, &L::event(&run, record)))?;
    }
    Ok(Exit::Reached)
}
