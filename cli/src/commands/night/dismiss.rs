//! `night dismiss`: forgets a winner that a person does not want, or an open verdict that needs no answer.

use std::path::Path;

use serde_json::json;
use skilltune_phases::nights::night::{Event, Place, Waiting};
use skilltune_phases::runs::plan::RunId;

use crate::args::night::NightDismissArgs;
use crate::nights::book::Book;
use crate::nights::clock::Clock;
use crate::nights::file::NightPlan;
use crate::report::outcome;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::{one_line, shell_path};

pub fn run(args: &NightDismissArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let plan = NightPlan::read(args.view.file.file.as_deref(), env)?;
    let Some(mut book) = Book::open(&plan, false)? else {
        return Err(Complaint::input("a night of this file is under way").hint("retry when it has ended"));
    };
    let of_job = book.history.waiting().iter().filter(|one| one.job.as_str() == args.job);
    let of_job: Vec<Waiting> = of_job.cloned().collect();
    let is_known = book.history.jobs.keys().any(|job| job.as_str() == args.job);
    if of_job.is_empty() && !is_known {
        return Err(Complaint::input(format!("no night has run a job {:?}", args.job))
            .hint("`skilltune night list` lists the jobs"));
    }
    let named = args.run.as_deref();
    let is_named = |one: &&Waiting| named.is_none_or(|named| one.run.as_str().starts_with(named));
    let chosen: Vec<Waiting> = of_job.iter().filter(is_named).cloned().collect();
    if let Some(named) = named.filter(|_| chosen.is_empty() && !of_job.is_empty()) {
        let runs: Vec<&str> = of_job.iter().map(|one| one.run.as_str()).collect();
        return Err(Complaint::input(format!("no result of run {named:?} waits")).hint(format!(
            "these runs of {} have one: {}",
            args.job,
            runs.join(", ")
        )));
    }
    let print = |outcome: &str, runs: &[RunId], lines: &[String]| {
        let object = json!({ "outcome": outcome, "job": args.job, "runs": runs });
        outcome::print(args.view.format, printer, lines, &object)
    };
    if chosen.is_empty() {
        let line = format!("{}: no winner and no open verdict waits", args.job);
        return print("unchanged", &[], &[line]);
    }
    let lines: Vec<String> = chosen.iter().map(line).collect();
    let runs: Vec<RunId> = chosen.iter().map(|one| one.run.clone()).collect();
    for one in chosen {
        book.write(Clock::new().now().timestamp(), Event::Dismissed { job: one.job, run: one.run })?;
    }
    print("dismissed", &runs, &lines)
}

/// Reports a dismissal, and what of the winner still exists.
fn line(one: &Waiting) -> String {
    let Waiting { job, run, decided, .. } = one;
    if !one.is_winner() {
        return format!("{job}: the open verdict of run {run} is dismissed; no night compares it again");
    }
    let left = match &decided.place {
        Place::Branch(branch) => {
            let branch = one_line(branch);
            let typed = shell_path(Path::new(&branch));
            format!("; branch {branch} is unchanged, `git branch -D {typed}` deletes it")
        }
        Place::PullRequest(address) => format!("; the pull request {} is unchanged", one_line(address)),
        Place::Patch(_) | Place::Kept | Place::Conflict | Place::Applied | Place::Nowhere => {
            format!("; until `skilltune clean` deletes the run, `skilltune apply {run}` still applies it")
        }
    };
    format!("{job}: the winner of run {run} is dismissed{left}")
}
