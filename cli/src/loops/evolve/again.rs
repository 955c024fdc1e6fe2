//! What goes on from something older: a resumed run, a plan that was made before, and `evolve rerun`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::snapshot::{
    Captured, Manifest, Objects, RelPath, changes, listed_conflicts, rebase,
};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::plan::Planned;
use skilltune_phases::loops::evolve::spec::Id;
use skilltune_phases::loops::evolve::task::Base;
use skilltune_phases::loops::evolve::{Decision, EVIDENCE, Evolve, MergedWork, Run};
use skilltune_phases::runs::plan::LoopKind;

use crate::inputs::links;
use crate::loops::evolve::args::RerunArgs;
use crate::loops::evolve::committed::committed;
use crate::loops::evolve::invocation::{Invocation, Rerun, Subject, root};
use crate::loops::gan::planning::read;
use crate::runs::ownership::Ownership;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::{Known, RunStatus};
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::text::plain::{one_line, shell_path};

/// The effects of a given plan or a rerun on a new run.
#[derive(Debug, Default)]
pub struct Given {
    pub outdated: Vec<Id>,
    pub only: Vec<Id>,
    pub built_on: Vec<MergedWork>,
    pub remarks: Vec<String>,
}

/// Returns that the project has changed since a run last looked at it, if it has.
pub fn found(
    scope: &Scope<'_>,
    known: &Known<Evolve>,
    settings: &Settings,
) -> Result<Option<Decision>, Complaint> {
    let (task, state) = (&known.run.plan.task, &known.run.state);
    let project = Path::new(&task.root);
    // What is verified does not follow the project.
    if task.verify.is_some() || state.end.is_some() || state.is_ended_by_caller || !project.is_dir() {
        return Ok(None);
    }
    let (objects, env) = (scope.objects(), scope.env);
    let limits = RuntimeOptions::artifacts(settings);
    let now = read(project, |rules| env.indexes().capture(&objects, project, rules, limits))?;
    if now.tree == state.seen {
        return Ok(None);
    }
    let committed = task.committed.map(|_| committed(project, &now, &objects, env)).transpose()?;
    Ok(Some(Decision::Found(Box::new(Base { tree: now.tree, committed, hidden: hidden(&now.manifest) }))))
}

/// Returns the paths of a project that agents do not get: programs would read them by themselves, or they may hold oracles of
/// earlier runs.
pub fn hidden(project: &Manifest) -> Vec<String> {
    let evidence = RelPath::parse(EVIDENCE.as_bytes()).ok().filter(|path| project.get(path).is_some());
    links::acting(project).into_iter().chain(evidence.map(|path| path.to_string())).collect()
}

/// Returns the work of the earlier run that a rerun builds on, and the tasks that it does. A sketch does not read the project.
pub fn given(invocation: &Invocation, now: Option<&Captured>, objects: &Objects) -> Result<Given, Complaint> {
    let mut given = Given::default();
    if let Some(rerun) = &invocation.rerun {
        given.only.clone_from(&rerun.only);
        let (task, run, only) = (&rerun.task, &rerun.run, rerun.only.join(", "));
        given.remarks.push(format!(
            "task {task} of run {run} is done again, with tasks that depend on it and missing ones that it needs: {only}"
        ));
    }
    let (Some(plan), Some(now)) = (&invocation.plan, now) else { return Ok(given) };
    given.outdated = outdated(plan, now, objects);
    if let Some(rerun) = &invocation.rerun {
        given.outdated.retain(|id| rerun.only.contains(id));
        given.built_on = built_on(rerun, now.tree, objects)?;
    }
    if !given.outdated.is_empty() {
        let tasks = given.outdated.join(", ");
        given.remarks.push(format!(
            "the project has changed since the plan was made, so tasks that name a changed file are planned again: {tasks}"
        ));
    }
    Ok(given)
}

/// Returns the tasks of a plan that name a file which has changed since it was made: all if that is not known any more,
/// and none if the plan does not say what it was made for.
fn outdated(plan: &Planned, now: &Captured, objects: &Objects) -> Vec<Id> {
    let Some(tree) = plan.tree.filter(|tree| *tree != now.tree) else { return Vec::new() };
    match objects.manifest(tree) {
        Ok(was) => {
            let changed = changes(&was, &now.manifest);
            plan.naming(&changed.iter().map(|change| change.path.to_string()).collect::<Vec<_>>())
        }
        Err(_) => plan.tasks.iter().map(|item| item.id.clone()).collect(),
    }
}

/// Returns the work of an earlier run on the project as it is now.
fn built_on(rerun: &Rerun, now: TreeId, objects: &Objects) -> Result<Vec<MergedWork>, Complaint> {
    let after: Vec<TreeId> = rerun.works.iter().map(|work| work.after).collect();
    let trees = rebase(objects, rerun.base, now, &after).map_err(ours)?.map_err(|conflicts| {
        Complaint::input(format!("cannot build on run {}: the project has changed since", rerun.run))
            .caused_by(one_line(&format!("conflicts: {}", listed_conflicts(&conflicts))))
            .hint("undo these changes, or begin a new run")
    })?;
    let before = std::iter::once(now).chain(trees.iter().copied());
    let works = rerun.works.iter().zip(before).zip(&trees);
    let work = |((work, before), after): ((&MergedWork, TreeId), &TreeId)| MergedWork {
        task: work.task.clone(),
        batch: None,
        before,
        after: *after,
    };
    Ok(works.map(work).collect())
}

/// `evolve rerun`: returns a task of an earlier run, with its specification and its plan.
pub fn subject(args: &RerunArgs, env: &Environment, printer: Printer) -> Result<Subject, Complaint> {
    let scope = Scope::here(Some(LoopKind::Evolve), env, printer)?;
    let id = scope.named(args.run.as_deref())?;
    let known = scope.runs.load::<Evolve>(&id)?;
    Ownership::new(env).require(&known)?;
    let run = &known.run;
    let not_yet = |what: &str, hint: String| {
        Err(Complaint::input(format!("cannot do a task of run {id} again: {what}")).hint(hint))
    };
    if !matches!(scope.runs.status(run), RunStatus::Ended | RunStatus::Held) {
        return not_yet("it has not ended", format!("`skilltune resume {id}` continues it"));
    }
    let Some(plan) = run.state.plan.as_ref().map(Planned::as_planned) else {
        let file = shell_path(Path::new(&run.plan.task.file));
        return not_yet("it has no plan", format!("`skilltune evolve {file}` begins a new run"));
    };
    let Some(item) = plan.item(&args.task) else {
        let tasks: Vec<&str> = plan.tasks.iter().map(|item| &*item.id).collect();
        let what = format!("its plan has no task {:?}", args.task);
        return not_yet(&one_line(&what), one_line(&format!("it has {}", tasks.join(", "))));
    };
    let rerun = rerun(run, &plan, &item.id);
    let task = &run.plan.task;
    Ok(Subject {
        name: task.name.clone(),
        file: PathBuf::from(&task.file),
        spec: task.spec.clone(),
        root: root(Some(Path::new(&task.root)), env)?,
        plan: Some(plan),
        plan_only: false,
        rerun: Some(rerun),
    })
}

fn rerun(run: &Run, plan: &Planned, task: &Id) -> Rerun {
    let result = run.result().unwrap_or_else(|| run.base());
    Rerun {
        run: run.plan.run.clone(),
        task: task.clone(),
        only: run.with_needs(plan, result, BTreeSet::from([task.clone()])).into_iter().collect(),
        base: run.base(),
        works: run.works_of(result).to_vec(),
    }
}
