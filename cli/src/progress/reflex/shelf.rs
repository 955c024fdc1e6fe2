//! Where the artifacts of a run are looked up: those that it wrote in the store, what became of the last in its file.

use std::path::Path;

use skilltune_orchestrator::engine::reflex::page;
use skilltune_orchestrator::evolution::Evolution;
use skilltune_orchestrator::snapshot::{Objects, RelPath};
use skilltune_phases::loops::reflex::original::artifact_hash;
use skilltune_phases::loops::reflex::{Artifact, Run, projection};

/// The text of an artifact, if it can be read.
type Text = Box<dyn Fn(&Artifact) -> Option<String>>;

pub(crate) struct Shelf {
    pub(super) text: Text,
    /// The hash of what is in the artifact's file.
    pub(super) on_disk: fn(&Run) -> Option<String>,
}

impl Shelf {
    pub(super) fn of(objects: Objects) -> Self {
        Self { text: Box::new(move |artifact| page(&objects, artifact.tree).ok()), on_disk }
    }
}

/// The hash of what is in the artifact's file now, as far as it can be read: a person may have edited it.
pub(crate) fn on_disk(run: &Run) -> Option<String> {
    let task = &run.plan.task;
    let below = RelPath::parse(task.evolution.as_bytes()).ok()?;
    let evolution = Evolution::open(Path::new(&task.project), &below).ok()??;
    let bytes = evolution.artifact(&projection::alias(run)).ok()??;
    Some(artifact_hash(&bytes))
}
