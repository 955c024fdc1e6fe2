//! `report`: the final report, or how far the run has come.

use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::final_report;
use crate::runs::Runs;

pub fn run(args: &RunArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let known = Runs::here(around)?.find(args.run.as_deref())?;
    printer.data(final_report(&known.run).trim_end())?;
    Ok(Exit::Reached)
}
