//! `resume`: takes up a run that was stopped, killed, or waits for an answer.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::tune::Tune;

use crate::answer::{Answer, AtTerminal};
use crate::args::{GoingArgs, ResumeArgs, RunArgs, TuneArgs};
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::face::Face as _;
use crate::folders::Surroundings;
use crate::means::Means;
use crate::printer::Printer;
use crate::progress;
use crate::runs::{Known, Runs, Standing};
use crate::session;

pub fn run(args: &ResumeArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around);
    let known = runs.find(args.run.run.as_deref())?;
    take_up(args, &runs, &known, around, printer)
}

pub fn take_up(
    args: &ResumeArgs,
    runs: &Runs,
    known: &Known<Tune>,
    around: &Surroundings,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let plan = &known.run.plan;
    // Also of a run that has ended: whoever answers must not believe that it was heard.
    if args.answer.is_some() && !known.run.held {
        return Err(
            Complaint::input(format!("run {} waits for no answer", plan.run)).hint("leave --answer out")
        );
    }
    Births::new(around).require(known)?;
    if runs.standing(&known.run) == Standing::Ended {
        return ended(args, runs, known, around, printer);
    }
    let means = Means::again(&args.going, plan, runs.home.project(), around)?;
    let locks = session::lock(around, printer, &known.targets(), &plan.run.0)?;
    let _in_use = runs.home.hold().map_err(session::ours)?;
    let taken = session::take_up(&known.folder, &plan.run, printer)?;
    let reporter = progress::reporter(args.going.format, Objects::at(runs.home.objects()), around, printer);
    let mut person = AtTerminal::new(answer(args, around), around);
    session::drive(around, &runs.home, taken, locks, means, reporter, &mut person)
}

/// A run that has ended is told once more: it may have been killed before it could tell.
fn ended(
    args: &ResumeArgs,
    runs: &Runs,
    known: &Known<Tune>,
    around: &Surroundings,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let id = &known.run.plan.run;
    let _locks = session::lock(around, printer, &known.targets(), &id.0)?;
    session::settle(around, printer, &runs.home, &known.run)?;
    printer.talk(&format!("run {id} has ended; `skilltune report {id}` tells how"));
    progress::reporter(args.going.format, Objects::at(runs.home.objects()), around, printer)
        .finished(&known.run);
    Ok(Tune::exit(&known.run))
}

/// What `tune` was told, for a run that it takes up.
pub fn args_of(args: &TuneArgs) -> ResumeArgs {
    ResumeArgs {
        run: RunArgs { run: None },
        answer: None,
        going: GoingArgs {
            yes: args.run.yes,
            jobs: args.run.jobs,
            trust: args.trust,
            wait: args.run.wait,
            format: args.run.format,
        },
    }
}

fn answer(args: &ResumeArgs, around: &Surroundings) -> Answer {
    match args.answer {
        Some(choice) => Answer::Given(choice),
        None if args.going.yes => Answer::Default,
        None if around.is_interactive() => Answer::Ask,
        None => Answer::Wait,
    }
}
