//! `reflex list`: the runs of the project, ours first, then those that another program has written.

use serde_json::{Value, json};
use skilltune_phases::loops::reflex::Reflex;

use super::find;
use crate::args::{Format, ListArgs};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::progress::reflex::on_disk;
use crate::report::reflex as told;
use crate::runs::Runs;

pub fn run(args: &ListArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let ours: Vec<_> = runs.ids::<Reflex>().into_iter().map(|id| (runs.load::<Reflex>(&id), id)).collect();
    let theirs = find::theirs(&runs, around)?;
    match args.format {
        Format::Json => {
            let ours = ours.iter().map(|(known, id)| match known {
                Ok(known) => told::json::summary(&known.run, on_disk(&known.run).as_deref()),
                Err(complaint) => json!({ "run_id": id, "error": complaint.what }),
            });
            let theirs = theirs.iter().map(|found| json!({ "found": found.alias, "run": found.run }));
            let rows: Vec<Value> = ours.chain(theirs).collect();
            printer.json(&serde_json::to_string_pretty(&rows).expect("JSON has a text"))?;
        }
        Format::Human if ours.is_empty() && theirs.is_empty() => printer.talk("no runs here yet"),
        Format::Human => {
            for (known, id) in &ours {
                printer.data(&match known {
                    Ok(known) => {
                        told::row(&known.run, runs.standing(&known.run), on_disk(&known.run).as_deref())
                    }
                    Err(complaint) => format!("{id}  damaged: {}", complaint.what),
                })?;
            }
            for found in &theirs {
                printer.data(&told::found_row(
                    found.alias.as_str(),
                    &found.run,
                    found.artifact.as_deref(),
                ))?;
            }
        }
    }
    Ok(Exit::Reached)
}
