//! An agent that changed while its run was paused: reported, and old measurements are not compared with new ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::scene::{FAKE_AGENT, Scene};

/// Creates a run that was interrupted in its first call, and the script that is the program of all its agents. Each
/// call adds a line to a log, which the agents' commands name.
fn interrupted() -> (Scene, PathBuf) {
    let script = json!({ "improve": { "writer": { "40": 60, "60": 90 } } });
    let scene = Scene::new(&[("writer", 40)], &script);
    let (agent, log) = (scene.path("agent.sh"), scene.path("agent.log"));
    let text = format!("#!/bin/sh\necho called >> \"$1\"\nshift\nexec {FAKE_AGENT:?} \"$@\"\n");
    fs::write(&agent, text).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let path = scene.path("config/skilltune/skilltune.toml");
    let command = format!("\"{}\", \"{}\"", agent.display(), log.display());
    let settings = fs::read_to_string(&path).unwrap().replace(&format!("{FAKE_AGENT:?}"), &command);
    fs::write(&path, settings).unwrap();
    let gate = Gate::before("executor", &scene, script);
    let run = Background::start(&scene, &["tune", "writer", "write a page", "--yes"]);
    run.until_begun(1);
    assert_eq!(run.interrupt(gate).code, Some(130));
    (scene, agent)
}

fn notes(scene: &Scene) -> Value {
    let text = fs::read(scene.run_folder().join("report.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["notes"].clone()
}

#[test]
fn a_run_goes_on_with_an_agent_that_has_changed_and_says_which_part_of_it_did() {
    let (scene, agent) = interrupted();
    let text = fs::read_to_string(&agent).unwrap();
    fs::write(&agent, text + "# an update\n").unwrap();
    let answered = scene.answered();
    assert_eq!(answered, 1);
    let strict = scene.run(&["resume", &scene.run_id(), "--yes", "--strict-agents"]);
    assert_eq!((strict.code, scene.answered()), (Some(2), answered), "{strict:?}");
    insta::assert_snapshot!(scene.normalized(&strict.stderr), @"
    error: the executor (executor) changed since run RUN began
    caused by: changed: program /agent.sh
    hint: undo the change, or drop --strict-agents to continue and note the change in the report
    ");
    let ran = scene.run(&["resume", &scene.run_id(), "--yes"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
    let lines: Vec<String> = ["executor", "evaluator", "improver"]
        .map(|role| {
            let part =
                format!("the {role} ({role}) changed since the run began: program {}", agent.display());
            let measure =
                if role == "improver" { "" } else { "; earlier scores are not compared with later ones" };
            part + measure
        })
        .into();
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(lines.iter().all(|line| said.contains(line)), "{ran:?}");
    assert_eq!(notes(&scene), json!(lines));
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("changed since the run began"), "{report}");
    // The output of the first call is not judged by the later agents, and no comparison mixes the two.
    let done = scene.events("done");
    let eras = done.iter().filter_map(|done| {
        let step = done["step"].as_object()?.values().next()?;
        step.get("trial").map(|trial| trial["era"].as_u64().unwrap_or(0))
    });
    let eras: Vec<u64> = eras.collect();
    assert!(eras[0] == 0 && eras.len() > 6 && eras[1..].iter().all(|era| *era == 2), "{eras:?}");
}

#[test]
fn a_log_that_a_command_names_is_no_part_of_the_agent() {
    let (scene, _) = interrupted();
    let log = fs::read_to_string(scene.path("agent.log")).unwrap();
    assert_eq!(log, "called\n", "it has changed since the run began");
    let ran = scene.run(&["resume", &scene.run_id(), "--yes"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
    assert_eq!(notes(&scene), json!([]));
    scene.write_skill("writer", 40);
    let again = || {
        assert_eq!(scene.tune("writer", &["--apply", "never"]).code, Some(0));
        scene.answered()
    };
    assert_eq!(again(), again(), "the cache knows the agent by what it runs");
}
