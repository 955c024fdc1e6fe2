//! `skilltune tune`: one run, or one run per skill.

use std::ops::ControlFlow;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;
use skilltune_orchestrator::snapshot::Limits;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::tune::{Aim, Apply, Done, Event, Plan, Record, Run, Tune};
use skilltune_phases::loops::{Loop as _, Next};
use skilltune_phases::skills::offline;

use crate::args::runs::{GoingArgs, ResumeArgs};
use crate::args::suite::SuiteNewArgs;
use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::loops::resume::take_up;
use crate::loops::start::{self, Planner, Ready, Sketched, Start, Starts};
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::invocation::Invocation;
use crate::loops::tune::report::{calibrating, comparing, json};
use crate::loops::tune::{invocation, planning, search, suite_draft, trial_run, without_skill, words};
use crate::loops::{LoopArgs, OnRuns};
use crate::report::ceilings;
use crate::report::ui::Ui as _;
use crate::runs::scope::Scope;
use crate::runs::{Known, RunStatus, Runs, commit};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::plain;

impl LoopArgs for TuneArgs {
    fn run(self, env: &Environment, printer: Printer, _: OnRuns) -> Result<Exit, Complaint> {
        run(&self, &Start::of(&self.run, self.trust, env, printer))
    }
}

fn run(args: &TuneArgs, start: &Start<'_>) -> Result<Exit, Complaint> {
    let (env, printer) = (start.env, start.printer);
    let list = find::skill_list(args.skills.as_deref(), "tune", start.person(), env, printer)?;
    let args = &TuneArgs { skills: Some(list), ..args.clone() };
    // Asked before anything else, because a resumed run already has its answers.
    let given = paths(&find::skills_for("tune", args.skill_list(), env)?);
    if let Some(exit) = offer(args, &given, start)? {
        return Ok(exit);
    }
    let mut left = match invocation::invocations(args, env, Person::present(env))? {
        ControlFlow::Continue(invocations) => invocations.into_iter(),
        ControlFlow::Break(draft) => return drafted(&draft, start),
    };
    let is_only = left.len() == 1;
    let mut worst = Exit::Reached;
    while let Some(invocation) = left.next() {
        let exit = match one(args, invocation, &given, start) {
            Ok(exit) => exit,
            Err(complaint) if is_only => return Err(complaint),
            Err(complaint) => {
                printer.complain(&complaint);
                complaint.exit()
            }
        };
        worst = Exit::worst(worst, exit);
        if matches!(exit, Exit::Interrupted | Exit::Terminated) {
            not_begun(left.as_slice(), printer);
            break;
        }
    }
    Ok(worst)
}

/// Has a suite drafted. Its drafts count only once the user has reviewed them, so nothing is tuned yet.
fn drafted(draft: &SuiteNewArgs, start: &Start<'_>) -> Result<Exit, Complaint> {
    let exit = suite_draft::run(draft, start.env, start.printer)?;
    start.printer.talk("then run the same command again: it offers this suite");
    Ok(exit)
}

/// Names the skills whose runs have not started. A stopped run can be resumed, but these have no run yet.
fn not_begun(invocations: &[Invocation], printer: Printer) {
    let skills = invocations.iter().flat_map(|invocation| &invocation.members);
    let names: Vec<&str> = skills.map(|skill| skill.name.as_str()).collect();
    if !names.is_empty() {
        printer.warn(&format!("not started: {}", plain::one_line(&names.join(", "))));
    }
}

/// Begins one run. The user was already asked about the given targets, at the start.
fn one(
    args: &TuneArgs,
    invocation: Invocation,
    given: &[PathBuf],
    start: &Start<'_>,
) -> Result<Exit, Complaint> {
    let targets = paths(&invocation.members);
    if targets != given
        && let Some(exit) = offer(args, &targets, start)?
    {
        return Ok(exit);
    }
    start::start::<Tune>(invocation, start)
}

impl Starts for Tune {
    type Invocation = Invocation;

    const PLAN: Planner<Self> = planning::plan;

    fn ready(invocation: Invocation, home: &Home, start: &Start<'_>) -> Result<Ready<Self>, Complaint> {
        if invocation.aim == Aim::Improve && start.person().is_none() {
            mention(&paths(&invocation.members), start);
        }
        let sketch = start::plan::<Self>(&invocation, home, start.env, None)?;
        if let Aim::Try { trials } = invocation.aim
            && !without_skill::agreed(&sketch, trials, start)?
        {
            start.printer.talk("not tried");
            return Ok(ControlFlow::Break(Exit::Reached));
        }
        Ok(ControlFlow::Continue((trial_run::trusted(invocation, start)?, sketch)))
    }

    fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
        trial_run::missing(invocation, start)
    }

    /// Prints the settings that are set but not used by this search, and why no winner could become a commit.
    fn remark(invocation: &Invocation, plan: &Plan, start: &Start<'_>) {
        let unused = plan.task.searches().then(|| search::unused(plan, invocation.common.settings.of()));
        if let Some(unused) = unused.flatten() {
            start.printer.talk(&unused);
        }
        let proposes = plan.task.searches() && matches!(plan.task.apply, Apply::Propose(_));
        if let Some(why) = proposes.then(|| hindrance(plan, start.env)).flatten() {
            start.printer.talk(&format!("note: {why}"));
        }
    }

    fn answers(invocation: &Invocation) -> &[Done] {
        invocation.older.as_ref().map_or(&[][..], |older| &older.regrading.answers)
    }

    /// Returns whether it is of the same skills, or is the run to regrade.
    fn is_like(planned: &Plan, earlier: &Plan) -> bool {
        let targets = Self::targets(planned);
        planned.task.regraded().is_some_and(|of| of.run == earlier.run)
            || Self::targets(earlier).iter().any(|target| targets.contains(target))
    }

    /// The built-in agent costs nothing.
    fn prints_estimate(plan: &Plan) -> bool {
        plan.task.searches() && plan.roles.values().any(|cast| cast.agent != offline::NAME)
    }

    fn first_steps(run: &mut Run) -> Vec<String> {
        const SHOWN: usize = 5;
        loop {
            let decision = match Self::next(run) {
                Next::Decide(decision) => decision,
                Next::Do(steps) => return steps.take(SHOWN).map(|step| words::step(run, &step)).collect(),
                Next::End => return Vec::new(),
            };
            let seq = run.seq + 1;
            run.apply(&Record { seq, at: Timestamp::UNIX_EPOCH, event: Event::Decided(decision) });
        }
    }

    fn sketch_text(run: &Run, sketched: &Sketched<'_>) -> String {
        let (plan, target) = (&run.plan, words::target(run));
        let headline = match &plan.task.aim {
            Aim::Improve | Aim::Try { .. } => {
                format!("{} {target}: up to {}, {}", plan.kind.word(), words::budget(plan), words::goal(plan))
            }
            Aim::Calibrate { trials } => calibrating::headline(run, *trials),
            Aim::Compare(two) => comparing::headline(run, two),
        };
        let mut lines = vec![headline, words::scenarios(plan), "first steps:".to_owned()];
        lines.extend(sketched.steps.iter().map(|step| format!("  {step}")));
        lines.push(words::most_calls(sketched.most, &plan.roles));
        lines.push(ceilings::line(run));
        lines.extend(sketched.estimate.lines());
        lines.extend(words::notes(plan).iter().map(|remark| format!("note: {remark}")));
        lines.join("\n")
    }

    fn sketch_json(run: &Run, sketched: &Sketched<'_>) -> Value {
        json::sketch(run, sketched.most, sketched.steps, sketched.estimate)
    }
}

/// Returns why no winner could become a commit, or which one could not.
fn hindrance(plan: &Plan, env: &Environment) -> Option<String> {
    let targets = Tune::targets(plan);
    let none = targets.iter().find_map(|target| commit::unproposable(target, Limits::default(), env));
    none.or_else(|| {
        let edited = targets.iter().find(|target| commit::has_uncommitted(target, env))?;
        Some(format!(
            "{} has uncommitted changes: a winner that changes the same lines cannot become a commit; commit them first",
            edited.display()
        ))
    })
}

/// Offers to continue the unfinished run of these skills.
fn offer(args: &TuneArgs, targets: &[PathBuf], start: &Start<'_>) -> Result<Option<Exit>, Complaint> {
    let (env, printer) = (start.env, start.printer);
    let Some(person) = start.person().filter(|_| start.show.is_none()) else { return Ok(None) };
    let Some((runs, known)) = left(targets, env) else { return Ok(None) };
    let (id, round) = (&known.run.plan.run, known.run.round_number());
    if !person.agree(&format!("Run {id} stopped in round {round}. Continue it?"))? {
        return Ok(None);
    }
    let scope = Scope { runs, only: None, env, printer };
    let (yes, trust, format, given) = (args.run.yes, args.trust, args.run.format, args.given.clone());
    let going = GoingArgs { yes, trust, format, given, ..GoingArgs::default() };
    take_up(&ResumeArgs { going, ..ResumeArgs::default() }, &scope, &known).map(Some)
}

/// Mentions an unfinished run, if there is no person to ask.
fn mention(targets: &[PathBuf], start: &Start<'_>) {
    if let Some((_, known)) = left(targets, start.env) {
        let id = &known.run.plan.run;
        start.printer.talk(&format!(
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
