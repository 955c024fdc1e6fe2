//! `reflex resume`: takes up a run that was stopped in the middle, killed, or waits for an answer.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::Reflex;

use super::find::{self, Either};
use super::new::hand_over;
use crate::args::{AllowName, ReflexResumeArgs};
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::face::Face as _;
use crate::folders::Surroundings;
use crate::means::Means;
use crate::printer::Printer;
use crate::progress::reflex as progress;
use crate::questions::Person;
use crate::reflex::allow::{Allowing, Gatekeeper};
use crate::runs::{Known, Runs, Standing};
use crate::session;

pub fn run(args: &ReflexResumeArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around);
    match find::either(&runs, args.of.alias.as_deref(), around)? {
        Either::Ours(known) => take_up(args, &runs, &known, around, printer),
        Either::Theirs(found) => {
            Err(Complaint::input(format!("{} was written by another program", found.alias)).hint(
                "it can be looked at (status, history, list), and not taken up: begin the task anew here",
            ))
        }
    }
}

fn take_up(
    args: &ReflexResumeArgs,
    runs: &Runs,
    known: &Known<Reflex>,
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
    let objects = Objects::at(runs.home.objects());
    let reporter = progress::reporter(args.going.format, objects, around, printer);
    let allowing = Allowing::of(args.answer.map(|answer| answer == AllowName::Run), args.going.yes, around);
    let mut person = Gatekeeper::new(allowing, printer);
    let exit = session::drive(around, &runs.home, taken, locks, means, reporter, &mut person)?;
    let asked = Person::present(around).filter(|_| !args.going.yes);
    hand_over(runs, &plan.run, asked, around, printer)?;
    Ok(exit)
}

/// A run that has ended is told once more: it may have been killed before it could tell.
fn ended(
    args: &ReflexResumeArgs,
    runs: &Runs,
    known: &Known<Reflex>,
    around: &Surroundings,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let id = &known.run.plan.run;
    let _locks = session::lock(around, printer, &known.targets(), &id.0)?;
    session::settle(around, printer, &runs.home, &known.run)?;
    printer.talk(&format!("run {id} has ended, and is not taken up again"));
    let objects = Objects::at(runs.home.objects());
    progress::reporter(args.going.format, objects, around, printer).finished(&known.run);
    hand_over(runs, id, None, around, printer)?;
    Ok(Reflex::exit(&known.run))
}
