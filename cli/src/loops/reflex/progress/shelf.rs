//! Looks up the artifacts of a run: those that it wrote in the store, and the current last one in its file.

use std::path::Path;

use skilltune_orchestrator::engine::reflex::page;
use skilltune_orchestrator::evolution::Evolution;
use skilltune_orchestrator::snapshot::{Objects, RelPath};
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::reflex::original::artifact_hash;
use skilltune_phases::loops::reflex::{Artifact, Run, projection};

/// The text of an artifact, if it can be read.
type Text = Box<dyn Fn(&Artifact) -> Option<String>>;
/// The hash of the artifact's file.
type OnDisk = Box<dyn Fn(&Run) -> Option<String>>;

pub struct Shelf {
    pub text: Text,
    pub on_disk: OnDisk,
}

impl Shelf {
    pub fn of(objects: Objects) -> Self {
        let store = objects.clone();
        Self {
            text: Box::new(move |artifact| page(&objects, artifact.tree).ok()),
            on_disk: Box::new(move |run| on_disk(run, &store)),
        }
    }
}

/// Returns the hash of the artifact's file now, if it can be read: the user may have edited it.
///
/// A journal from a repository may name any folder: the file is read only in the project that has this store.
pub fn on_disk(run: &Run, store: &Objects) -> Option<String> {
    let task = &run.plan.task;
    if Home::of(Path::new(&task.project)).objects().path() != store.place().path() {
        return None;
    }
    let below = RelPath::parse(task.evolution.as_bytes()).ok()?;
    let evolution = Evolution::open(Path::new(&task.project), &below).ok()??;
    let bytes = evolution.artifact(&projection::alias(run)).ok()??;
    Some(artifact_hash(&bytes))
}

#[cfg(test)]
mod tests {
    use skilltune_orchestrator::evolution::Evolution;
    use skilltune_phases::loops::reflex::original::Alias;

    use super::*;
    use crate::loops::reflex::world::{TO_THE_THRESHOLD, missing, plan, text};
    use crate::loops::tune::world::{Play, play};

    fn alias() -> Alias {
        Alias::parse("courses-api").unwrap()
    }

    #[test]
    fn what_is_in_the_file_is_looked_up_and_a_link_is_not_followed() {
        let project = tempfile::tempdir().unwrap();
        let mut asked = plan();
        asked.task.project = project.path().to_str().unwrap().to_owned();
        let run = Play::begin(asked).run;
        let store = Objects::at(Home::of(project.path()).objects());
        assert_eq!(on_disk(&run, &store), None);
        let below = RelPath::parse(run.plan.task.evolution.as_bytes()).unwrap();
        let evolution = Evolution::open_or_make(project.path(), &below).unwrap();
        let writer = evolution.writer(&alias(), run.plan.run.as_str());
        writer.place_artifact(text(1).as_bytes(), |_| false).unwrap();
        assert_eq!(on_disk(&run, &store), Some(artifact_hash(text(1).as_bytes())));
        let elsewhere = tempfile::tempdir().unwrap();
        let other = Objects::at(Home::of(elsewhere.path()).objects());
        assert_eq!(on_disk(&run, &other), None, "the journal of another project");
        let file = project.path().join(".ai-factory/evolution/courses-api/artifact.md");
        std::fs::rename(&file, project.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(project.path().join("elsewhere"), &file).unwrap();
        assert_eq!(on_disk(&run, &store), None);
    }

    #[test]
    fn a_store_without_the_artifact_costs_no_run() {
        let empty = tempfile::tempdir().unwrap();
        let run = play(plan(), missing(TO_THE_THRESHOLD)).run;
        assert_eq!((Shelf::of(Objects::at(empty.path())).text)(run.result().unwrap()), None);
    }
}
