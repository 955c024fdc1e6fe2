//! The run is the same at any number of jobs, and independent steps run in parallel.

use serde_json::json;

use super::*;
use crate::background::{Background, Gate};

#[test]
fn one_job_and_four_give_the_same_decisions_the_same_artifact_and_the_same_files() {
    let came_to = |jobs: &str| {
        let mut play = rising();
        play["odd_once"] = json!({ "evaluate": "rubbish" });
        let scene = Scene::new(&[], &json!({ "reflex": play, "jitter_ms": 40 }));
        let ran = new(&scene, &["--jobs", jobs]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        (scene.events("decided"), artifact(&scene), scene.answered())
    };
    assert_eq!(came_to("1"), came_to("4"));
}

/// Creates a scene whose writer and preparer each wait at their own gate.
fn gated() -> (Scene, [Gate; 2]) {
    let scene = scene(&rising());
    let gates = ["produce", "prepare"].map(|phase| scene.path(phase));
    let script = json!({ "reflex": rising(), "gates": { "produce": gates[0], "prepare": gates[1] } });
    scene.write_script(&script);
    (scene, gates.map(Gate::at))
}

#[test]
fn the_text_is_written_while_its_checks_are_prepared() {
    let (scene, gates) = gated();
    let arguments = begin(&["--jobs", "2"]);
    let run = Background::start(&scene, &arguments);
    let both = |scene: &Scene| begun(scene, "produce") == 1 && begun(scene, "prepare") == 1;
    assert!(run.until(both), "neither has answered, and both have begun");
    gates.into_iter().for_each(Gate::open);
    let ran = run.wait();
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
