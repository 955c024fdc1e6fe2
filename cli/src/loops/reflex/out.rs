//! The user's path for the finished artifact: named before, or asked for afterwards. Existing files are never replaced.

use std::path::{Component, Path, PathBuf};

use skilltune_orchestrator::disk;
use skilltune_orchestrator::disk::atomic;
use skilltune_orchestrator::engine::reflex::page;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::{Reason, Run};

use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::named::require_within;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;
use crate::text::plain::one_line;

/// Returns a path where no file exists yet. Missing folders are made when there is something to put into them.
pub fn free(path: &Path) -> Result<PathBuf, Complaint> {
    if path.symlink_metadata().is_ok() {
        return Err(taken(path));
    }
    let cannot = |why: &str| Complaint::input(format!("cannot write {}: {why}", path.display()));
    let there = path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok());
    let there = there.ok_or_else(|| cannot("no parent folder exists"))?;
    if !there.is_dir() {
        return Err(cannot(&format!("{} is not a folder", there.display())).hint("pass another file"));
    }
    let missing = path.strip_prefix(there).expect("an ancestor is a prefix");
    // The missing part of the path must not contain `..`.
    if !missing.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(cannot("a parent folder does not exist").hint("pass a path without `..`"));
    }
    let there = there
        .canonicalize()
        .map_err(|error| Complaint::input(format!("cannot read {}", there.display())).caused_by(error))?;
    Ok(there.join(missing))
}

/// Writes the result of an ended run to the requested path; asks the user if none is set. `reflex stop` waits for the
/// process of the run, and it may come from another terminal: after that no question is asked. The unjudged text of a
/// failed run stays in the task's folder.
pub fn hand_over(
    run: &Run,
    objects: &Objects,
    person: Option<&dyn Answers>,
    env: &Environment,
    printer: Printer,
) -> Result<(), Complaint> {
    if run.closed_at.is_none() {
        return Ok(());
    }
    let Some(artifact) = run.deliverable() else {
        mention_unsaved(run, printer);
        return Ok(());
    };
    let asked = || -> Result<Option<PathBuf>, Complaint> {
        let is_stopped = run.state.stop.as_ref().is_some_and(|stop| stop.reason == Reason::UserStop);
        let Some(person) = person.filter(|_| !is_stopped) else { return Ok(None) };
        let name = person.line("Save a copy to which file?", "a path; leave empty to skip")?;
        name.map(|name| free(&env.named(Path::new(&name))?)).transpose()
    };
    let path = match &run.plan.task.out {
        Some(path) => Some(PathBuf::from(path)),
        None => asked()?,
    };
    let Some(path) = path else { return Ok(()) };
    // The repository may be a different one than when the run started.
    require_within(Path::new(&run.plan.task.project), &path)?;
    let text = page(objects, artifact.tree).map_err(ours)?;
    if disk::read(&path, text.len() as u64).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    if path.symlink_metadata().is_ok() {
        return Err(taken(&path));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            Complaint::input(format!("cannot create the folder {}", folder.display())).caused_by(error)
        })?;
    }
    atomic::create(&path, text.as_bytes()).map_err(ours)?;
    printer.talk(&format!("saved to {}", path.display()));
    Ok(())
}

/// Names the text of a failed run that is not written to the requested path.
fn mention_unsaved(run: &Run, printer: Printer) {
    if let (Some(path), Some(_)) = (&run.plan.task.out, run.result()) {
        let (path, id) = (one_line(path), &run.plan.run);
        printer.warn(&format!(
            "{path} was not written: the run failed before its text was judged; `skilltune show {id} head` prints the text"
        ));
    }
}

fn taken(path: &Path) -> Complaint {
    Complaint::input(format!("{} already exists, and was not replaced", path.display()))
        .hint("pass another file; the artifact is still in its folder")
}
