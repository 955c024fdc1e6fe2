//! `suite check` and `suite convert`: reading and converting suites of any format before paying for a call.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::scene::Scene;

/// Creates a project with a copy of the fixtures below `suites`.
fn scene() -> Scene {
    let scene = Scene::empty();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/suites");
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.unwrap();
        let to = scene.path("project/suites").join(entry.path().strip_prefix(&from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(&to).unwrap();
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
    scene
}

fn checked(scene: &Scene, suite: &str, code: i32) -> Value {
    let ran = scene.run(&["suite", "check", suite, "--format", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "{ran:?}");
    ran.json()
}

#[test]
fn a_suite_of_skill_creator_is_shown_with_what_is_lost_and_what_a_round_calls() {
    let scene = scene();
    let ran = scene.run(&["suite", "check", "suites/report-writer"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stdout), @r#"
    /project/suites/report-writer/evals/evals.json
      evals.json: 10 scenarios, 2 checks, 18 expectations

    notes:
      4: the file "data/sales-without-february.csv" is missing
      5: its name is not used: reports call a scenario by its id

    proves nothing:
      9, expectation-1: the task itself says "march north was the best"

    one round of one skill: 10 calls of the executor, 11 calls of the judge
    "#);
    let report = checked(&scene, "suites/report-writer/evals/evals.json", 3);
    assert_eq!(report["scenarios"].as_array().unwrap().len(), 10);
    assert_eq!(report["scenarios"][6]["checks"], 1);
    assert_eq!(report["scenarios"][0]["files"], json!(["suites/report-writer/data/sales.csv"]));
    assert_eq!(report["calls"], json!({"executor": 10, "judge": 11}));
    assert!(!scene.path("project/.skilltune").exists(), "looking writes nothing");
}

#[test]
fn each_kind_of_scenario_that_tells_nothing_is_named() {
    let scene = scene();
    let report = checked(&scene, "suites/vacuous.toml", 3);
    let line = |one: &Value| {
        let demand = one["demand"].as_str().map_or_else(String::new, |demand| format!("/{demand}"));
        format!("{}{demand}: {}", one["scenario"].as_str().unwrap(), one["kind"].as_str().unwrap())
    };
    let lines: Vec<String> = report["vacuous"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "duplicate: duplicate",
            "says-expected: names-answer",
            "says-pattern/pattern-1: names-answer",
            "says-quotation/expectation-1: names-answer",
            "met-at-start/file-1: met-at-start",
            "met-at-start/pattern-1: met-at-start",
            "met-at-start: met-by-nothing",
            "met-by-nothing: met-by-nothing",
            "always/only-changes-1: always-met",
            "never/pattern-1: never-met",
            "asks-nothing: no-demand",
        ]
    );
    assert_eq!(report["drafts"], json!(["draft"]));
    assert_eq!(report["ok"], json!(false));
}

#[test]
fn a_sound_suite_ends_with_0_also_by_the_name_of_its_skill() {
    let scene = scene();
    scene.write_skill("writer", 40);
    assert_eq!(
        scene.refusal(&["suite", "check", "writer"]).lines().next(),
        Some("error: the skill writer has no evals/evals.json")
    );
    fs::create_dir(scene.skill("writer").join("evals")).unwrap();
    let own = scene.skill("writer").join("evals/evals.json");
    fs::write(own, r#"{"skill_name": "writer", "evals": [{"id": 1, "prompt": "a", "expectations": ["b"]}]}"#)
        .unwrap();
    assert_eq!(checked(&scene, "writer", 0)["notes"], json!([]));
    assert_eq!(
        scene.refusal(&["suite", "check", "none.toml"]).lines().next(),
        Some("error: suite /project/none.toml does not exist")
    );
}

#[test]
fn a_suite_goes_to_every_format_and_comes_back() {
    let scene = scene();
    let outs = [
        ("toml", "a.toml"),
        ("evals", "a.json"),
        ("triggers", "b.json"),
        ("promptfoo", "c.yaml"),
        ("plugin", "cases"),
    ];
    for (format, out) in outs {
        let ran = scene.run(&["suite", "convert", "suites/report-writer", "--to", format, "--out", out]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        let (many, counted) = if format == "triggers" { (1, "1 scenario") } else { (10, "10 scenarios") };
        assert!(ran.stderr.starts_with(&format!("wrote {out} with {counted}\n")), "{ran:?}");
        let report = scene.run(&["suite", "check", out, "--format", "json"]).json();
        assert_eq!(report["scenarios"].as_array().unwrap().len(), many, "{format}");
    }
    // The result equals the original, except for the text about its origin.
    let scenarios =
        |suite: &str| scene.run(&["suite", "check", suite, "--format", "json"]).json()["scenarios"].clone();
    assert_eq!(scenarios("a.toml"), scenarios("suites/report-writer"));
    assert!(scene.path("project/cases/1/graders/expectation-1.md").is_file());
    let lost =
        scene.run(&["suite", "convert", "suites/report-writer", "--to", "plugin", "--out", "again"]).stderr;
    assert!(lost.contains(": `files` is not converted\n"), "{lost}");
}

#[test]
fn a_suite_of_drafts_alone_is_not_written_where_drafts_are_left_out() {
    let scene = scene();
    let draft = "[[scenarios]]\nid = \"a\"\ndescription = \"Write it\"\ndraft = true\n";
    fs::write(scene.path("project/drafts.toml"), draft).unwrap();
    let line = |to, out| ["suite", "convert", "drafts.toml", "--to", to, "--out", out];
    insta::assert_snapshot!(scene.refusal(&line("plugin", "evals")), @r"
    error: nothing to write: no scenario of the suite is converted
    caused by: a: a draft: it is left out
    hint: complete the drafts, and remove `draft = true`; only `--to toml` keeps drafts
    ");
    let ran = scene.run(&line("toml", "copy.toml"));
    assert!(ran.code == Some(0) && ran.stderr.starts_with("wrote copy.toml with 1 scenario\n"), "{ran:?}");
}

#[test]
fn nothing_is_overwritten_not_even_a_link_that_leads_nowhere() {
    let scene = scene();
    let line =
        |out: &'static str| ["suite", "convert", "suites/vacuous.toml", "--to", "plugin", "--out", out];
    fs::create_dir(scene.path("project/taken")).unwrap();
    std::os::unix::fs::symlink("/nowhere", scene.path("project/link")).unwrap();
    for out in ["taken", "link", "suites/vacuous.toml"] {
        let refused = scene.refusal(&line(out));
        assert!(refused.contains("already exists"), "{refused}");
    }
    assert!(scene.refusal(&line("none/below")).contains("the folder of /project/none/below does not exist"));
    let file: PathBuf = scene.path("project/new");
    assert_eq!(scene.run(&line("new")).code, Some(0));
    assert!(file.join("sound/prompt.md").is_file());
}
