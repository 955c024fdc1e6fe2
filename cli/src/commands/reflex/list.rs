//! `reflex list`: the runs of reflex in the project, the newest first.

use serde_json::{Value, json};
use skilltune_phases::loops::reflex::Reflex;

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
    match args.format {
        Format::Json => {
            let ours = ours.iter().map(|(known, id)| match known {
                Ok(known) => told::json::summary(&known.run, on_disk(&known.run).as_deref()),
                Err(complaint) => json!({ "run_id": id, "error": complaint.what }),
            });
            let rows: Vec<Value> = ours.collect();
            printer.json(&serde_json::to_string_pretty(&rows).expect("JSON has a text"))?;
        }
        Format::Human if ours.is_empty() => printer.talk("no runs here yet"),
        Format::Human => {
            for (known, id) in &ours {
                printer.data(&match known {
                    Ok(known) => {
                        told::row(&known.run, runs.standing(&known.run), on_disk(&known.run).as_deref())
                    }
                    Err(complaint) => format!("{id}  damaged: {}", complaint.what),
                })?;
            }
        }
    }
    Ok(Exit::Reached)
}
