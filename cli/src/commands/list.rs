//! `list`: the runs of the project, the newest first.

use serde_json::{Value, json};

use skilltune_phases::loops::reflex::Reflex;
use skilltune_phases::loops::tune::Tune;

use crate::args::{Format, ListArgs};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::json::summary;
use crate::report::{figures, plain, words};
use crate::runs::{Known, Runs, Standing};

pub fn run(args: &ListArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let read: Vec<_> = runs.ids::<Tune>().into_iter().map(|id| (runs.load(&id), id)).collect();
    match args.format {
        Format::Json => {
            let rows: Vec<Value> = read
                .iter()
                .map(|(known, id)| match known {
                    Ok(known) => summary(&known.run),
                    Err(complaint) => json!({ "run_id": id, "error": complaint.what }),
                })
                .collect();
            printer.json(&serde_json::to_string_pretty(&rows).expect("JSON has a text"))?;
        }
        Format::Human if read.is_empty() => printer.talk("no runs of tune here yet"),
        Format::Human => {
            for (known, id) in &read {
                printer.data(&match known {
                    Ok(known) => row(known, runs.standing(&known.run)),
                    Err(complaint) => format!("{id}  damaged: {}", complaint.what),
                })?;
            }
        }
    }
    mention_others(&runs, args.format, printer);
    Ok(Exit::Reached)
}

/// Another loop's runs have a list of their own.
fn mention_others(runs: &Runs, format: Format, printer: Printer) {
    let others = runs.ids::<Reflex>().len();
    if format == Format::Human && others > 0 {
        printer.talk(&format!("and {} of reflex: `skilltune reflex list`", figures::count(others, "run")));
    }
}

fn row(known: &Known<Tune>, standing: Standing) -> String {
    let run = &known.run;
    let status = standing.word(run);
    format!(
        "{}  {status:<8}  {:>5} -> {:<5}  {}",
        run.plan.run,
        figures::score(run.initial_score()),
        figures::score(run.final_score()),
        plain::one_line(&words::target(run))
    )
}
