//! Output for scripts: one object at the end, however the run ends.

use std::fs::{self, File};

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

fn scene(skills: &[(&str, u32)]) -> Scene {
    Scene::new(skills, &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }))
}

/// Returns the lines of stdout, all of which must be objects.
fn objects(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{ran:?}"))).collect()
}

/// Runs `tune` with a journal that cannot grow any more.
fn cut_short(format: &str) -> (Scene, Ran) {
    let scene = scene(&[("writer", 40)]);
    let line = ["tune", "writer", "write a page", "--yes", "--format", format];
    let ran = scene.run_limited("trap '' XFSZ; ulimit -f 40", &line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    (scene, ran)
}

#[test]
fn a_run_that_we_failed_is_one_object_that_says_so_and_how_far_it_came() {
    for format in ["json", "jsonl"] {
        let (scene, ran) = cut_short(format);
        let object = objects(&ran).pop().unwrap();
        assert_eq!((&object["outcome"], &object["reason"]), (&json!("error"), &json!("error")), "{object}");
        assert_eq!(object["run_id"], json!(scene.run_id()));
        assert_eq!((&object["threshold"], &object["loop"]), (&json!(80.0), &json!("tune")), "{object}");
        assert!(object["error"]["what"].as_str().unwrap().contains("history.jsonl"), "{object}");
        let hint = format!("then run `skilltune resume {}`", scene.run_id());
        assert!(object["error"]["hints"][0].as_str().unwrap().ends_with(&hint), "{object}");
        if format == "json" {
            assert_eq!(objects(&ran).len(), 1, "{ran:?}");
        }
    }
}

#[test]
fn of_two_runs_the_one_that_we_failed_has_an_object_of_its_own() {
    let scene = scene(&[("other", 95), ("writer", 40)]);
    let line = ["tune", "other,writer", "write a page", "--yes", "--format", "json"];
    let ran = scene.run_limited("trap '' XFSZ; ulimit -f 79", &line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let outcomes: Vec<Value> = objects(&ran).iter().map(|object| object["outcome"].clone()).collect();
    assert_eq!(outcomes, ["unchanged", "error"], "{ran:?}");
}

#[test]
fn a_dry_run_is_one_object_for_scripts() {
    let scene = scene(&[("writer", 40)]);
    let before = scene.everything();
    let line = ["tune", "writer", "write a page", "--yes", "--dry-run", "--preset", "quick"];
    for format in ["json", "jsonl"] {
        let ran = scene.run(&[&line[..], &["--format", format]].concat());
        assert_eq!((ran.code, objects(&ran).len()), (Some(0), 1), "{ran:?}");
        let mut object = ran.json();
        object["target"][0]["path"].take();
        insta::allow_duplicates! {
            insta::assert_snapshot!(format!("{object:#}"), @r#"
            {
              "dry_run": true,
              "loop": "tune",
              "target": [
                {
                  "name": "writer",
                  "path": null
                }
              ],
              "threshold": 70.0,
              "search": "rounds",
              "runs": null,
              "max_iterations": 3,
              "scenarios": 1,
              "held_out": 0,
              "first_steps": [
                "running writer on scenario-1"
              ],
              "most_calls": {
                "all": 24,
                "executor": 10,
                "evaluator": 10,
                "improver": 4
              },
              "limits": {
                "usd": null,
                "tokens": null,
                "calls": 24,
                "minutes": null,
                "keep_free": null
              },
              "estimate": {
                "most": {
                  "calls": {
                    "all": 12,
                    "executor": 5,
                    "evaluator": 5,
                    "improver": 2
                  },
                  "tokens": null,
                  "usd": null,
                  "seconds": null
                },
                "likely": null,
                "runs": 0,
                "unknown_roles": [
                  "executor",
                  "evaluator",
                  "improver"
                ]
              },
              "agents": {
                "executor": "executor",
                "evaluator": "evaluator",
                "improver": "improver"
              },
              "notes": []
            }
            "#);
        }
    }
    assert_eq!(scene.everything(), before);
    let reflex =
        ["reflex", "Write the API page", "--yes", "--dry-run", "--template", "api", "--format", "json"];
    let object = scene.run(&reflex).json();
    assert_eq!((&object["dry_run"], &object["template"]), (&json!(true), &json!("api")), "{object}");
    assert!(object["most_calls"]["all"].as_u64() > Some(0), "{object}");
}

#[test]
fn output_that_cannot_be_written_is_a_failure_of_ours_and_the_run_is_saved() {
    for more in [&["--format", "json"][..], &["--format", "jsonl"], &[]] {
        let scene = scene(&[("writer", 40)]);
        let line = [&["tune", "writer", "write a page", "--yes"], more].concat();
        let mut command = scene.command(&line);
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, Some(1), "{more:?}: {ran:?}");
        assert!(ran.stderr.contains("error: cannot write to stdout"), "{more:?}: {ran:?}");
        assert_eq!(scene.quality("writer"), 90, "{more:?}");
        assert!(fs::exists(scene.run_folder().join("final-report.md")).unwrap(), "{more:?}");
    }
}
