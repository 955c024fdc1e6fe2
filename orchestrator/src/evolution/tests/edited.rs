//! Tests with an artifact that a person edits too.

use skilltune_phases::loops::reflex::original::{artifact_hash, short};

use super::*;
use crate::crash::rehearsal::{crashed, interrupted};

const THEIRS: &str = "my own words";

/// The run's versions are numbered; it knows nothing else.
fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(b"version ")
}

fn place(scene: &Scene, bytes: &str) -> Placed {
    scene.evolution().writer(&task(), RUN).place_artifact(bytes.as_bytes(), is_ours).unwrap()
}

fn begun() -> Scene {
    let scene = Scene::new();
    scene.put("courses-api/run.json", named(RUN));
    scene
}

/// Returns the files without the one that names the run.
fn files(scene: &Scene) -> BTreeMap<String, String> {
    let mut files = scene.files();
    files.remove("run.json");
    files
}

fn named_by(bytes: &str) -> String {
    format!("artifact-{}.md", short(&artifact_hash(bytes.as_bytes())))
}

fn map<const N: usize>(files: [(&str, &str); N]) -> BTreeMap<String, String> {
    files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

#[test]
fn what_the_run_wrote_is_replaced() {
    let scene = begun();
    for version in ["version 1", "version 2", "version 2"] {
        let placed = place(&scene, version);
        assert_eq!((placed.name.as_str(), placed.rescued.as_deref()), ("artifact.md", None));
        assert!(!placed.is_beside());
        assert_eq!(files(&scene), map([("artifact.md", version)]));
    }
}

#[test]
fn what_a_person_wrote_stays_and_ours_stands_beside_it() {
    let scene = begun();
    place(&scene, "version 1");
    scene.put("courses-api/artifact.md", THEIRS);
    let beside = named_by("version 2");
    for _ in 0..2 {
        let placed = place(&scene, "version 2");
        assert_eq!((placed.name.as_str(), placed.is_beside()), (beside.as_str(), true));
        assert_eq!(files(&scene), map([("artifact.md", THEIRS), (&beside, "version 2")]));
    }
    scene.put(&format!("courses-api/{beside}"), "edited too");
    let numbered = beside.replace(".md", "-2.md");
    assert_eq!(place(&scene, "version 2").name, numbered);
    let all = map([("artifact.md", THEIRS), (&beside, "edited too"), (&numbered, "version 2")]);
    assert_eq!(files(&scene), all);
}

#[test]
fn what_is_too_large_to_be_read_is_a_persons() {
    let scene = begun();
    let large = "x".repeat((8 << 20) + 1);
    scene.put("courses-api/artifact.md", &large);
    assert!(place(&scene, "version 1").is_beside());
    assert!(files(&scene)["artifact.md"] == large);
}

#[test]
fn a_persons_edit_at_any_moment_is_kept() {
    for first in [Some("version 1"), None] {
        for at in 1.. {
            let scene = begun();
            if let Some(first) = first {
                scene.put("courses-api/artifact.md", first);
            }
            let path = scene.of_task("artifact.md");
            let edit = move || fs::write(path, THEIRS).unwrap();
            let (placed, was_edited) = interrupted(at, edit, || place(&scene, "version 2"));
            if !was_edited {
                assert!(at > 4, "there are places to edit at");
                break;
            }
            let files = files(&scene);
            assert_eq!(files["artifact.md"], THEIRS, "{at}");
            assert!(!placed.is_beside() || files[&placed.name] == "version 2", "{at}");
            assert!(files.keys().all(|name| !name.starts_with('.')), "{at}: {files:?}");
        }
    }
}

#[test]
fn a_kill_at_any_moment_is_made_good_by_the_next_call() {
    for first in ["version 1", THEIRS] {
        let whole = begun();
        whole.put("courses-api/artifact.md", first);
        place(&whole, "version 2");
        for at in 1.. {
            let scene = begun();
            scene.put("courses-api/artifact.md", first);
            if crashed(at, || place(&scene, "version 2")).is_some() {
                assert!(at > 4, "there are places to die at");
                break;
            }
            assert_eq!(place(&scene, "version 2").rescued, None);
            assert_eq!(files(&scene), files(&whole), "{at}");
        }
    }
}

#[test]
fn an_edit_that_a_kill_left_aside_gets_a_name() {
    let scene = begun();
    scene.put("courses-api/artifact.md", "version 2");
    scene.put("courses-api/.skilltune-tmp-aside-artifact.md", THEIRS);
    let (placed, theirs) = (place(&scene, "version 3"), named_by(THEIRS));
    assert_eq!(placed, Placed { name: "artifact.md".to_owned(), rescued: Some(theirs.clone()) });
    assert_eq!(files(&scene), map([("artifact.md", "version 3"), (&theirs, THEIRS)]));
}
