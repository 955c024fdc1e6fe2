//! Turns what was agreed on into a plan: everything that decides is frozen.

use jiff::{SignedDuration, Timestamp};
use skilltune_orchestrator::evolution::{Evolution, EvolutionError};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::reflex::original::{self, Alias};
use skilltune_phases::loops::reflex::{Plan, Task};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::suites::checks::Commands;

use crate::loops::reflex::context;
use crate::loops::reflex::files::{below, refused};
use crate::loops::reflex::invocation::Invocation;
use crate::runs::ownership::Ownership;
use crate::runs::seed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The most numbers that are tried for a name that is taken.
const NUMBERS: u32 = 1000;

/// Returns the name of the task's folder, and of the run: the requested one, or a free one.
fn name(invocation: &Invocation, began: Timestamp, owned: &Ownership) -> Result<(Alias, RunId), Complaint> {
    let below = below(&invocation.evolution)?;
    let folder = Evolution::open(&invocation.common.project, &below).map_err(refused)?;
    let id = |alias: &Alias| free_id(alias, began, owned);
    let check = |alias: &Alias| match &folder {
        Some(folder) => folder.writer(alias, id(alias).as_str()).check(),
        None => Ok(()),
    };
    if let Some(alias) = &invocation.alias {
        check(alias).map_err(refused)?;
        return Ok((alias.clone(), id(alias)));
    }
    let first = Alias::of(&invocation.prompt);
    let names = std::iter::once(first.clone()).chain((2..NUMBERS).map(|number| first.numbered(number)));
    for alias in names {
        match check(&alias) {
            Ok(()) => return Ok((alias.clone(), id(&alias))),
            Err(EvolutionError::Taken { .. }) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    Err(Complaint::input(format!("every alias like {first} is taken")).hint("pass --alias NAME"))
}

/// Returns a free name for a run. It contains the second in which the run began, so later runs take the next free one.
fn free_id(alias: &Alias, began: Timestamp, owned: &Ownership) -> RunId {
    let ids = (0..).map(|later| original::run_id(alias, began + SignedDuration::from_secs(later)));
    let mut ids = ids.map(|id| id.parse().expect("an alias and a time are plain"));
    ids.find(|id| !owned.knows(id)).expect("no second is the last")
}

/// Makes the plan. That of the run that a sketch has named has the project's context, which it stores.
pub fn plan(
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan>,
) -> Result<Plan, Complaint> {
    let (alias, run, context) = if let Some(sketch) = sketch {
        let pages = context::pages(&invocation.common.project, &invocation.context);
        let context = context::store(&Objects::at(home.objects()), &pages)?;
        (sketch.task.alias.clone(), sketch.run.clone(), context)
    } else {
        let (alias, run) = name(invocation, Timestamp::now(), &Ownership::new(env))?;
        (alias.as_str().to_owned(), run, None)
    };
    let task = Task {
        alias,
        project: invocation.common.project.to_string_lossy().into_owned(),
        evolution: invocation.evolution.clone(),
        prompt: invocation.prompt.clone(),
        ideal: invocation.ideal.clone(),
        criteria: invocation.criteria.clone(),
        confirmed: None,
        setup: invocation.setup.clone(),
        out: invocation.out.as_ref().map(|path| path.to_string_lossy().into_owned()),
        context,
        rules: invocation.rules.clone(),
        commands: Commands { run: invocation.commands, confined: invocation.confines },
    };
    let seed = invocation.seed.unwrap_or_else(|| {
        seed(&(&task.prompt, &task.ideal, &task.criteria, &task.setup, &task.rules, &task.context))
    });
    Ok(invocation.common.plan(run, seed, task))
}
