//! A run's results for pipelines and other programs: exit codes, `report.json`, `junit.xml` and the viewer's folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

/// Returns eight scenarios, of which four are held out.
fn suite(quality: u32) -> String {
    let scenario = |nth: u32| {
        format!(
            "[[scenarios]]\nid = \"task-{nth}\"\ndescription = \"Write page {nth} </script>\"\nexpectations = [\"Its quality is at least {quality}.\"]\n\n[[scenarios.checks]]\nid = \"made\"\nfile = \"out.md\"\n\n"
        )
    };
    (1..=8).map(scenario).collect()
}

fn scene(quality: u32) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 70 } } }));
    fs::write(scene.path("project/suite.toml"), suite(quality)).unwrap();
    scene
}

/// Returns the end of a run, and its folder.
fn tune(scene: &Scene, more: &[&str]) -> (Ran, PathBuf) {
    let line =
        ["tune", "writer", "--suite", "suite.toml", "--yes", "--max-iterations", "2", "--format", "json"];
    let ran = scene.run(&[&line[..], more].concat());
    let report = ran.json()["report"].as_str().expect("the run has ended").to_owned();
    let folder = Path::new(&report).parent().unwrap().to_owned();
    (ran, folder)
}

fn read(folder: &Path, path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(path)).unwrap()).unwrap()
}

#[test]
fn a_win_is_told_first_and_to_every_program_in_its_own_form() {
    let scene = scene(60);
    let (ran, folder) = tune(&scene, &[]);
    let summary = ran.json();
    assert_eq!(
        (&summary["verdict"], &summary["outcome"]),
        (&json!("win"), &json!("improved")),
        "{}",
        ran.stderr
    );
    let report = read(&folder, "report.json");
    assert_eq!(report["comparison"]["basis"], "held_out");
    let pairs = report["comparison"]["pairs"].as_array().unwrap().clone();
    assert_eq!(pairs.len(), 4);
    let page = fs::read_to_string(folder.join("final-report.md")).unwrap();
    assert!(page.lines().nth(2).unwrap().starts_with("**Verdict**: WIN, better by 50.0 points"), "{page}");

    let junit = fs::read_to_string(folder.join("junit.xml")).unwrap();
    assert!(junit.contains(r#"tests="4" skipped="0" failures="0" errors="0""#), "{junit}");
    assert!(junit.contains(r#"<property name="version" value="candidate"/>"#), "{junit}");

    let benchmark = read(&folder, "viewer/benchmark.json");
    let summary = benchmark["run_summary"].as_object().unwrap();
    assert_eq!(summary.keys().collect::<Vec<_>>(), ["with_skill", "without_skill", "delta"]);
    assert_eq!(summary["delta"]["pass_rate"], "+0.50");
    for id in benchmark["metadata"]["evals_run"].as_array().unwrap() {
        let eval = folder.join(format!("viewer/eval-{id}"));
        let metadata = read(&eval, "eval_metadata.json");
        assert_eq!(
            (&metadata["eval_id"], &metadata["prompt"]),
            (id, &json!(format!("Write page {id} < /script>")))
        );
        assert_eq!(read(&eval, "with_skill/run-1/grading.json")["summary"]["pass_rate"], 1.0);
        assert_eq!(read(&eval, "without_skill/run-1/grading.json")["summary"]["failed"], 1);
        assert!(read(&eval, "with_skill/run-1/timing.json")["duration_ms"].is_u64());
        assert!(eval.join("with_skill/run-1/outputs/out.md").is_file());
    }
}

#[test]
fn a_pipeline_has_its_own_exit_code() {
    // A win below the goal of 100.
    let never = ["--threshold", "100", "--apply", "never"];
    let tuned = |scene: &Scene, more: &[&str]| tune(scene, &[&never[..], more].concat()).0;
    // The judge's statement cannot be met, so both versions score 50.
    let unmet = scene(90);
    let ran = tuned(&unmet, &["--fail-on-regression"]);
    assert_eq!(ran.code, Some(0), "nothing got worse: {}", ran.stderr);
    assert_eq!(ran.json()["fail_on"]["passed"], true);
    let ran = tuned(&scene(60), &["--fail-under", "80"]);
    assert_eq!((ran.code, &ran.json()["fail_on"]["confirmed_score"]), (Some(0), &json!(100.0)));
    // The second run of a scene takes its answers from the cache.
    let ran = tuned(&unmet, &["--fail-under", "80"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert_eq!(ran.json()["fail_on"]["words"], "Failed --fail-under 80: the confirmed score is 50.0.");
}
