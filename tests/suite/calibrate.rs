//! `calibrate`: what a suite can show, measured with trials of the same skill.

use std::fs;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::scene::{Scene, listing, without_moments, without_padding};

/// Returns a suite: the first scenario always fails, the second always passes, and half of each of the others passes.
fn suite(scenarios: u32) -> String {
    let one = |nth: u32| {
        let asked = match nth {
            1 => "\"Its quality is at least 95.\"",
            2 => "\"Its quality is at least 60.\"",
            _ => "\"Its quality is at least 60.\", \"Its quality is at least 90.\"",
        };
        format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nexpectations = [{asked}]\n")
    };
    (1..=scenarios).map(one).collect()
}

fn scene(scenarios: u32) -> Scene {
    let scene = Scene::new(&[("writer", 80)], &json!({ "improve": { "writer": { "80": 95 } } }));
    fs::write(scene.path("project/suite.toml"), suite(scenarios)).unwrap();
    scene
}

const LINE: [&str; 5] = ["calibrate", "writer", "--suite", "suite.toml", "--yes"];

fn calibration(scene: &Scene, more: &[&str]) -> Value {
    let ran = scene.run(&[&LINE[..], &["--format", "json"], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()["calibration"].clone()
}

#[test]
fn a_suite_without_noise_is_told_with_what_is_dead_in_it() {
    let scene = scene(12);
    scene.write_settings("[tune]\nsearch = \"rounds\"\n");
    let before = listing(&scene.skill("writer"));
    let ran = scene.run(&LINE);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let stable_lines = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("agent time")).collect::<Vec<_>>();
        without_moments(&scene.normalized(&lines.join("\n")))
    };
    insta::assert_snapshot!(stable_lines(&ran.stderr), @r"
    calibrate writer: 3 trials of the same skill per scenario
    executor executor, evaluator evaluator
    run RUN, 12 scenarios, 5 of them held out for the final comparison
    limits: 144 calls (default)
    ");
    insta::assert_snapshot!(stable_lines(&ran.stdout), @r"
    noise: none, all trials of a scenario scored the same
    smallest visible change: below 1 point, in 4 of 5 comparisons on 5 held-out scenarios, 1 trial of each version, at confidence 0.9
    always 0: s1 (perhaps impossible to pass)
    always 100: s2 (no change can improve them)
    to see which checks prove nothing: skilltune suite check /project/suite.toml
    report: /project/.skilltune/runs/RUN/report.html
    ");
    assert!(ran.stdout.contains("a tuning run: up to "), "{ran:?}");
    assert_eq!(scene.answered(), 2 * 3 * 12);
    insta::assert_snapshot!(without_padding(&stable_lines(&scene.run(&["list"]).stdout)), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  calibrate  completed  36 of 36 trials  50.0  MOMENT  writer
    ");
    insta::assert_snapshot!(stable_lines(&scene.run(&["status"]).stdout), @r"
    run      RUN  calibrate of writer
    status   The suite was calibrated; nothing was changed.
    tried    36 of 36 trials
    noise    none, all trials of a scenario scored the same
    visible  below 1 point, in 4 of 5 comparisons on 5 held-out scenarios, 1 trial of each version, at confidence 0.9
    updated  MOMENT
    next     skilltune suite check /project/suite.toml   (see which checks prove nothing)
    ");
    let report = scene.run(&["report"]).stdout;
    assert!(
        report.contains("| s2 |  | 100.0, 100.0, 100.0 |")
            || report.contains("| s2 | yes | 100.0, 100.0, 100.0 |"),
        "{report}"
    );
    assert!(report.starts_with("# Calibration: writer"), "{report}");
    assert_eq!(listing(&scene.skill("writer")), before);
    let refused = scene.run(&["apply", &scene.run_id(), "--force"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("it calibrated a suite"), "{refused:?}");
}

#[test]
fn noise_makes_small_changes_invisible_and_says_what_would_show_them() {
    let scene = scene(12);
    let bare = |nth: u32| format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\n");
    let bare: Vec<String> = (1..=12).map(bare).collect();
    fs::write(scene.path("project/suite.toml"), bare.concat()).unwrap();
    // One of all trials is judged much better than the others.
    scene.write_script(&json!({ "lucky": { "80": 20 } }));
    let summary = calibration(&scene, &["--jobs", "1"]);
    let noise = summary["noise"].as_f64().unwrap();
    assert!(noise > 1.0 && summary["noise_upper"].as_f64().unwrap() > noise, "{summary}");
    assert_eq!(summary["flickering"].as_array().unwrap().len(), 1, "{summary}");
    let smallest = summary["smallest_visible"].as_f64().unwrap();
    assert!(smallest > 1.0 && smallest < summary["headroom"].as_f64().unwrap(), "{summary}");
    let ran = scene.run(&LINE);
    assert!(ran.stdout.contains("against 7 first trials of the start"), "the search is by drafts: {ran:?}");
    let half = &summary["for_half"];
    assert!((half["points"].as_f64().unwrap() - smallest / 2.0).abs() < 1e-9, "{summary}");
    assert!(half["held_out"].as_u64() > summary["held_out"].as_u64(), "{summary}");
    let calls = &summary["tune"]["calls"];
    assert!(calls["improver"].as_u64() > Some(0) && summary["tune"]["ms"].as_u64() > Some(0), "{summary}");
}

#[test]
fn a_suite_that_is_too_small_for_a_final_comparison_is_told_what_to_add() {
    let scene = scene(3);
    let summary = calibration(&scene, &[]);
    assert_eq!((&summary["held_out"], &summary["smallest_visible"]), (&json!(0), &Value::Null));
    let ran = scene.run(&LINE);
    assert!(ran.stdout.contains("add 2 more"), "{ran:?}");
    assert_eq!(scene.answered(), 2 * 3 * 3, "the second one made no call");
}

#[test]
fn a_search_uses_none_of_its_answers() {
    let scene = scene(12);
    calibration(&scene, &["--trials", "2"]);
    let before = scene.answered();
    let line =
        ["tune", "writer", "--suite", "suite.toml", "--yes", "--max-iterations", "1", "--format", "json"];
    let tuned = scene.run(&line).json();
    assert_eq!((tuned["cost"]["cached"].as_u64(), scene.answered() > before), (Some(0), true), "{tuned}");
}

#[test]
fn a_calibration_that_was_killed_is_taken_up_and_no_search_offers_it() {
    let scene = scene(12);
    let gate = Gate::before("evaluator", &scene, json!({}));
    let running = Background::start(&scene, &LINE);
    running.until_begun(4);
    running.kill_and_see_off();
    gate.open();
    let dry = scene.run(&["tune", "writer", "--suite", "suite.toml", "--max-iterations", "1", "--yes"]);
    assert!(!dry.stderr.contains("unfinished run"), "{dry:?}");
    let left = scene.run(&["list", "--format", "json"]).json();
    let open = left.as_array().unwrap().iter().find(|run| run["outcome"] == "paused").unwrap();
    let resumed = scene.run(&["resume", open["run_id"].as_str().unwrap(), "--yes", "--format", "json"]);
    assert_eq!((resumed.code, &resumed.json()["outcome"]), (Some(0), &json!("tried")), "{resumed:?}");
    assert!(resumed.json()["calibration"]["noise"].is_number());
}

#[test]
fn nothing_is_called_by_a_dry_run_or_for_more_than_one_skill() {
    let scene = scene(12);
    let dry = scene.run(&[&LINE[..], &["--dry-run"]].concat());
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(dry.stdout.starts_with("calibrate writer: 3 trials of the same skill per scenario"), "{dry:?}");
    assert!(dry.stdout.contains("at most 144 calls"), "{dry:?}");
    scene.write_skill("other", 40);
    assert!(
        scene.refusal(&["calibrate", "writer,other", "--suite", "suite.toml"]).contains("tries one skill")
    );
    assert!(scene.refusal(&["calibrate", "writer"]).contains("no suite of tasks"));
    assert!(scene.calls().is_empty());
}

#[test]
fn a_chain_and_some_scenarios_of_a_suite_are_tried_once_each_and_another_skill_meanwhile() {
    let scene = Scene::new(&[("writer", 80), ("editor", 40)], &json!({}));
    fs::write(scene.path("project/suite.toml"), suite(6)).unwrap();
    let gate = Gate::before("executor", &scene, json!({}));
    let chain = [
        "calibrate",
        "writer,editor",
        "--chain",
        "--suite",
        "suite.toml",
        "--only",
        "s2,s4",
        "--trials",
        "1",
    ];
    let first = Background::start(&scene, &[&chain[..], &["--yes", "--format", "json"]].concat());
    first.until_begun(1);
    let other = scene.command(&[
        "calibrate",
        "editor",
        "--suite",
        "suite.toml",
        "--yes",
        "--trials",
        "1",
        "--format",
        "json",
    ]);
    let other = { other }.spawn().unwrap();
    gate.open();
    let ran = first.wait();
    let scenarios = ran.json()["calibration"]["scenarios"].as_array().map(Vec::len);
    assert_eq!((ran.code, scenarios), (Some(0), Some(2)), "{ran:?}");
    let other = other.wait_with_output().unwrap();
    assert_eq!(other.status.code(), Some(0), "{other:?}");
    let strange = scene.run(&["calibrate", "writer", "--suite", "suite.toml", "--only", "s9"]);
    assert!(strange.code == Some(2) && strange.stderr.contains("has no scenario \"s9\""), "{strange:?}");
    let two = scene.run(&["calibrate", "writer,editor", "--suite", "suite.toml"]);
    assert!(two.code == Some(2) && two.stderr.contains("--chain"), "{two:?}");
}
