//! `resume`: takes up a run that was stopped, killed, or waits for an answer.

use std::path::Path;

use skilltune_orchestrator::process::can_confine;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::tune::{Plan, Tune};
use skilltune_phases::role::Role;

use crate::answer::{Answer, AtTerminal};
use crate::args::{ResumeArgs, RunArgs, TuneArgs};
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::face::Face as _;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::progress;
use crate::questions::Person;
use crate::request::lay;
use crate::roles;
use crate::runs::{Known, Runs, Standing};
use crate::session::{self, Means};
use crate::settings::Settings;

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
    let means = means(args, plan, runs.home.project(), around)?;
    still_confined(plan)?;
    unchanged(plan, &means)?;
    let locks = session::lock(around, printer, &known.targets(), &plan.run.0)?;
    let _in_use = runs.home.hold().map_err(session::ours)?;
    let taken = session::take_up(&known.folder, &plan.run, printer)?;
    let reporter = progress::reporter(args.format, Objects::at(runs.home.objects()), around, printer);
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
    progress::reporter(args.format, Objects::at(runs.home.objects()), around, printer).finished(&known.run);
    Ok(Tune::exit(&known.run))
}

/// What `tune` was told, for a run that it takes up.
pub fn args_of(args: &TuneArgs) -> ResumeArgs {
    ResumeArgs {
        run: RunArgs { run: None },
        answer: None,
        yes: args.yes,
        jobs: args.jobs,
        trust: args.trust,
        wait: args.wait,
        format: args.format,
    }
}

/// Agents are looked up, and trusted, again: the journal names them, and cannot make us run anything.
fn means(args: &ResumeArgs, plan: &Plan, project: &Path, around: &Surroundings) -> Result<Means, Complaint> {
    let mut settings = Settings::load(project, around)?;
    lay(&mut settings.wait, args.wait.then_some(true), "--wait");
    let casting = roles::recast(&plan.roles, &settings, around)?;
    if !args.trust {
        roles::ensure_trusted(&casting, &settings, around, Person::present(around).filter(|_| !args.yes))?;
    }
    let jobs = args.jobs.unwrap_or(settings.jobs.value);
    Ok(Means::of(&casting, settings.limits(), settings.patience(), settings.prices(), jobs as usize))
}

fn answer(args: &ResumeArgs, around: &Surroundings) -> Answer {
    match args.answer {
        Some(choice) => Answer::Given(choice),
        None if args.yes => Answer::Default,
        None if around.is_interactive() => Answer::Ask,
        None => Answer::Wait,
    }
}

/// Its report says who keeps its agents to their rights: that holds to its end, or the run does not go on.
fn still_confined(plan: &Plan) -> Result<(), Complaint> {
    let wants = Role::ALL.into_iter().any(|role| plan.roles.of(role).rights.by_system());
    if !wants || can_confine() {
        return Ok(());
    }
    Err(Complaint::input(format!("run {} has the system hold its agents to their folders", plan.run))
        .caused_by("this system cannot: it is not the one that the run began on")
        .hint("start a new run: answers that are still good are found in the cache"))
}

/// A run goes on with the agents that it began with, or not at all: its answers would not be comparable.
fn unchanged(plan: &Plan, means: &Means) -> Result<(), Complaint> {
    let is_changed = |role: &Role| means.cast.of(*role).fingerprint() != plan.roles.of(*role).settings;
    Role::ALL.into_iter().find(is_changed).map_or(Ok(()), |role| {
        Err(Complaint::input(format!(
            "the agent {:?} ({}) is not the one that run {} began with",
            plan.roles.of(role).agent,
            role.word(),
            plan.run
        ))
        .caused_by("its settings, its program or a script that it names has changed since")
        .hint("undo that change, or start a new run: answers that are still good are found in the cache"))
    })
}
