//! Begins a run of any loop: shows what it would do, or locks its targets, freezes its plan and drives it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::loops::MostCalls;
use skilltune_phases::runs::event::{Done, Event, Record};
use skilltune_phases::runs::plan::{FORMAT, Plan, RunId};
use skilltune_phases::runs::run::Run;

use crate::args::shared::RunFlags;
use crate::casting::{self, Casting, Part, priced, workers};
use crate::loops::LoopCommands;
use crate::loops::ask::Respondent;
use crate::progress;
use crate::report::estimate::Estimate;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::{Runs, failure, session, strange};
use crate::settings::Settings;
use crate::settings::values::Streamed;
use crate::terminal::columns::data_width;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::trust::Consent;
use crate::trust::pinned::Pins;

/// How a run of a loop begins.
pub trait Starts: LoopCommands {
    /// What the user asked for, with nothing left to guess.
    type Invocation: AsRef<Common>;

    /// Makes the plan, without its ceilings. A sketch writes nothing. The plan of the run that a sketch has named also
    /// stores the files that the run starts with.
    const PLAN: Planner<Self>;

    /// Sketches the plan, and asks what a person has to decide before anything is written. `Break` ends the command.
    fn ready(invocation: Self::Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint>;

    /// Checks what only a run needs, such as trust, and returns why it would be refused as things are, without asking.
    fn missing(invocation: &Self::Invocation, start: &Start<'_>) -> Vec<Complaint> {
        agents_missing(invocation.as_ref(), start).into_iter().collect()
    }

    /// Prints what a person should know about the plan.
    fn remark(_: &Self::Invocation, _: &Plan<Self>, _: &Start<'_>) {}

    /// Returns the answers that the run reuses from another one.
    fn answers(_: &Self::Invocation) -> &[Done<Self>] {
        &[]
    }

    /// Returns whether the calls of an earlier run show what the planned one may cost.
    fn is_like(_planned: &Plan<Self>, _earlier: &Plan<Self>) -> bool {
        true
    }

    /// Returns whether the estimate is printed when the run begins.
    fn prints_estimate(_: &Plan<Self>) -> bool {
        true
    }

    /// Returns the first steps that a dry run shows, and makes the decisions before them.
    fn first_steps(_: &mut Run<Self>) -> Vec<String> {
        Vec::new()
    }

    /// `--dry-run`
    fn sketch_text(run: &Run<Self>, sketched: &Sketched<'_>) -> String;

    /// `--dry-run --format json`
    fn sketch_json(run: &Run<Self>, sketched: &Sketched<'_>) -> Value;
}

/// The invocation, with all the trust that its run needs, and the sketch of its plan.
pub type Ready<L> = ControlFlow<Exit, (<L as Starts>::Invocation, Plan<L>)>;

/// Makes the plan of an invocation, or only a sketch of it if none is given.
pub type Planner<L> =
    fn(&<L as Starts>::Invocation, &Home, &Environment, Option<&Plan<L>>) -> Result<Plan<L>, Complaint>;

/// What the invocations of all loops have.
#[derive(Clone, Debug)]
pub struct Common {
    /// The folder that contains `.skilltune`.
    pub project: PathBuf,
    pub settings: Settings,
    pub casting: Casting,
    /// The project files that the run may execute, as they were trusted.
    pub pinned: Vec<Pins>,
    pub epoch: u64,
}

impl Common {
    /// Returns a plan of this task, without its folder and its ceilings.
    pub fn plan<L: Starts>(&self, run: RunId, seed: u64, task: L::Task) -> Plan<L> {
        Plan {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            run,
            kind: L::KIND,
            folder: String::new(),
            task,
            roles: self.casting.map(Part::cast),
            ceilings: Ceilings::default(),
            seed,
            epoch: self.epoch,
            unattended: false,
            workers: self.settings.calls.workers.value.0.clone(),
        }
    }
}

/// What a dry run shows besides the plan.
#[derive(Debug)]
pub struct Sketched<'a> {
    pub most: &'a MostCalls,
    pub steps: &'a [String],
    pub estimate: &'a Estimate,
    pub width: usize,
}

/// How the command line begins a run.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    pub yes: bool,
    pub trust: bool,
    pub format: Streamed,
    /// What to show instead of beginning the run.
    pub show: Option<Show>,
    pub env: &'a Environment,
    pub printer: Printer,
}

#[derive(Clone, Copy, Debug)]
pub enum Show {
    Plan,
    Estimate,
}

impl<'a> Start<'a> {
    pub fn of(flags: &RunFlags, trust: bool, env: &'a Environment, printer: Printer) -> Self {
        let show = match (flags.dry_run, flags.estimate) {
            (true, _) => Some(Show::Plan),
            (false, true) => Some(Show::Estimate),
            (false, false) => None,
        };
        Self { yes: flags.yes, trust, format: flags.format, show, env, printer }
    }

    /// Returns the person to ask, if there is one.
    pub fn person(&self) -> Option<&'static dyn Answers> {
        Person::present(self.env).filter(|_| !self.yes)
    }

    pub fn consent(&self) -> Consent<'static> {
        Consent::of(self.trust, self.person())
    }

