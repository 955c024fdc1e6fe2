//! Turns a request into a plan: everything that decides is frozen, and the project as it is now is stored.

use std::path::Path;

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::{Captured, Entry, Objects};
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::{Plan, Task};
use skilltune_phases::runs::proposal::Form;

use crate::inputs::links;
use crate::loops::evolve::again::{given, hidden};
use crate::loops::evolve::bring::bring;
use crate::loops::evolve::committed::committed;
use crate::loops::evolve::invocation::Invocation;
use crate::loops::evolve::settings::EvolveSettings;
use crate::loops::evolve::verify;
use crate::loops::gan::planning::read;
use crate::report::words::not_placed;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::{new_run_id, seed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Makes the plan. Without a sketch, it makes one and reads no project; with one, it stores the project's files.
pub fn plan(
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan>,
) -> Result<Plan, Complaint> {
    if let Some(claimed) = &invocation.verify {
        return verify::plan(invocation, claimed, home, env, sketch);
    }
    let settings = &invocation.common.settings;
    let objects = Objects::at(home.objects());
    let captured = sketch.map(|_| capture(invocation, &objects, env)).transpose()?;
    let is_branch = matches!(invocation.apply, Apply::Propose(Form::Branch | Form::PullRequest));
    let of_commit = captured.as_ref().filter(|_| is_branch && !invocation.plan_only);
    let of_commit = of_commit.map(|one| committed(&invocation.root, one, &objects, env)).transpose()?;
    let names = settings.of::<EvolveSettings>().brought();
    let names = if sketch.is_some() && !invocation.plan_only { names } else { &[] };
    let brought = bring(&objects, &invocation.root, names)?;
    let given = given(invocation, captured.as_ref(), &objects)?;
    let is_commit = matches!(invocation.apply, Apply::Propose(_)) && !invocation.plan_only;
    let apart = captured.as_ref().filter(|_| is_commit).map(|one| apart(&invocation.root, one));
    let apart = apart.unwrap_or_default();
    let remarks = remarks(invocation, captured.as_ref(), given.remarks, &apart);
    let task = Task {
        name: invocation.name.clone(),
        file: invocation.file.to_string_lossy().into_owned(),
        spec: invocation.spec.clone(),
        root: invocation.root.to_string_lossy().into_owned(),
        start: captured.as_ref().map_or(TreeId::EMPTY, |one| one.tree),
        committed: of_commit,
        hidden: captured.as_ref().map(|one| hidden(&one.manifest)).unwrap_or_default(),
        apart,
        setup: invocation.setup.clone(),
        brought,
        experts: invocation.advisers.experts.clone(),
        advice: settings.of::<EvolveSettings>().advice(),
        plan: invocation.plan.clone(),
        outdated: given.outdated,
        only: given.only,
        built_on: given.built_on,
        plan_only: invocation.plan_only,
        set: invocation.set.clone(),
        finds: invocation.finds.unwrap_or(false),
        checks: invocation.checks,
        has_oracles: invocation.has_oracles,
        has_strength: invocation.has_strength,
        has_control: invocation.has_control,
        verify: None,
        command_seconds: settings.commands.seconds.value,
        has_shell: invocation.has_shell,
        apply: invocation.apply,
        rules: invocation.rules,
        retries: invocation.retries,
        remarks,
    };
    let seed = invocation.seed.unwrap_or_else(|| seed(&(&task.spec, &task.plan, &task.rules, &task.start)));
    let run = sketch.map_or_else(|| new_run_id(seed, Timestamp::now()), |sketch| sketch.run.clone());
    Ok(invocation.common.plan(run, seed, task))
}

/// Returns what a person has to know about the project before the run.
fn remarks(
    invocation: &Invocation,
    captured: Option<&Captured>,
    given: Vec<String>,
    apart: &[String],
) -> Vec<String> {
    /// More are only counted.
    const MOST: usize = 5;
    let links = captured.map(|one| links::outside(&one.manifest)).unwrap_or_default();
    let others = (!apart.is_empty()).then(|| {
        let more = apart.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let some = apart[..apart.len().min(MOST)].join(", ");
        format!("no task may change the folders of other repositories: {some}{more}")
    });
    let not_brought = invocation.common.settings.of::<EvolveSettings>().not_brought();
    let own = invocation.remarks.iter().cloned().chain(not_brought);
    let own = own.chain(invocation.advisers.remarks.iter().cloned());
    let own = own.chain(invocation.about_commands()).chain(invocation.not_measured()).chain(given);
    own.chain(not_placed("the project", &links)).chain(others).collect()
}

/// Returns the folders of the project that are repositories of their own: submodules, and others.
fn apart(root: &Path, project: &Captured) -> Vec<String> {
    let is_repository = |entry: &&Entry| {
        entry.node.is_folder() && root.join(entry.path.as_path()).join(".git").symlink_metadata().is_ok()
    };
    project.manifest.entries().iter().filter(is_repository).map(|entry| entry.path.to_string()).collect()
}

/// Stores the project with its uncommitted changes, and without its ignored files.
fn capture(invocation: &Invocation, objects: &Objects, env: &Environment) -> Result<Captured, Complaint> {
    let limits = RuntimeOptions::artifacts(&invocation.common.settings);
    let root = &invocation.root;
    read(root, |rules| env.indexes().capture(objects, root, rules, limits))
}
