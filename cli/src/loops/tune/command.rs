//! `skilltune tune`: one run, or one run per skill.

use std::marker::PhantomData;
use std::path::PathBuf;

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::{Home, Locks, TargetLock};
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::{Event, Plan, Record, Run, Tune};
use skilltune_phases::loops::{MostCalls, Next};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::skills::offline;

use crate::args::runs::{GoingArgs, ResumeArgs, RunArgs};
use crate::args::shared::RunFlags;
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::loops::ask::Respondent;
use crate::loops::resume::take_up;
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::invocation::Invocation;
use crate::loops::tune::report::{calibrating, comparing, json};
use crate::loops::tune::{held_out_uses, invocation, planning, search, words};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::ceilings;
use crate::report::estimate::Estimate;
use crate::report::ui::Ui as _;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::{Known, RunStatus, Runs, failure, session, strange};
use crate::settings::flags::Flags;
use crate::settings::values::Streamed;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::text::plain;
use crate::{casting, progress};

impl LoopArgs for TuneArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        run(&self, env, printer)
    }
}

fn run(args: &TuneArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    // Asked before anything else, because a resumed run already has its answers.
    let given = paths(&find::skills(&args.skills, env)?);
    let person = Person::present(env).filter(|_| !args.run.yes && !args.run.only_shows());
    if let Some(person) = person
        && let Some(exit) = offer(args, &given, person, env, printer)?
    {
        return Ok(exit);
    }
    let invocations = invocation::invocations(args, env, Person::present(env))?;
    let mut worst = Exit::Reached;
    for (begun, invocation) in (1..).zip(&invocations) {
        let exit = match one(args, invocation, &given, env, printer) {
            Ok(exit) => exit,
            Err(complaint) if invocations.len() == 1 => return Err(complaint),
            Err(complaint) => {
                printer.complain(&complaint);
                complaint.exit()
            }
        };
        worst = Exit::worst(worst, exit);
        if matches!(exit, Exit::Interrupted | Exit::Terminated) {
            not_begun(&invocations[begun..], printer);
            break;
        }
    }
    Ok(worst)
}

/// Names the skills whose runs have not started. A stopped run can be resumed, but these have no run yet.
fn not_begun(invocations: &[Invocation], printer: Printer) {
    let skills = invocations.iter().flat_map(|invocation| &invocation.members);
    let names: Vec<&str> = skills.map(|skill| skill.name.as_str()).collect();
    if !names.is_empty() {
        printer.talk(&format!("not started: {}", plain::one_line(&names.join(", "))));
    }
}

fn one(
    args: &TuneArgs,
    invocation: &Invocation,
    given: &[PathBuf],
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    invocation.settings.overs().iter().for_each(|over| printer.talk(over));
    let home = Home::of(&invocation.project);
    let epoch = args.run.epoch();
    if args.run.only_shows() {
        let plan = planning::sketch(invocation, &home, &env.indexes(), epoch)?;
        tell_unused(invocation, &plan, printer);
        return show_plan(&args.run, invocation, &plan, env, printer);
    }
    let targets = paths(&invocation.members);
    match Person::present(env).filter(|_| !args.run.yes) {
        // The user was already asked about these targets, at the start.
        Some(_) if targets == given => {}
        Some(person) => {
            if let Some(exit) = offer(args, &targets, person, env, printer)? {
                return Ok(exit);
            }
        }
        None => mention(&targets, env, printer),
    }
    // The run's name is in its lock and follows from its plan; the plan is made again under the lock.
    let sketch = planning::sketch(invocation, &home, &env.indexes(), epoch)?;
    tell_unused(invocation, &sketch, printer);
    let name = sketch.run;
    let locks = session::lock(env, printer, &targets, name.as_str())?;
    if let Some(left) = Runs::of(&invocation.project, env)?.unfinished::<Tune>(&targets) {
        // We hold the lock, so whatever still runs there is an orphan.
        session::end_leftovers(&left.folder, printer);
    }
    let manner = Manner { yes: args.run.yes, trust: args.trust, format: args.run.format };
    let went = begin(invocation, (&home, name.clone(), epoch), locks, manner, env, printer);
    failure::report::<Tune>(went, args.run.format, &home, &name, printer)
}