    /// Returns the same without a person to ask.
    #[must_use]
    pub fn unasked(self) -> Self {
        Self { yes: true, ..self }
    }
}

/// Returns why the agents of a run would be refused, if they would.
pub fn agents_missing(Common { casting, settings, .. }: &Common, start: &Start<'_>) -> Option<Complaint> {
    casting::ensure_trusted(casting, settings, start.env, None, start.unasked().consent()).err()
}

/// Begins a run and drives it until it ends or pauses, or only shows it.
pub fn start<L: Starts>(invocation: L::Invocation, start: &Start<'_>) -> Result<Exit, Complaint> {
    let Common { project, settings, .. } = invocation.as_ref();
    settings.overs().iter().for_each(|over| start.printer.talk(over));
    let home = Home::of(project);
    if let Some(what) = start.show {
        return show::<L>(&invocation, &home, what, start);
    }
    let (invocation, sketch) = match L::ready(invocation, &home, start)? {
        ControlFlow::Break(exit) => return Ok(exit),
        ControlFlow::Continue(ready) => ready,
    };
    remark::<L>(&invocation, &sketch, start);
    let went = begin::<L>(&invocation, &sketch, start);
    let (exit, scope) = failure::report::<L, _>(went, start.format, &home, &sketch.run, start.printer)?;
    L::hand_over(&scope, &sketch.run, start.person())?;
    Ok(exit)
}

/// Prints what a person should know about the plan, and which of the given limits and flags have no effect on it.
fn remark<L: Starts>(invocation: &L::Invocation, plan: &Plan<L>, start: &Start<'_>) {
    let Common { settings, casting, .. } = invocation.as_ref();
    let unused =
        settings.unused_calls(&L::most_calls(plan)).into_iter().chain(casting::idle_via(casting, settings));
    unused.for_each(|one| start.printer.talk(&format!("note: {one}")));
    L::remark(invocation, plan, start);
}

/// Makes the plan of a run, or only its sketch if none is given.
pub fn plan<L: Starts>(
    invocation: &L::Invocation,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan<L>>,
) -> Result<Plan<L>, Complaint> {
    let mut plan = L::PLAN(invocation, home, env, sketch)?;
    let Common { settings, casting, .. } = invocation.as_ref();
    plan.folder = home.run(&plan.run).root().to_string_lossy().into_owned();
    plan.ceilings = priced::ceilings(settings, casting, &L::most_calls(&plan))?;
    Ok(plan)
}

