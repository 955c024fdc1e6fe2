//! `reflex status`: where a run stands, and how its artifact does.

use super::find::find;
use crate::args::AliasArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::progress::reflex as progress;
use crate::report::reflex as told;
use crate::runs::Runs;

pub fn run(args: &AliasArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = find(&runs, args.alias.as_deref())?;
    let on_disk = progress::on_disk(&known.run);
    let lines = told::status_lines(&known.run, runs.standing(&known.run), on_disk.as_deref());
    printer.data(&lines.join("\n"))?;
    Ok(Exit::Reached)
}