/// The options for starting a run.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub yes: bool,
    pub trust: bool,
    pub format: Streamed,
}

/// Starts the run and drives it until it ends or pauses.
pub fn begin(
    invocation: &Invocation,
    (home, name, epoch): (&Home, RunId, u64),
    locks: (Locks, TargetLock),
    manner: Manner,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    home.create().map_err(strange)?;
    let _in_use = home.hold().map_err(ours)?;
    let mut plan = planning::plan(invocation, home, &env.indexes(), epoch, name)?;
    plan.unattended = manner.yes;
    plan.task.looks_before = held_out_uses::before(&plan, &Runs::of(&invocation.project, env)?);
    if manner.trust {
        casting::trust_for_run(&invocation.casting, &invocation.settings, env, &plan.run)?;
    }
    if manner.format == Streamed::Human {
        tell_price(invocation, &plan, env, printer)?;
    }
    let begun = session::begin(env, home, plan, invocation.answers().to_vec(), &invocation.pinned)?;
    let reporter = progress::reporter(manner.format, Objects::at(home.objects()), env, printer);
    let options = RuntimeOptions::of(&invocation.casting, &invocation.settings, invocation.pinned.clone());
    let mut person = Respondent::<Tune>::new(manner.yes, Objects::at(home.objects()), env, printer);
    session::drive(env, home, begun, locks, options, reporter, &mut person)
}

/// Offers to continue the unfinished run of these skills.
fn offer(
    args: &TuneArgs,
    targets: &[PathBuf],
    person: &dyn Answers,
    env: &Environment,
    printer: Printer,
) -> Result<Option<Exit>, Complaint> {
    let Some((runs, known)) = left(targets, env) else { return Ok(None) };
    let (id, round) = (&known.run.plan.run, known.run.round_number());
    if !person.agree(&format!("Run {id} stopped in round {round}. Continue it?"))? {
        return Ok(None);
    }
    let scope = Scope { runs, only: None, env, printer };
    take_up(&args_of(args), &scope, &known).map(Some)
}

/// Mentions an unfinished run, if there is no person to ask.
fn mention(targets: &[PathBuf], env: &Environment, printer: Printer) {
    if let Some((_, known)) = left(targets, env) {
        let id = &known.run.plan.run;
        printer.talk(&format!(
            "an unfinished run of the same skill exists; `skilltune resume {id}` continues it"
        ));
    }
}

fn left(targets: &[PathBuf], env: &Environment) -> Option<(Runs, Known<Tune>)> {
    let runs = Runs::of(&env.project_of(targets.first()?), env).ok()?;
    let known = runs.unfinished(targets)?;
    // A run that is still running is not offered: its lock will report it.
    (!matches!(runs.status(&known.run), RunStatus::Running { .. })).then_some((runs, known))
}

fn paths(skills: &[Skill]) -> Vec<PathBuf> {
    skills.iter().map(|skill| skill.path.clone()).collect()
}

/// Shows the first steps and the upper limits of the run.
pub fn show_plan(
    flags: &RunFlags,
    invocation: &Invocation,
    plan: &Plan,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let most = Tune::most_calls(plan);
    let mut run = unbegun(plan)?;
    for done in invocation.answers() {
        let seq = run.seq + 1;
        run.apply(&Record { seq, at: Timestamp::UNIX_EPOCH, event: Event::Done(Box::new(done.clone())) });
    }
    let steps = first_steps(&mut run);
    let estimate = estimate(invocation, &run, env)?;
    match (flags.format, flags.dry_run) {
        (Streamed::Human, false) => printer.data(&estimate.lines().join("\n")),
        (Streamed::Human, true) => printer.data(&plan_text(&run, &most, &steps, &estimate)),
        (Streamed::Json | Streamed::Jsonl, _) => {
            printer.json(&json::sketch(&run, &most, &steps, &estimate).to_string())
        }
    }?;
    Ok(Exit::Reached)
}

