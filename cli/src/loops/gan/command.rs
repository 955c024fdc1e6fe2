//! `skilltune gan`: reads a brief and starts a run.

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::{Home, Locks, TargetLock};
use skilltune_phases::loops::gan::{Event, Gan, Plan, Record, Run};
use skilltune_phases::loops::{Loop as _, MostCalls};

use crate::loops::ask::Respondent;
use crate::loops::gan::args::GanArgs;
use crate::loops::gan::invocation::Invocation;
use crate::loops::gan::report::{json, words};
use crate::loops::gan::{planning, proposing};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::estimate::Estimate;
use crate::report::ui::Ui as _;
use crate::report::{ceilings, words as shared_words};
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::{Runs, failure, session, strange};
use crate::settings::values::Streamed;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::plain;
use crate::trust::Consent;
use crate::{casting, progress};

impl LoopArgs for GanArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        let invocation = Invocation::new(&self, env)?;
        invocation.settings.overs().iter().for_each(|over| printer.talk(over));
        let home = Home::of(&invocation.project);
        if self.run.only_shows() {
            return show(&self, &invocation, &planning::sketch(&invocation, &home)?, env, printer);
        }
        proposing::require(&invocation, env)?;
        let person = Person::present(env).filter(|_| !self.run.yes);
        let consent = Consent::of(self.trust, person);
        let pinned = casting::ensure_trusted(&invocation.casting, &invocation.settings, env, None, consent)?;
        begin(&self, &Invocation { pinned: pinned.into_iter().collect(), ..invocation }, &home, env, printer)
    }
}

fn begin(
    args: &GanArgs,
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    home.create().map_err(strange)?;
    let _in_use = home.hold().map_err(ours)?;
    // The destination is checked while no other run may write to it.
    let sketch = planning::sketch(invocation, home)?;
    let locks = session::lock(env, printer, &Gan::targets(&sketch), sketch.run.as_str())?;
    let stored = planning::store(invocation, &Objects::at(home.objects()), env)?;
    let plan = Plan { run: sketch.run, folder: sketch.folder, ..planning::plan(invocation, home, stored)? };
    let id = plan.run.clone();
    let went = drive(args, invocation, (home, plan), locks, env, printer);
    failure::report::<Gan, _>(went, args.run.format, home, &id, printer)
}

/// Drives the run from the first line of its journal until it ends or pauses.
fn drive(
    args: &GanArgs,
    invocation: &Invocation,
    (home, plan): (&Home, Plan),
    locks: (Locks, TargetLock),
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    if args.trust {
        casting::trust_for_run(&invocation.casting, &invocation.settings, env, &plan.run)?;
    }
    if args.run.format == Streamed::Human {
        estimate(invocation, &unbegun(&plan)?, env)?.summary().iter().for_each(|line| printer.talk(line));
    }
    let begun = session::begin(env, home, plan, Vec::new(), &invocation.pinned)?;
    let reporter = progress::reporter(args.run.format, Objects::at(home.objects()), env, printer);
    let options = RuntimeOptions::of(&invocation.casting, &invocation.settings, invocation.pinned.clone());
    let mut person = Respondent::<Gan>::new(args.run.yes, Objects::at(home.objects()), env, printer);
    session::drive(env, home, begun, locks, options, reporter, &mut person)
}

/// Shows what would be built and judged, and the upper limits of the run.
fn show(
    args: &GanArgs,
    invocation: &Invocation,
    plan: &Plan,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let most = Gan::most_calls(plan);
    let run = unbegun(plan)?;
    let estimate = estimate(invocation, &run, env)?;
    match (args.run.format, args.run.dry_run) {
        (Streamed::Human, false) => printer.data(&estimate.lines().join("\n")),
        (Streamed::Human, true) => printer.data(&plan_text(&run, &most, &estimate)),
        (Streamed::Json | Streamed::Jsonl, _) => {
            printer.json(&json::sketch(&run, &most, &estimate).to_string())
        }
    }?;
    Ok(Exit::Reached)
}

/// Returns the run of a plan before anything has happened.
fn unbegun(plan: &Plan) -> Result<Run, Complaint> {
    let event = Event::Started(Box::new(plan.clone()));
    Run::begin(&Record { seq: 0, at: Timestamp::UNIX_EPOCH, event }).map_err(ours)
}

/// Estimates the cost from earlier runs here, because each brief is different.
fn estimate(invocation: &Invocation, run: &Run, env: &Environment) -> Result<Estimate, Complaint> {
    let earlier = Runs::of(&invocation.project, env)?.like(|_| true);
    Ok(Estimate::new(run, &earlier, invocation.settings.calls.jobs.value))
}

fn plan_text(run: &Run, most: &MostCalls, estimate: &Estimate) -> String {
    let (plan, task) = (&run.plan, &run.plan.task);
    let mut lines = vec![format!("gan {}: {}", words::subject(run), words::aim(run))];
    lines.push("criteria of the profile:".to_owned());
    lines.extend(task.asked.criteria.iter().map(|criterion| {
        let gate = if criterion.must_pass { " (must pass)" } else { "" };
        format!("  {}", plain::one_line(&format!("{}{gate}: {}", criterion.id, criterion.criterion)))
    }));
    if !task.given.sections.is_empty() {
        let sections = task.given.sections.join(", ");
        lines.push(plain::one_line(&format!("sections of the brief: {sections}")));
    }
    if !task.given.copy.is_empty() {
        let texts: Vec<&str> = task.given.copy.iter().map(|text| &*text.text).collect();
        lines.push(plain::one_line(&format!("given texts: {}", texts.join(" | "))));
    }
    lines.push(shared_words::most_calls(most, &plan.roles));
    lines.push(ceilings::line(run));
    lines.extend(estimate.lines());
    lines.extend(words::notes(plan).iter().map(|remark| format!("note: {remark}")));
    lines.join("\n")
}
