//! Turns a request into a plan: everything that decides is frozen, and the files of both sides are stored.

use jiff::Timestamp;
use skilltune_orchestrator::git::{Git, store_commit};
use skilltune_orchestrator::snapshot::{Manifest, Objects};
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::Digest;
use skilltune_phases::loops::review::Plan;
use skilltune_phases::loops::review::task::{Task, Trees};

use crate::inputs::links;
use crate::loops::review::invocation::Invocation;
use crate::loops::review::own;
use crate::loops::review::subject::{Commit, refused, with_git};
use crate::runs::{new_run_id, seed};
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// Makes the plan. That of the run that a sketch has named has the files, which it stores.
pub fn plan(
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan>,
) -> Result<Plan, Complaint> {
    let Invocation { subject, diffs, .. } = invocation;
    let stored = match sketch {
        Some(_) => Some(store(invocation, &Objects::at(home.objects()), env)?),
        None => None,
    };
    let (trees, hidden) = stored.unzip();
    let task = Task {
        subject: subject.words.as_str().into(),
        root: subject.root.to_string_lossy().into(),
        trees,
        changed: diffs.changed.clone(),
        parts: diffs.parts.clone(),
        left_out: diffs.left_out.clone(),
        hidden: hidden.unwrap_or_default(),
        reviewers: invocation.reviewers.clone(),
        machines: invocation.machines.iter().map(|planned| planned.machine.clone()).collect(),
        found: invocation.found.clone(),
        suppressed: invocation.suppressed.clone(),
        is_skill: own::is_skill(subject),
        is_whole: subject.changes.base.is_none(),
        commands: invocation.commands,
        command_seconds: command_seconds(&invocation.common.settings),
        rules: invocation.rules,
        remarks: invocation.remarks.clone(),
    };
    let seed = invocation.seed.unwrap_or_else(|| {
        let texts = diffs.texts.iter().map(|(_, text)| text.as_bytes());
        seed(&(&task.subject, &task.reviewers, Digest::of_parts(texts)))
    });
    let run = sketch.map_or_else(|| new_run_id(seed, Timestamp::now()), |sketch| sketch.run.clone());
    Ok(invocation.common.plan(run, seed, task))
}

fn command_seconds(settings: &Settings) -> u64 {
    settings.commands.seconds.value
}

/// Stores the files before and after the change and the diffs. Returns the paths that agents do not get, too.
fn store(
    invocation: &Invocation,
    objects: &Objects,
    env: &Environment,
) -> Result<(Trees, Vec<String>), Complaint> {
    let Invocation { subject, diffs, .. } = invocation;
    let before = match (&subject.changes.base, &subject.decides) {
        (Some(_), Some(Commit { repository, id })) => {
            let (repository, id, objects) = (repository.clone(), id.clone(), objects.clone());
            let work = move |git: &Git<'_>| store_commit(git, &repository, &id, &objects);
            with_git(env, work)?.map_err(|error| refused(&subject.words, &error))?
        }
        _ => Manifest::default(),
    };
    let after = subject.changes.store(&before, objects).map_err(|error| refused(&subject.words, &error))?;
    let texts: Vec<(&str, &[u8])> =
        diffs.texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let trees = Trees {
        before: objects.put_manifest(&before).map_err(ours)?,
        after: objects.put_manifest(&after).map_err(ours)?,
        diffs: objects.put_files(&texts).map_err(ours)?,
    };
    Ok((trees, links::acting(&after)))
}