/// Returns the run of a plan before anything has happened.
fn unbegun(plan: &Plan) -> Result<Run, Complaint> {
    let event = Event::Started(Box::new(plan.clone()));
    Run::begin(&Record { seq: 0, at: Timestamp::UNIX_EPOCH, event }).map_err(ours)
}

/// Estimates the cost from earlier runs of the same skills.
fn estimate(invocation: &Invocation, run: &Run, env: &Environment) -> Result<Estimate, Complaint> {
    let targets = Tune::targets(&run.plan);
    let of = run.plan.task.regraded().map(|of| &of.run);
    let is_like = |plan: &Plan| {
        of == Some(&plan.run) || Tune::targets(plan).iter().any(|target| targets.contains(target))
    };
    let earlier = Runs::of(&invocation.project, env)?.like(is_like);
    Ok(Estimate::new(run, &earlier, invocation.settings.calls.jobs.value))
}

/// Prints the settings that are set but not used by this search.
fn tell_unused(invocation: &Invocation, plan: &Plan, printer: Printer) {
    if let Some(unused) = search::unused(plan, invocation.settings.of()) {
        printer.talk(&unused);
    }
}

/// Prints what a search may cost, before it starts. The built-in agent costs nothing.
fn tell_price(
    invocation: &Invocation,
    plan: &Plan,
    env: &Environment,
    printer: Printer,
) -> Result<(), Complaint> {
    if plan.task.searches() && plan.roles.values().any(|cast| cast.agent != offline::NAME) {
        let estimate = estimate(invocation, &unbegun(plan)?, env)?;
        for line in estimate.summary() {
            printer.talk(&line);
        }
    }
    Ok(())
}

fn plan_text(run: &Run, most: &MostCalls, steps: &[String], estimate: &Estimate) -> String {
    let (plan, target) = (&run.plan, words::target(run));
    let search =
        || format!("{} {target}: up to {}, {}", plan.kind.word(), words::budget(plan), words::goal(plan));
    let headline = calibrating::headline(run).or_else(|| comparing::headline(run)).unwrap_or_else(search);
    let mut lines = vec![headline, words::scenarios(plan), "first steps:".to_owned()];
    lines.extend(steps.iter().map(|step| format!("  {step}")));
    lines.push(words::most_calls(most, &plan.roles));
    lines.push(ceilings::line(run));
    lines.extend(estimate.lines());
    lines.extend(words::notes(plan).iter().map(|remark| format!("note: {remark}")));
    lines.join("\n")
}

fn first_steps(run: &mut Run) -> Vec<String> {
    const SHOWN: usize = 5;
    loop {
        let decision = match Tune::next(run) {
            Next::Decide(decision) => decision,
            Next::Do(steps) => return steps.take(SHOWN).map(|step| words::step(run, &step)).collect(),
            Next::End => return Vec::new(),
        };
        let seq = run.seq + 1;
        run.apply(&Record { seq, at: Timestamp::UNIX_EPOCH, event: Event::Decided(decision) });
    }
}

/// Returns the arguments of `tune` for a run that it resumes.
fn args_of(args: &TuneArgs) -> ResumeArgs {
    ResumeArgs {
        run: RunArgs { run: None },
        answer: None,
        detail: None,
        going: GoingArgs {
            yes: args.run.yes,
            jobs: Flags(PhantomData),
            trust: args.trust,
            wait: Flags(PhantomData),
            strict_agents: false,
            limits: Flags(PhantomData),
            format: args.run.format,
            given: args.given.clone(),
        },
    }
}
