//! `suite check` on a suite that runs have used.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::hostile_state::forge_plan;
use crate::scene::Scene;

const SUITE: &str = r#"
[[scenarios]]
id = "mixed"
description = "Write it"
expectations = [
  { id = "low", text = "Its quality is at least 30." },
  { id = "some", text = "Its quality is at least 60." },
  { id = "high", text = "Its quality is at least 95." },
]

[[scenarios]]
id = "easy"
description = "Write it again"
expectations = ["Its quality is at least 20.", "Its quality is at least 10."]

[[scenarios]]
id = "hard"
description = "Write it once more"
expectations = ["Its quality is at least 99."]
"#;

/// Creates three versions, of which the first and the last are compared: five trials of each scenario.
fn scene() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 80 } } }));
    fs::write(scene.path("project/suite.toml"), SUITE).unwrap();
    tune(&scene);
    scene
}

fn tune(scene: &Scene) {
    let line = [
        "tune",
        "writer",
        "--this-suite-only",
        "--suite",
        "suite.toml",
        "--yes",
        "--format",
        "json",
        "--apply",
        "never",
    ];
    let ran = scene.run(&[&line[..], &["--max-iterations", "3"]].concat());
    assert_eq!(ran.json()["reason"], "exhausted", "{ran:?}");
}

fn check(scene: &Scene) -> Value {
    let ran = scene.run(&["suite", "check", "suite.toml", "--format", "json"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    ran.json()
}

fn kinds(report: &Value) -> Vec<String> {
    let line = |one: &Value| {
        [&one["scenario"], &one["demand"], &one["kind"]].map(|part| part.as_str().unwrap_or("-")).join(" ")
    };
    report["vacuous"].as_array().unwrap().iter().map(line).collect()
}

const SHOWN: [&str; 4] =
    ["mixed low never-fails", "mixed high never-passes", "easy - never-fails", "hard - never-passes"];

#[test]
fn what_never_failed_or_never_passed_in_runs_is_named_with_counts() {
    let scene = scene();
    let report = check(&scene);
    assert_eq!((kinds(&report), &report["runs"]), (SHOWN.map(str::to_owned).to_vec(), &json!(1)), "{report}");
    assert_eq!(report["vacuous"][0]["text"], "met in all 5 trials of 3 versions");
    assert_eq!(report["vacuous"][1]["text"], "not met in all 5 trials of 3 versions");
    // The same versions give the same answers, which count once.
    tune(&scene);
    let report = check(&scene);
    assert_eq!((kinds(&report), &report["runs"]), (SHOWN.map(str::to_owned).to_vec(), &json!(2)), "{report}");
    assert_eq!(report["vacuous"][0]["text"], "met in all 5 trials of 3 versions");
}

#[test]
fn what_tune_would_refuse_is_said_by_the_check() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let shown = |drafts: usize| {
        let drafted = SUITE.replacen("\ndescription", "\ndraft = true\ndescription", drafts);
        fs::write(scene.path("project/three.toml"), drafted.replace("at least 20.", "at least 2.")).unwrap();
        let ran = scene.run(&["suite", "check", "three.toml"]);
        format!("{}[{}]", scene.normalized(&ran.stdout), ran.code.unwrap())
    };
    insta::assert_snapshot!([shown(0), shown(3)].join("\n"), @r"
    /project/three.toml
      three.toml: 3 scenarios, 0 checks, 6 expectations

    too few for `skilltune tune`: it takes at least 5 scenarios; add 2 more

    one round of one skill: 3 calls of the executor, 4 calls of the judge
    [0]
    /project/three.toml
      three.toml: 0 scenarios, 0 checks, 0 expectations, 3 drafts

    notes:
      mixed, easy, hard: a draft: not counted until `draft = true` is removed

    no scenario counts: complete the drafts, then remove `draft = true`
    [3]
    ");
    let line = ["tune", "writer", "--suite", "three.toml", "--yes"];
    shown(1);
    let refused = scene.refusal(&line);
    let hints = "hint: 1 draft not counted: remove `draft = true` once reviewed\nhint: add 3 more;";
    assert!(refused.contains(hints), "{refused}");
}

#[test]
fn trials_of_another_task_or_another_demand_show_nothing() {
    let scene = scene();
    let changed =
        SUITE.replace("Write it again", "Write something else").replace("at least 99.", "at least 98.");
    fs::write(scene.path("project/suite.toml"), changed.replace("at least 30.", "at least 31.")).unwrap();
    assert_eq!(kinds(&check(&scene)), ["mixed high never-passes"]);
}

#[test]
fn runs_that_are_damaged_or_somebody_elses_change_nothing_of_what_the_suite_shows() {
    let scene = scene();
    let duplicate = format!(
        "{SUITE}\n[[scenarios]]\nid = \"copy\"\ndescription = \"Write it\"\nexpectations = [\"x\"]\n"
    );
    fs::write(scene.path("project/suite.toml"), duplicate).unwrap();
    let journal = scene.run_folder().join("history.jsonl");
    // Trials of another suite do not count, whatever the names of their scenarios.
    forge_plan(&journal, &|plan| plan["suite"]["path"] = "/nowhere/suite.toml".into());
    assert_eq!(kinds(&check(&scene)), ["copy - duplicate"]);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("started", "sturted", 1)).unwrap();
    let ran = scene.run(&["suite", "check", "suite.toml", "--format", "json"]);
    assert_eq!(kinds(&ran.json()), ["copy - duplicate"]);
    assert!(ran.stderr.contains("1 run could not be read"), "{ran:?}");
    let state = scene.path("project/.skilltune");
    fs::rename(&state, scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), &state).unwrap();
    let before = scene.everything();
    let ran = scene.run(&["suite", "check", "suite.toml", "--format", "json"]);
    assert_eq!((ran.code, kinds(&ran.json())), (Some(3), vec!["copy - duplicate".to_owned()]), "{ran:?}");
    assert!(ran.stderr.contains("cannot read the runs"), "{ran:?}");
    assert_eq!(scene.everything(), before);
}
