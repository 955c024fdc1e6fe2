//! `resume`: takes up a run that was stopped, killed, or waits for an answer.

use super::loops::LoopCommands;
use super::scope::Scope;
use crate::args::{GoingArgs, ResumeArgs, RunArgs, TuneArgs};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::face::with_loop;
use crate::failure;
use crate::progress;
use crate::questions::Person;
use crate::runs::{Known, Standing};
use crate::session;

pub fn run(args: &ResumeArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => take_up::<L>(args, scope, &scope.runs.load(&id)?))
}

pub fn take_up<L: LoopCommands>(
    args: &ResumeArgs,
    scope: &Scope<'_>,
    known: &Known<L>,
) -> Result<Exit, Complaint> {
    let (runs, around, printer) = (&scope.runs, scope.around, scope.printer);
    session::may_go_on(known, args.answer.is_some(), around)?;
    let (id, going) = (&known.run.plan.run, &args.going);
    let reporter = progress::reporter(going.format, scope.objects(), around, printer, going.trust);
    let has_ended = runs.standing(&known.run) == Standing::Ended;
    let went = if has_ended {
        let words = format!("run {id} has ended; see `skilltune report {id}`");
        session::tell_again(runs, known, around, printer, &words, reporter)
    } else {
        let mut person = L::person(scope, args.answer, going.yes)?;
        session::go_on(going, runs, known, around, printer, reporter, &mut *person)
    };
    let exit = failure::told::<L>(went, going.format, &runs.home, id, printer)?;
    let person = Person::present(around).filter(|_| !going.yes && !has_ended);
    L::hand_over(scope, id, person)?;
    Ok(exit)
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
