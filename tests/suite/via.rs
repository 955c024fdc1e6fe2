//! Agents called through ccw and maestro, played by our own programs as the real ones were observed.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::background::Background;
use crate::scene::{FAKE_AGENT, Ran, Scene};

const ALWAYS: [&str; 9] =
    ["tune", "writer", "write a page", "--yes", "--format", "json", "--agent", "claude", "--evaluator"];

/// Creates a skill, the wrappers, and two agents behind them.
fn scene(stage: &Value) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_script(&json!({}));
    fs::create_dir(scene.path("bin")).unwrap();
    for name in ["ccw", "maestro", "claude", "gemini"] {
        symlink(FAKE_AGENT, scene.path("bin").join(name)).unwrap();
    }
    let mut whole = json!({ "script": scene.path("script.json") });
    whole.as_object_mut().unwrap().extend(stage.as_object().unwrap().clone());
    fs::write(scene.path("bin/wrapped.json"), whole.to_string()).unwrap();
    scene
}

fn command(scene: &Scene, via: &str, more: &[&str]) -> std::process::Command {
    let mut command =
        scene.command(&[&ALWAYS[..], &["gemini", "--apply", "auto", "--via", via], more].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    command.env("CLAUDECODE", "1");
    command
}

fn tune(scene: &Scene, via: &str, more: &[&str]) -> Ran {
    Ran::of(command(scene, via, more).output().unwrap())
}

/// Returns the failures of a run of one round.
fn failures(stage: &Value) -> Vec<(String, String)> {
    let scene = scene(stage);
    // These references make the prompt larger than a pipe.
    for name in ["a", "b", "c", "d"] {
        let page = scene.skill("writer").join(format!("references/{name}.md"));
        fs::write(page, "word ".repeat(9_000)).unwrap();
    }
    let ran = tune(&scene, "ccw", &["--max-iterations", "1"]);
    assert_eq!(ran.code, Some(4), "{stage}: {ran:?}");
    assert_eq!(scene.alive(), [0; 0], "{stage}");
    failed(&scene)
}

fn failed(scene: &Scene) -> Vec<(String, String)> {
    let done = scene.events("done");
    let failed = done.iter().filter_map(|done| done.pointer("/outcome/failed"));
    let text = |failure: &Value, key: &str| failure[key].as_str().unwrap().to_owned();
    failed.map(|failure| (text(failure, "kind"), text(failure, "why"))).collect()
}

fn kinds(stage: &Value) -> Vec<String> {
    failures(stage).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn a_whole_run_goes_through_each_wrapper_and_says_what_is_not_enforced() {
    for via in ["ccw", "maestro"] {
        let scene = scene(&json!({}));
        let ran = tune(&scene, via, &[]);
        assert_eq!(ran.code, Some(0), "{via}: {ran:?}");
        let summary = ran.json();
        assert_eq!((&summary["outcome"], scene.quality("writer")), (&json!("improved"), 84), "{via}");
        assert_eq!(summary["agents"]["executor"], format!("claude via {via}"));
        assert!(summary["notes"][0].as_str().unwrap().contains("does not enforce the rights of roles"));
        let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
        assert!(report.contains(&format!("| Note | {via} ")), "{report}");
        let artifacts = scene.run_folder().join("iterations/iteration-1/artifacts");
        let kept = walkdir::WalkDir::new(artifacts).into_iter().flatten();
        assert!(
            !kept.into_iter().any(|entry| entry.path().ends_with("task.md")),
            "our errand is nobody's work"
        );
        assert_started(&scene, via);
    }
}

/// Fails unless every program was started with short arguments, without the prompt and without another agent's
/// variables.
fn assert_started(scene: &Scene, via: &str) {
    let started = fs::read_to_string(scene.path("bin/started.jsonl")).unwrap();
    let started: Vec<Value> = started.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut modes = Vec::new();
    for one in &started {
        let argv: Vec<&str> =
            one["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert!(argv.iter().all(|word| word.len() < 300 && !word.contains("agent skill")), "{argv:?}");
        assert_eq!(one["env"].get("CLAUDECODE"), None);
        if one["name"] == via {
            let tool = argv.iter().position(|word| ["claude", "gemini"].contains(word)).unwrap();
            modes.push(format!("{} {}", argv[tool], argv[tool + 2]));
        }
    }
    modes.sort();
    modes.dedup();
    assert_eq!(modes, ["claude write", "gemini analysis"], "{via}");
}

#[test]
fn a_child_that_failed_is_no_answer_though_the_wrapper_ends_with_success() {
    assert_eq!(kinds(&json!({ "child": "error" })), ["authentication"]);
    assert_eq!(kinds(&json!({ "child": "empty" })), ["empty"; 2]);
    assert_eq!(kinds(&json!({ "child": "silent" })), ["crashed"; 2]);
}

/// The recorded output of the real ccw when gemini's service refused the key.
#[test]
fn an_error_of_gemini_behind_its_warnings_pauses_the_run_at_once() {
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/transcripts/ccw/gemini-401.txt");
    assert_eq!(kinds(&json!({ "prints": { "gemini": recorded } })), ["authentication"]);
}

#[test]
fn an_answer_is_one_whatever_the_child_ended_with() {
    let scene = scene(&json!({ "child": "exit_three" }));
    let ran = tune(&scene, "ccw", &["--max-iterations", "1"]);
    assert_eq!((ran.code, failed(&scene)), (Some(3), Vec::new()), "{ran:?}");
}

#[test]
fn what_is_printed_around_an_answer_is_no_part_of_it() {
    let scene = scene(&json!({ "framed": true }));
    let ran = tune(&scene, "ccw", &["--max-iterations", "1"]);
    assert_eq!((ran.code, failed(&scene)), (Some(3), Vec::new()), "{ran:?}");
    let calls = fs::read_dir(scene.run_folder().join("agents")).unwrap().flatten();
    let framed = calls.filter(|call| {
        fs::read_to_string(call.path().join("stdout")).is_ok_and(|text| text.contains("Executing "))
    });
    assert_eq!(framed.count(), 2, "there was something to cut away");
}

#[test]
fn a_child_that_does_not_take_a_large_prompt_is_a_failed_call() {
    let failures = failures(&json!({ "child": "gone" }));
    assert_eq!(failures[0], ("crashed".to_owned(), "ccw: Error: write EPIPE".to_owned()));
    // The second attempt has a short prompt, which fits into a pipe without a reader.
    assert_eq!((failures.len(), failures[1].0.as_str()), (2, "crashed"));
}

#[test]
fn a_wrapper_without_a_deadline_gets_ours_and_nothing_behind_it_survives() {
    let scene = scene(&json!({ "child": "hang" }));
    let run = Background::spawn(&scene, command(&scene, "ccw", &["--max-iterations", "1", "--timeout", "1"]));
    let ran = run.wait();
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let kinds: Vec<_> = failed(&scene).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["no_response"; 2]);
    assert_eq!(scene.alive(), [0; 0]);
}

#[test]
fn an_agent_that_does_not_work_through_a_wrapper_is_refused_before_anything_begins() {
    let scene = scene(&json!({}));
    for name in ["codex", "opencode"] {
        symlink(FAKE_AGENT, scene.path("bin").join(name)).unwrap();
    }
    for (via, agent) in [("ccw", "codex"), ("maestro", "opencode")] {
        let before = scene.everything();
        let ran = tune(&scene, via, &["--improver", agent]);
        assert_eq!((ran.code, scene.everything() == before), (Some(2), true), "{ran:?}");
        let refusal = format!("cannot call agent `{agent}` via {via}: only claude and gemini work so");
        assert!(ran.stderr.contains(&refusal), "{ran:?}");
        assert!(ran.stderr.contains("use claude or gemini, or pass --via direct"), "{ran:?}");
    }
}

#[test]
fn a_wrapper_that_no_agent_goes_through_is_named() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let said = scene.run(&["tune", "writer", "write a page", "--yes", "--dry-run", "--via", "ccw"]).stderr;
    let note = "note: --via has no effect: evaluator is a command of your settings, executor is";
    assert!(said.contains(note), "{said}");
}
