//! `reflex status`: where a run stands, and how its artifact does.

use super::find::{self, Either};
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
    let lines = match find::either(&runs, args.alias.as_deref(), around)? {
        Either::Ours(known) => {
            let on_disk = progress::on_disk(&known.run);
            told::status_lines(&known.run, runs.standing(&known.run), on_disk.as_deref())
        }
        Either::Theirs(found) => {
            if found.is_rebuilt {
                printer.talk("its run.json cannot be read: this is what its history tells");
            }
            told::found_status(&found.run, &found.history, found.artifact.as_deref())
        }
    };
    printer.data(&lines.join("\n"))?;
    Ok(Exit::Reached)
}
