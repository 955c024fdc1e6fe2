//! Checks what must be true of a scene after every run of `reflex`, whatever happened before.

use std::fs;
use std::path::Path;

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::store::{self, Locks};
use skilltune_phases::loops::reflex::{Run, projection};

use super::place;
use crate::outcome::assert_left_nothing;
use crate::scene::Scene;

/// Returns the run as its journal describes it.
pub(super) fn replayed(scene: &Scene) -> Run {
    let history =
        store::read(&SafePath::below(&scene.run_folder(), "history.jsonl")).expect("the journal can be read");
    Run::replay(&history.records).expect("the journal is that of a run")
}

pub(super) fn assert_tidy(scene: &Scene, story: &str) {
    assert_left_nothing(scene, story);
    let run = replayed(scene);
    assert!(run.closed_at.is_some(), "{story}: the run is not over");
    assert_is_told(scene, &run, story);
    assert!(!scene.path("project/.ai-factory/evolution/current.json").exists(), "{story}: it is over");
    let task = &run.plan.task;
    let folder = Path::new(&task.project).join(&task.evolution).join(&task.alias);
    let locks = Locks::at(&scene.path("state/skilltune"));
    assert_eq!(locks.holder(&folder).expect("the lock can be read"), None, "{story}: the lock is held");
}

/// Fails unless the files match the journal and the folder has no other files.
pub(super) fn assert_is_told(scene: &Scene, run: &Run, story: &str) {
    let read =
        |path: &Path| fs::read_to_string(path).unwrap_or_else(|_| panic!("{story}: {}", path.display()));
    let state = projection::run_file(run);
    assert_eq!(read(&scene.run_folder().join("iteration-state.json")), state, "{story}: the state");
    assert_eq!(read(&place(scene).join("run.json")), state, "{story}: run.json");
    let history = read(&place(scene).join("history.jsonl"));
    assert_eq!(history, projection::history(run), "{story}: history.jsonl");
    let mut names: Vec<_> = fs::read_dir(place(scene))
        .expect("readable")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    let mut expected = vec!["history.jsonl", "run.json"];
    expected.extend(run.result().map(|_| "artifact.md"));
    expected.sort_unstable();
    assert_eq!(names, expected, "{story}");
    if let Some(result) = run.result().filter(|_| run.state.stop.is_some()) {
        assert_eq!(super::hash(&super::artifact(scene)), result.hash, "{story}: the best stands in the end");
    }
}
