//! `reflex history`: what happened in a run, event by event.

use skilltune_phases::loops::reflex::Run;
use skilltune_phases::run::NotARun;

use super::find::find;
use crate::args::AliasArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::reflex as told;
use crate::runs::Runs;
use crate::session::ours;

pub fn run(args: &AliasArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let known = find(&Runs::here(around)?, args.alias.as_deref())?;
    let (first, rest) = known.records.split_first().ok_or(NotARun::Empty).map_err(ours)?;
    let mut run = Run::begin(first).map_err(ours)?;
    printer.data(&told::history_line(&run, first))?;
    for record in rest {
        run.apply(record);
        printer.data(&told::history_line(&run, record))?;
    }
    Ok(Exit::Reached)
}
