//! Resumes a run of any loop, whichever command asks for it.

use crate::args::runs::ResumeArgs;
use crate::loops::LoopCommands;
use crate::loops::ask::Respondent;
use crate::loops::start::{Starts, estimate};
use crate::progress;
use crate::runs::ownership::Ownership;
use crate::runs::peer::Reached;
use crate::runs::scope::Scope;
use crate::runs::{Known, RunStatus, failure, session};
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;
use crate::terminal::questions::Person;

pub fn take_up<L: Starts>(args: &ResumeArgs, scope: &Scope<'_>, known: &Known<L>) -> Result<Exit, Complaint> {
    let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
    let saved = stopped(args, scope, known)?;
    let known = saved.as_ref().unwrap_or(known);
    let ending = args.answer.as_ref().filter(|_| !known.run.held);
    let ending = ending.and_then(|answer| L::ended_by(&known.run, answer));
    session::may_go_on(known, args.answer.is_some() && ending.is_none(), env)?;
    let (id, going) = (&known.run.plan.run, &args.going);
    let yes = going.yes || known.run.plan.unattended;
    let reporter = |estimate| progress::reporter(going.format, estimate, scope.objects(), env, printer);
    let has_ended = runs.status(&known.run) == RunStatus::Ended;
    if has_ended && going.extend && L::reopening(&known.run).is_none() {
        return Err(Complaint::input(format!("run {id} has no comparison that can be extended"))
            .caused_by("it has a verdict, or its plan set aside no look at more trials, or none is left")
            .hint(format!("`skilltune report {id}` shows how it ended")));
    }
    let went = if has_ended && !going.extend {
        let words = format!(
            "run {id} has ended and cannot be resumed; `skilltune report {id}` shows it, `{}` starts a new run",
            L::START
        );
        session::tell_again(scope, known, &words, reporter(None))
    } else {
        let asked = Respondent::<L>::new(yes, scope.objects(), env, printer);
        let mut person = asked.with(args.reply().filter(|_| ending.is_none()), env)?;
        let mut settings = crate::loops::settings(runs.home.project(), env)?;
        L::set_defaults(&mut settings);
        let first = match ending {
            Some(ending) => Some(ending),
            None => L::look_again(scope, known, &settings)?,
        };
        going.apply_to(&mut settings.calls, &known.run.plan.workers);
        let estimate = progress::has_live_line(going.format, env, printer)
            .then(|| estimate(&known.run, runs, settings.jobs()));
        session::go_on((going, first), scope, known, &settings, reporter(estimate), &mut person)
    };
    let exit = failure::report::<L, _>(went, going.format, &runs.home, id, printer)?;
    let person = Person::present(env).filter(|_| !yes && !has_ended);
    L::hand_over(scope, id, person)?;
    Ok(exit)
}

/// Stops a run that is at work if this answer ends it, and returns the run as it was saved.
fn stopped<L: LoopCommands>(
    args: &ResumeArgs,
    scope: &Scope<'_>,
    known: &Known<L>,
) -> Result<Option<Known<L>>, Complaint> {
    let id = &known.run.plan.run;
    let is_end = args.answer.as_ref().is_some_and(|answer| L::ended_by(&known.run, answer).is_some());
    let RunStatus::Running { pid } = scope.runs.status(&known.run) else { return Ok(None) };
    let Some(process) = is_end.then(|| Reached::by(pid)).transpose()?.flatten() else { return Ok(None) };
    Ownership::new(scope.env).require(known)?;
    scope.printer.talk(&format!("ending run {id} after its current steps"));
    process.ask_to_finish()?;
    process.see_off()?;
    scope.runs.load(id).map(Some)
}
