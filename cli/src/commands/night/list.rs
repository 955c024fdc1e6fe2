//! `night list`: prints the jobs, and what a night would do for each.

use serde_json::json;
use skilltune_phases::nights::night::{self, History, Left};

use crate::args::night::NightViewArgs;
use crate::nights::book::Shelf;
use crate::nights::file::NightPlan;
use crate::nights::jobs::{self, Job};
use crate::nights::morning;
use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::one_line;
use crate::text::width::columns;

pub fn run(args: &NightViewArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.file.file.as_deref(), env)?;
    let history = Shelf::of(&plan).read()?;
    let jobs = jobs::all(&plan)?;
    let states: Vec<(&Job, String)> =
        jobs.iter().map(|job| (job, state(job, &plan, &history, env))).collect();
    match args.format {
        Format::Json => {
            let objects: Vec<_> = states
                .iter()
                .map(|(job, state)| json!({ "job": job.name, "skill": job.skills, "state": state }))
                .collect();
            printer.json(&objects)?;
        }
        Format::Human => {
            let widest = states.iter().map(|(job, _)| columns(&job.name)).max().unwrap_or_default();
            let lines = states.iter().map(|(job, state)| {
                let name = one_line(&job.name);
                format!("{name}{}  {state}", " ".repeat(widest.saturating_sub(columns(&name))))
            });
            printer.data(&lines.collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(Exit::Reached)
}

fn state(job: &Job, plan: &NightPlan, history: &History, env: &Environment) -> String {
    match job.ready(plan, history.open_run(&job.name), env) {
        Err(Left::Refused { why }) => format!("cannot run: {}", one_line(&why)),
        Err(left) => morning::left(&left),
        Ok(ready) => night::outlook(history, &job.name, &ready.wish)
            .map_or_else(|| "nothing to do".to_owned(), |work| morning::begun(&work, &ready.shown)),
    }
}
