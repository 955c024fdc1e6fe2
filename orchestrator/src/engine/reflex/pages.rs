//! The files of a run: those of the original beside the project's others, and our own beside the journal.

use std::path::Path;

use skilltune_phases::loops::reflex::original::artifact_hash;
use skilltune_phases::loops::reflex::{Artifact, PAGE, Run, projection};

use super::super::EngineError;
use super::page;
use crate::disk::{SafePath, atomic::Durability};
use crate::evolution::{Evolution, Part};
use crate::snapshot::{Objects, RelPath};
use crate::store::RunFolder;

/// How a run's own pages are worded: that is a person's side.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    pub report: fn(&Run) -> String,
    pub report_json: fn(&Run) -> String,
}

pub(super) fn write(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run,
    pages: &Pages,
) -> Result<(), EngineError> {
    let state = projection::run_file(run);
    write_originals(objects, run, &state)?;
    for judged in &run.course.judged {
        let place = folder.iteration(judged.iteration);
        place.make_folder()?;
        replace(&place.join(PAGE), &page(objects, judged.artifact.tree)?)?;
    }
    if run.closed_at.is_some() {
        replace(&folder.report(), &(pages.report)(run))?;
        replace(&folder.report_json(), &(pages.report_json)(run))?;
    }
    replace(&folder.state(), &state)
}

fn write_originals(objects: &Objects, run: &Run, state: &str) -> Result<(), EngineError> {
    let task = &run.plan.task;
    let below = RelPath::parse(task.evolution.as_bytes()).map_err(|_| EngineError::Stuck)?;
    let evolution = Evolution::open_or_make(Path::new(&task.project), &below)?;
    let writer = evolution.writer(&projection::alias(run), run.plan.run.as_str());
    // By this file the folder is known to be ours.
    writer.write(Part::Run, state.as_bytes())?;
    writer.write(Part::History, projection::history(run).as_bytes())?;
    if let Some(artifact) = written(run) {
        let ours = |hash: &str| run.course.artifacts.iter().any(|artifact| artifact.hash == hash);
        let known = |bytes: &[u8]| ours(&artifact_hash(bytes));
        writer.place_artifact(page(objects, artifact.tree)?.as_bytes(), known)?;
    }
    // Where it names another run it stays so: one of several at a time is enough for its readers.
    match projection::current(run) {
        Some(current) => writer.point(current.as_bytes())?,
        None => writer.remove_current()?,
    };
    Ok(())
}

/// What stands as the artifact: what is worked on, and at the end the best.
fn written(run: &Run) -> Option<&Artifact> {
    if run.course.stop.is_some() { run.result() } else { run.course.artifact.as_ref() }
}

#[track_caller]
fn replace(path: &SafePath, text: &str) -> Result<(), EngineError> {
    Ok(path.replace(text.as_bytes(), Durability::Order)?)
}
