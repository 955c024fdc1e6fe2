//! A run that regrades the trials of an older one, from its flags to its end.

use std::path::Path;

use skilltune_phases::base::role::RoleSpec;
use skilltune_phases::loops::tune::{Rules, Seat, Tune};
use skilltune_phases::suites::scenario::Scenario;

use crate::args::overrides::{apply_shared_flags, override_with};
use crate::casting::{self, BuiltIn, Casting};
use crate::inputs::find::Skill;
use crate::inputs::suite::Suite;
use crate::loops::start::{self, Common, Start};
use crate::loops::tune::invocation::{self, Invocation};
use crate::loops::tune::older::Older;
use crate::loops::tune::prompts::Pages;
use crate::loops::tune::scenarios::TaskSet;
use crate::loops::tune::trial_flags::RegradeArgs;
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

/// Creates the run, and drives it until it ends or has to wait.
pub fn run(
    args: &RegradeArgs,
    older: Older,
    (suite, found): (Suite, bool),
    (project, env, printer): (&Path, &Environment, Printer),
) -> Result<Exit, Complaint> {
    let mut settings = crate::loops::settings(project, env)?;
    apply_shared_flags(&mut settings, None, args.calls.timeout, &args.given);
    override_with(&mut settings.roles.evaluator, args.evaluator.clone().map(Some), "--evaluator");
    let pages = Pages::read(&settings)?;
    let casting =
        casting(&older, &settings, env).map_err(|complaint| invocation::naming(complaint, project, env))?;
    let task_set = task_set(&older, &suite, found, env)?;
    let (project, epoch) = (project.to_owned(), args.run_flags.epoch());
    let common = Common { project, settings, casting, pinned: Vec::new(), epoch };
    let invocation = invocation(args, older, task_set, common, (pages, Some(suite)));
    start::start::<Tune>(invocation, &Start::of(&args.run_flags, args.trust, env, printer))
}

/// Returns the judge from a flag, the settings or the older run; none if there is nothing to judge.
fn casting(older: &Older, settings: &Settings, env: &Environment) -> Result<Casting, Complaint> {
    if older.regrading.regraded.judged == 0 {
        return Ok(Casting::from([]));
    }
    let judges =
        Tune::ROLES.iter().filter(|spec: &&RoleSpec| Seat::ALL.iter().any(|seat| seat.role() == spec.role));
    if settings.roles.evaluator.value.is_some() {
        casting::cast(judges, settings, env, BuiltIn::Knows)
    } else {
        casting::recast(judges, &older.plan.roles, settings, env)
    }
}

/// Returns the scenarios to regrade, with what the suite brings for them.
fn task_set(older: &Older, suite: &Suite, found: bool, env: &Environment) -> Result<TaskSet, Complaint> {
    let scenarios = older.regrading.scenarios.clone();
    let names = older.plan.task.target.members.iter().map(|member| member.name.to_string());
    let members: Vec<Skill> = names.map(|name| Skill { name, path: suite.path.clone() }).collect();
    let task_set = TaskSet { scenarios, ..TaskSet::of_suite(suite.clone(), found)? }.of_skills(&members);
    // Nothing is set up again.
    let checked = |one: &Scenario| Scenario { setup: None, git: false, ..one.clone() };
    let checked = TaskSet { scenarios: task_set.scenarios.iter().map(checked).collect(), ..task_set.clone() };
    checked.check(&members, &older.plan.task.delivery, env)?;
    Ok(task_set)
}

fn invocation(
    args: &RegradeArgs,
    older: Older,
    task_set: TaskSet,
    common: Common,
    untrusted: (Pages, Option<Suite>),
) -> Invocation {
    let (plan, confirm) = (older.plan.clone(), older.regrading.confirm);
    let task = &plan.task;
    let path = task_set.suite.as_ref().map(|suite| suite.path.clone()).unwrap_or_default();
    let names = task.target.members.iter().map(|member| member.name.to_string());
    let members = names.map(|name| Skill { name, path: path.clone().into() }).collect();
    // Nothing is executed.
    let (tried, delivery) = ((older.aim(), Vec::new()), task.delivery.clone());
    let confidence = args.confidence.unwrap_or(task.rules.confidence);
    Invocation {
        mode: task.target.mode,
        rules: Rules { confidence, confirm, ..task.rules.clone() },
        tools: task.tools,
        seed: Some(plan.seed),
        older: Some(older),
        ..Invocation::of_trials(tried, common, delivery, members, task_set, untrusted)
    }
}
