//! `resume`: takes up a run that was stopped, killed, or waits for an answer.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::tune::Tune;

use crate::answer::{Answer, AtTerminal};
use crate::args::{GoingArgs, ResumeArgs, RunArgs, TuneArgs};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::failure;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::progress;
use crate::runs::{Known, Runs, Standing};
use crate::session;

pub fn run(args: &ResumeArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
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
    session::may_go_on(known, args.answer.is_some(), around)?;
    let objects = Objects::at(runs.home.objects());
    let reporter = progress::reporter(args.going.format, objects.clone(), around, printer, args.going.trust);
    if runs.standing(&known.run) == Standing::Ended {
        let words = format!("run {0} has ended; `skilltune report {0}` tells how", known.run.plan.run);
        let went = session::tell_again(runs, known, around, printer, &words, reporter);
        return failure::told::<Tune>(went, args.going.format, &runs.home, &known.run.plan.run, printer);
    }
    let mut person = AtTerminal::new(answer(args, around), around, objects, printer);
    let went = session::go_on(&args.going, runs, known, around, printer, reporter, &mut person);
    failure::told::<Tune>(went, args.going.format, &runs.home, &known.run.plan.run, printer)
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
            strict_agents: false,
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
