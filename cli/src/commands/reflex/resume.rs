//! `reflex resume`: takes up a run that was stopped in the middle, killed, or waits for an answer.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::Reflex;

use super::find::find;
use super::new::hand_over;
use crate::args::{AllowName, ReflexResumeArgs};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::failure;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::progress::reflex as progress;
use crate::questions::Person;
use crate::reflex::allow::{Allowing, Gatekeeper};
use crate::runs::{Known, Runs, Standing};
use crate::session;

pub fn run(args: &ReflexResumeArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = find(&runs, args.of.alias.as_deref())?;
    take_up(args, &runs, &known, around, printer)
}

fn take_up(
    args: &ReflexResumeArgs,
    runs: &Runs,
    known: &Known<Reflex>,
    around: &Surroundings,
    printer: Printer,
) -> Result<Exit, Complaint> {
    session::may_go_on(known, args.answer.is_some(), around)?;
    let id = &known.run.plan.run;
    let objects = Objects::at(runs.home.objects());
    let reporter = progress::reporter(args.going.format, objects, around, printer, args.going.trust);
    if runs.standing(&known.run) == Standing::Ended {
        let words = format!("run {id} has ended, and is not taken up again");
        let went = session::tell_again(runs, known, around, printer, &words, reporter);
        let exit = failure::told::<Reflex>(went, args.going.format, &runs.home, id, printer)?;
        hand_over(runs, id, None, around, printer)?;
        return Ok(exit);
    }
    let allowing = Allowing::of(args.answer.map(|answer| answer == AllowName::Run), args.going.yes, around);
    let mut person = Gatekeeper::new(allowing, printer);
    let went = session::go_on(&args.going, runs, known, around, printer, reporter, &mut person);
    let exit = failure::told::<Reflex>(went, args.going.format, &runs.home, id, printer)?;
    let asked = Person::present(around).filter(|_| !args.going.yes);
    hand_over(runs, id, asked, around, printer)?;
    Ok(exit)
}