/// Shows the first steps and the upper limits of the run, or only the estimate.
fn show<L: Starts>(
    invocation: &L::Invocation,
    home: &Home,
    what: Show,
    start: &Start<'_>,
) -> Result<Exit, Complaint> {
    let (env, printer) = (start.env, start.printer);
    let plan = Plan { unattended: start.yes, ..plan::<L>(invocation, home, env, None)? };
    remark::<L>(invocation, &plan, start);
    for Complaint { what, hints, .. } in L::missing(invocation, start) {
        let parts: Vec<String> = std::iter::once(what).chain(hints.into_iter().take(1)).collect();
        printer.warn(&format!("note: the run would be refused: {}", parts.join("; ")));
    }
    let (most, mut run) = (&L::most_calls(&plan), unbegun(&plan)?);
    for done in L::answers(invocation) {
        let seq = run.seq + 1;
        run.apply(&Record { seq, at: Timestamp::UNIX_EPOCH, event: Event::Done(Box::new(done.clone())) });
    }
    let steps = &L::first_steps(&mut run);
    let Common { project, settings, .. } = invocation.as_ref();
    let estimate = &estimate(&run, &Runs::of(project, env)?, settings.jobs());
    let sketched = Sketched { most, steps, estimate, width: data_width(env) };
    match (start.format, what) {
        (Streamed::Human, Show::Estimate) => printer.data(&estimate.lines().join("\n")),
        (Streamed::Human, Show::Plan) => printer.data(&L::sketch_text(&run, &sketched)),
        (Streamed::Json | Streamed::Jsonl, _) => printer.json(&L::sketch_json(&run, &sketched)),
    }?;
    Ok(Exit::Reached)
}

/// Begins the sketched run. The order is that of `resume`: a foreign state folder is refused, then the targets are
/// locked, then the store.
fn begin<'a, L: Starts>(
    invocation: &L::Invocation,
    sketch: &Plan<L>,
    start: &Start<'a>,
) -> Result<(Exit, Scope<'a>), Complaint> {
    let (env, printer) = (start.env, start.printer);
    let Common { project, settings, casting, pinned, .. } = invocation.as_ref();
    let runs = Runs::of(project, env)?;
    let targets = L::targets(sketch);
    let locks = session::lock(env, printer, &targets, sketch.run.as_str())?;
    if let Some(left) = runs.unfinished::<L>(&targets) {
        // We hold the lock, so whatever still runs there is an orphan.
        session::end_leftovers(&left.folder, printer);
    }
    runs.home.create().map_err(strange)?;
    let _in_use = runs.home.hold().map_err(ours)?;
    // The plan is made again, while no other run may write to its targets.
    let plan = Plan { unattended: start.yes, ..plan(invocation, &runs.home, env, Some(sketch))? };
    if start.trust {
        casting::trust_for_run(casting, settings, env, &plan.run)?;
    }
    let prints_estimate = start.format == Streamed::Human && L::prints_estimate(&plan);
    let mut estimated = None;
    if prints_estimate || progress::has_live_line(start.format, env, printer) {
        estimated = Some(estimate(&unbegun(&plan)?, &runs, settings.jobs()));
    }
    if let Some(estimate) = estimated.as_ref().filter(|_| prints_estimate) {
        estimate.summary().iter().for_each(|line| printer.talk(line));
    }
    let begun = session::begin(env, &runs.home, plan, L::answers(invocation).to_vec(), pinned)?;
    let scope = Scope { runs, only: None, env, printer };
    let reporter = progress::reporter(start.format, estimated, scope.objects(), env, printer);
    let options = RuntimeOptions::of(
        casting,
        settings,
        workers::found(settings.chosen_workers()?, env)?,
        pinned.clone(),
    );
    let mut person = Respondent::<L>::new(start.yes, scope.objects(), env, printer);
    let exit = session::drive(env, &scope.runs.home, begun, locks, options, reporter, &mut person)?;
    Ok((exit, scope))
}

/// Returns the run of a plan before anything has happened.
fn unbegun<L: Starts>(plan: &Plan<L>) -> Result<Run<L>, Complaint> {
    let event = Event::Started(Box::new(plan.clone()));
    Run::begin(&Record { seq: 0, at: Timestamp::UNIX_EPOCH, event }).map_err(ours)
}

/// Estimates a run from other runs.
pub fn estimate<L: Starts>(run: &Run<L>, runs: &Runs, jobs: u32) -> Estimate {
    let is_like = |other: &Plan<L>| other.run != run.plan.run && L::is_like(&run.plan, other);
    Estimate::new(run, &runs.like(is_like), jobs)
}
