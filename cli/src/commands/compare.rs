//! `compare`: tests whether one version of a skill is better than another, with the test that ends a search.

mod revision;

use std::path::{Path, PathBuf};

use skilltune_orchestrator::snapshot::{Entry, Manifest, Node, Objects};
use skilltune_phases::loops::tune::{Aim, Sides, Tune};
use skilltune_phases::runs::plan::LoopKind;
use skilltune_phases::suites::checks::Check;
use skilltune_phases::suites::scenario::Scenario;

use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::inputs::suite::Suite;
use crate::loops::tune::scenarios::TaskSet;
use crate::loops::tune::trial_flags::CompareArgs;
use crate::loops::tune::trial_run::{self, TrialRun, What};
use crate::loops::tune::versions::Version;
use crate::loops::tune::without_skill;
use crate::runs::{Known, Runs};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

/// The name of the version without a skill.
const NONE: &str = "none";

pub(super) fn run(args: &CompareArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let sides = [side(&args.a, env)?, side(&args.b, env)?];
    let is_without = sides.iter().any(Version::is_nothing);
    let name = name(&sides)?;
    let folders: Vec<&Path> = sides.iter().filter_map(Version::folder).collect();
    let (suite, found) = trial_run::suite(&args.flags, &folders, env)?;
    let project = project(&sides, env);
    let trial_run = TrialRun::new(&args.flags, args.panel.as_ref(), &project, env, printer)?;
    if is_without && trial_run.is_built_in() {
        return Err(
            Complaint::input("the built-in agent does nothing without a skill").hint("pass --agent NAME")
        );
    }
    if trial_run.is_installed() {
        refuse_two_names(&sides)?;
    }
    let task_set =
        if is_without { without_skill(&suite, &name, found, printer)? } else { task_set(&suite, found)? };
    let skill = Skill { name, path: suite.path.clone() };
    let (start, challenger) = (args.a.as_str().into(), args.b.as_str().into());
    let two = Sides { start, challenger, trees: Vec::new(), regraded: None };
    let (aim, versions) = (Aim::Compare(Box::new(two)), sides.into());
    trial_run.run(What { aim, versions, skills: vec![skill], task_set, confirm: args.trials }, suite)
}

/// Resolves an argument: no skill, a folder, a git revision, a candidate of a run, or the name of a skill.
fn side(given: &str, env: &Environment) -> Result<Version, Complaint> {
    let exists = env.cwd.join(given).symlink_metadata().is_ok();
    Ok(if given == NONE {
        Version::Nothing
    } else if let (false, Some((revision, folder))) = (exists, given.split_once(':')) {
        revision::read(revision, folder, env)?
    } else if let (false, Some((run, candidate))) = (exists, given.split_once('/'))
        && let Some(known) = known(run, env)?
    {
        of_run(&known, candidate, env)?
    } else {
        let skills = find::skills_for("compare none", given, env);
        let named = given
            .split_once('/')
            .filter(|(run, _)| !exists && !run.is_empty() && !run.starts_with(['.', '~']));
        Version::Folder(one(skills.map_err(|complaint| match named {
            Some((run, _)) => complaint
                .hint(format!("no run here is named {run:?} either; `skilltune list` shows all runs")),
            None => complaint,
        })?)?)
    })
}

fn one(mut skills: Vec<Skill>) -> Result<Skill, Complaint> {
    if skills.len() > 1 {
        return Err(
            Complaint::input("`compare` compares two versions of one skill").hint("pass one skill per side")
        );
    }
    Ok(skills.remove(0))
}

/// Returns the run of this project with that name, if any. Anything else may be a path.
fn known(run: &str, env: &Environment) -> Result<Option<Known<Tune>>, Complaint> {
    let runs = Runs::here(env)?;
    let is_one =
        !run.is_empty() && runs.ids(Some(LoopKind::Tune)).iter().any(|id| id.as_str().starts_with(run));
    if !is_one {
        return Ok(None);
    }
    let id = runs.named(Some(run), Some(LoopKind::Tune))?;
    runs.load::<Tune>(&id).map(Some)
}

fn of_run(known: &Known<Tune>, candidate: &str, env: &Environment) -> Result<Version, Complaint> {
    let candidate = known.version(candidate)?;
    let ([tree], [member]) = (candidate.trees.as_slice(), known.run.plan.task.target.members.as_slice())
    else {
        return Err(Complaint::input(format!("run {} tuned a chain", known.run.plan.run)).hint(
            "`compare` takes versions of one skill; `skilltune export` copies each of them to a folder",
        ));
    };
    let objects = Objects::at(Runs::here(env)?.home.objects());
    let manifest = objects.manifest(*tree).map_err(ours)?;
    if manifest.entries().is_empty() {
        return Ok(Version::Nothing);
    }
    let (page, hidden, plugin) = (page(&objects, &manifest)?, member.hidden.clone(), member.plugin.clone());
    Ok(Version::Candidate { name: member.name.to_string(), manifest, hidden, page, plugin })
}

/// Reads the `SKILL.md` of a version in the store.
fn page(objects: &Objects, manifest: &Manifest) -> Result<String, Complaint> {
    let is_page = |entry: &&Entry| entry.path.as_path() == Path::new("SKILL.md");
    let page = manifest.entries().iter().find(is_page).map(|entry| entry.node.clone());
    let Some(Node::File { blob, .. }) = page else { return Ok(String::new()) };
    Ok(String::from_utf8_lossy(&objects.read(blob).map_err(ours)?).into_owned())
}

/// Returns the project of the first folder, or the current one if a version is in its store.
fn project(sides: &[Version; 2], env: &Environment) -> PathBuf {
    let is_stored = |side: &Version| matches!(side, Version::Candidate { .. });
    let folder = sides.iter().find_map(Version::folder).filter(|_| !sides.iter().any(is_stored));
    folder.map_or_else(|| env.project_here(), |folder| env.project_of(folder))
}

/// Returns the skill's name: that of the first side that has one.
fn name(sides: &[Version; 2]) -> Result<String, Complaint> {
    let named = sides.iter().find_map(Version::name);
    named.map(str::to_owned).ok_or_else(|| {
        Complaint::input("cannot compare two versions: both sides are `none`")
            .hint("pass a skill on one side")
    })
}

/// Fails if the two skills have different names, because the executor finds a skill by its name.
fn refuse_two_names([a, b]: &[Version; 2]) -> Result<(), Complaint> {
    match (a.name(), b.name()) {
        (Some(one), Some(other)) if one != other => Err(Complaint::input(format!(
            "the skills have different names, {one} and {other}, and the executor finds a skill by its name"
        ))
        .hint("pass --delivery inline to put each skill's text into the prompt")),
        _ => Ok(()),
    }
}

fn task_set(suite: &Suite, found: bool) -> Result<TaskSet, Complaint> {
    TaskSet::of_suite(suite.clone(), found)
}

/// Returns the scenarios and checks that fit both versions when one of them has no skill.
fn without_skill(suite: &Suite, name: &str, found: bool, printer: Printer) -> Result<TaskSet, Complaint> {
    let (scenarios, left_out) = without_skill::asked(suite, name)?;
    for line in left_out {
        printer.talk(&format!("left out: {line}"));
    }
    if suite.scenarios.iter().any(asks_about_use) {
        printer.talk("skipped for both versions: checks that the skill is used");
    }
    Ok(TaskSet { scenarios, ..task_set(suite, found)? })
}

fn asks_about_use(scenario: &Scenario) -> bool {
    scenario.demands.iter().any(|demand| matches!(demand.how.check(), Some(Check::Skill { .. })))
}
