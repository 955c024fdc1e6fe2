//! `list`: how each run ended, and calibrations in one line.

use std::fs;

use serde_json::json;

use crate::finished::won;
use crate::night::{Nights, WRITER, climbs};
use crate::scene::{Scene, without_moments, without_padding};

fn table(scene: &Scene, arguments: &[&str]) -> String {
    let ran = scene.run(arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    without_padding(&without_moments(&scene.normalized(&ran.stdout)))
}

/// Returns a column of the table with its name.
fn column(table: &str, nth: usize) -> Vec<String> {
    table.lines().map(|line| line.split("  ").nth(nth).unwrap().to_owned()).collect()
}

#[test]
fn a_run_that_was_rolled_back_and_one_that_failed_are_no_completed_ones() {
    let scene = won();
    assert!(table(&scene, &["list"]).contains("  completed  "));
    assert_eq!(scene.run(&["rollback"]).code, Some(0));
    scene.write_script(&json!({ "rubbish": true }));
    assert_eq!(scene.tune("writer", &["--fresh"]).code, Some(4));
    assert_eq!(column(&table(&scene, &["list"]), 2), ["STATUS", "failed", "rolled back"]);
    let listed = scene.run(&["list", "--format", "json"]).json();
    let rolled_back = [&listed[0]["rolled_back"], &listed[1]["rolled_back"]];
    assert_eq!(rolled_back, [&json!(false), &json!(true)]);
    assert_eq!(scene.run(&["apply", listed[1]["run_id"].as_str().unwrap()]).code, Some(0));
    assert!(!table(&scene, &["list"]).contains("rolled back"), "it was applied again");
}

#[test]
fn the_calibrations_of_many_nights_are_one_line_unless_all_are_asked_for() {
    let nights = Nights::new(&[("writer", 20)], &climbs(), WRITER);
    for date in ["2026-11-02", "2026-11-03", "2026-11-04"] {
        assert_eq!(nights.night(date, &[]).code, Some(0));
    }
    let listed = nights.scene.run(&["list"]);
    assert_eq!(
        listed.stderr, "older calibrations are folded; `skilltune list --all` lists each\n",
        "{listed:?}"
    );
    let kinds = |arguments: &[&str]| column(&table(&nights.scene, arguments), 1);
    assert_eq!(kinds(&["list"]), ["KIND", "calibrate", "tune"]);
    let folded = table(&nights.scene, &["list"]);
    assert!(folded.lines().nth(1).unwrap().ends_with("  writer (+2 older)"), "{folded}");
    assert_eq!(kinds(&["list", "--limit", "1"]), ["KIND", "calibrate"]);
    assert_eq!(kinds(&["list", "--all"]), ["KIND", "calibrate", "calibrate", "calibrate", "tune"]);
    assert_eq!(kinds(&["list", "--all", "--limit", "2"]), ["KIND", "calibrate", "calibrate"]);
    let runs = nights.scene.run(&["list", "--format", "json"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 4, "scripts get every run");
}

#[test]
fn the_table_has_the_latest_two_hundred_runs_unless_all_are_asked_for() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    assert!(scene.run(&["tune", "writer", "write a page", "--yes", "--max-iterations", "1"]).code.is_some());
    let run = scene.run_folder();
    for nth in 0..200 {
        let older = run.with_file_name(format!("{nth:04x}-20250101-{nth:06}"));
        fs::create_dir(&older).unwrap();
        fs::copy(run.join("history.jsonl"), older.join("history.jsonl")).unwrap();
    }
    let listed = scene.run(&["list"]);
    assert_eq!(listed.stderr, "1 older run left out; `skilltune list --all` lists all\n", "{listed:?}");
    let rows = |arguments: &[&str]| scene.run(arguments).stdout.lines().count() - 1;
    assert_eq!((rows(&["list"]), rows(&["list", "--all"]), rows(&["list", "--limit", "3"])), (200, 201, 3));
    let id = run.file_name().unwrap().to_str().unwrap();
    assert!(listed.stdout.lines().nth(1).unwrap().starts_with(id), "the latest one first: {listed:?}");
}
