//! Turns a request into a plan: everything that decides is frozen.

use std::path::Path;

use jiff::Timestamp;
use skilltune_orchestrator::git::require_repository;
use skilltune_orchestrator::snapshot::{CaptureError, Captured, IgnoreRules, Limits, Manifest, Objects};
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::gan::{Browser, Plan, Task};
use skilltune_phases::suites::checks::Commands;

use crate::casting::git;
use crate::inputs::links;
use crate::loops::gan::browser::{self, Found};
use crate::loops::gan::invocation::Invocation;
use crate::runs::commit;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::{new_run_id, seed};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// The trees that a run starts with.
struct Stored {
    start: TreeId,
    links_outside: Vec<String>,
    materials: Option<TreeId>,
}

/// Stores the files that a run starts with.
fn store(invocation: &Invocation, objects: &Objects, env: &Environment) -> Result<Stored, Complaint> {
    let start = match invocation.into.as_ref().filter(|path| path.is_dir()) {
        None => {
            let manifest = Manifest::default();
            Captured { tree: objects.put_manifest(&manifest).map_err(ours)?, manifest }
        }
        Some(path) => {
            let limits = RuntimeOptions::artifacts(&invocation.common.settings);
            read(path, |rules| env.indexes().capture(objects, path, rules, limits))?
        }
    };
    let files: Vec<_> = invocation.materials.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let materials = (!files.is_empty()).then(|| objects.put_files(&files)).transpose().map_err(ours)?;
    Ok(Stored { start: start.tree, links_outside: links::outside(&start.manifest), materials })
}

/// Reads a folder without its ignored files.
pub fn read<T>(
    path: &Path,
    how: impl FnOnce(Option<IgnoreRules>) -> Result<T, CaptureError>,
) -> Result<T, Complaint> {
    let read = IgnoreRules::of(path).map_err(CaptureError::from).and_then(|rules| how(Some(rules)));
    read.map_err(|error| {
        let cannot = Complaint::input(format!("cannot read {}", path.display()));
        let is_too_large = matches!(error, CaptureError::TooLarge(_));
        let cannot = cannot.caused_by(error);
        if is_too_large {
            cannot.hint(
                "add files that agents do not need to .gitignore, or raise limits.artifact_files and limits.artifact_bytes",
            )
        } else {
            cannot
        }
    })
}

/// Makes the plan. That of the run that a sketch has named has the files that the run starts with, which it stores.
pub fn plan(
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan>,
) -> Result<Plan, Complaint> {
    let Stored { start, links_outside, materials } = match sketch {
        None => Stored { start: TreeId::EMPTY, links_outside: Vec::new(), materials: None },
        Some(_) => store(invocation, &Objects::at(home.objects()), env)?,
    };
    let browser = |found: &Found| {
        let (argv, confined) = (browser::argv(found, invocation.browser_seconds)?, invocation.confines);
        let preview = invocation.preview.clone();
        let starting = preview.as_ref().map_or(0, |preview| preview.seconds);
        let seconds = invocation.browser_seconds.saturating_add(starting);
        Ok::<_, Complaint>(Browser { argv, seconds, confined, preview })
    };
    let task = Task {
        name: invocation.name.clone(),
        brief: invocation.brief.clone(),
        level: invocation.level,
        negotiated: invocation.negotiated,
        profile: invocation.profile.clone(),
        asked: invocation.asked.clone(),
        given: invocation.given.clone(),
        materials,
        start,
        links_outside,
        into: invocation.into.as_ref().map(|path| path.to_string_lossy().into_owned()),
        apply: invocation.apply,
        rules: invocation.rules.clone(),
        retries: invocation.retries,
        commands: Commands { run: invocation.commands, confined: invocation.confines },
        command_seconds: invocation.command_seconds,
        browser: invocation.browser.as_ref().map(browser).transpose()?,
        artifact_dir: invocation.artifact_dir.clone(),
        remarks: invocation.remarks.clone(),
    };
    let seed = invocation
        .seed
        .unwrap_or_else(|| seed(&(&task.brief, &task.asked, &task.given, &task.rules, &task.start)));
    let run = sketch.map_or_else(|| new_run_id(seed, Timestamp::now()), |sketch| sketch.run.clone());
    Ok(invocation.common.plan(run, seed, task))
}

/// Fails if no change of a folder could be proposed, as far as that is known before a run is paid for. Writes nothing.
pub fn require_proposable(
    folder: &Path,
    limits: Limits,
    otherwise: &'static str,
    env: &Environment,
) -> Result<(), Complaint> {
    let program = git(env).map_err(|_| commit::no_git().hint(otherwise))?;
    let now = if folder.is_dir() {
        read(folder, |rules| env.indexes().scan(folder, rules, limits))?.manifest
    } else {
        Manifest::default()
    };
    let folder = folder.to_owned();
    let required = commit::with_git(&program, move |git| require_repository(git, &folder, &now))?;
    required.map_err(|error| commit::refused(&error).hint(otherwise))
}
