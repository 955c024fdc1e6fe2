//! Skills with scripts, tried by agents that really run the scripts: one of ours, and other people's in a folder that
//! `SKILLTUNE_SKILLS` names. Each folder in it has a skill, a `suite.toml`, and an `agent.sh` that plays `executor` and
//! `improver`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use crate::outcome::assert_left_nothing;
use crate::scene::{Ran, Scene, listing};

/// Copies the skill, with a script that plays executor and improver, both confined.
fn scene(skill: &Path, agent: &Path) -> Scene {
    let scene = Scene::new(&[], &json!({}));
    copy(skill, &scene.skill(name_of(skill)));
    let scripted = |role: &str| {
        let agent = agent.to_str().unwrap();
        format!("[agents.{role}]\ncommand = [\"/bin/sh\", {agent:?}, {role:?}]\nwrites = []\n\n")
    };
    let settings = scene.path("config/skilltune/skilltune.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let (before, after) = text.split_once("[agents.executor]").unwrap();
    let (_, evaluator) = after.split_once("[agents.evaluator]").unwrap();
    let (evaluator, _) = evaluator.split_once("[agents.improver]").unwrap();
    let text =
        [before, &scripted("executor"), "[agents.evaluator]", evaluator, &scripted("improver")].concat();
    fs::write(&settings, text).unwrap();
    scene
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().map(Result::unwrap) {
        let at = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(at).unwrap();
        } else {
            fs::copy(entry.path(), at).unwrap();
        }
    }
}

fn name_of(skill: &Path) -> &str {
    skill.file_name().unwrap().to_str().unwrap()
}

fn tune(scene: &Scene, skill: &str, suite: &Path, more: &[&str]) -> Ran {
    let line = ["tune", skill, "--suite", suite.to_str().unwrap(), "--tools", "shell", "--trust", "--yes"];
    scene.run(&[&line[..], more].concat())
}

/// Returns the scores of the measured versions in order.
fn scores(scene: &Scene) -> Vec<f64> {
    let scored = scene.events("decided").into_iter().filter_map(|one| one.get("scored").cloned());
    scored.filter_map(|one| one["score"].as_f64()).collect()
}

/// Returns the page of a round, without the parts that differ between runs.
fn page(scene: &Scene, round: u32) -> String {
    let folder = scene.run_folder().join(format!("iterations/iteration-{round}"));
    fs::read_to_string(folder.join(format!("iteration-{round}-eval.md"))).unwrap()
}

fn ours() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/scripted").canonicalize().unwrap()
}

#[test]
fn a_script_is_run_its_files_are_checked_and_the_page_that_calls_it_wrongly_is_mended() {
    let skill = ours().join("column-sums");
    let scene = scene(&skill, &ours().join("agent.sh"));
    let suite = scene.skill("column-sums").join("evals/suite.toml");
    let ran = tune(&scene, "column-sums", &suite, &["--search", "rounds", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
    let (before, after) = (page(&scene, 1), page(&scene, 2));
    for words in [
        "**pass** `sales/made`",
        "**fail** `sales/right`",
        "sums.json is not valid JSON",
        "**fail** `sales/again`",
        "exit code 1: the sum is not 600",
        "**fail** `sales/told`",
        "**unverified** `sales/ran`",
        "the agent does not report what it did",
    ] {
        assert!(before.contains(words), "{words}: {before}");
    }
    for words in [
        "**pass** `sales/right`",
        "**pass** `sales/again`",
        "**pass** `sales/told`",
        "**pass** `sales/alone`",
        "**unverified** `sales/ran`",
    ] {
        assert!(after.contains(words), "{words}: {after}");
    }
    // All checks except the unverified one: 6 of 7, and all of the other scenario.
    let [first, second] = scores(&scene)[..] else { panic!("{:?}", scores(&scene)) };
    let most = f64::midpoint(600.0 / 7.0, 100.0);
    assert!(first < 30.0 && (second - most).abs() < 0.1, "{first} and {second}");
    assert_eq!(
        found_by_executor(&scene),
        ["cases", "evals", "suite"].map(|_| false),
        "no agent sees the suite"
    );
    if can_confine() {
        assert!(!scene.path("home/escaped").exists());
    } else {
        let _ = writeln!(io::stderr(), "SKIPPED: nothing confines agents here");
    }
    // The winning version is shipped, and the suite beside it is unchanged.
    let shipped = fs::read_to_string(scene.skill("column-sums").join("SKILL.md")).unwrap();
    assert!(shipped.contains("sh scripts/sum.sh FILE COLUMN > sums.json"), "{shipped}");
    assert_eq!(listing(&scene.skill("column-sums").join("evals")), listing(&skill.join("evals")));
    assert_left_nothing(&scene, "a skill with a script");
}

/// Returns whether the executor found a file with each of these names. It must at least have seen the script.
fn found_by_executor(scene: &Scene) -> [bool; 3] {
    let trial = "iterations/iteration-2/artifacts/column-sums/sales/1";
    let listed = fs::read_to_string(scene.run_folder().join(trial).join("seen.txt")).unwrap();
    assert!(
        listed.contains("./skill/column-sums/scripts/sum.sh") && listed.contains("./sales.csv"),
        "{listed}"
    );
    ["cases", "evals", "suite"].map(|name| listed.contains(name))
}

#[test]
fn skills_of_others_are_tried_in_the_same_way() {
    let Some(folder) = std::env::var_os("SKILLTUNE_SKILLS").map(PathBuf::from) else {
        let why = "SKIPPED: SKILLTUNE_SKILLS names no folder with skills of others";
        let _ = writeln!(io::stderr(), "{why}");
        return;
    };
    let mut tried = 0;
    for one in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if !one.join("suite.toml").is_file() {
            continue;
        }
        let skills = fs::read_dir(&one).unwrap().map(|entry| entry.unwrap().path());
        let skill = skills.into_iter().find(|path| path.join("SKILL.md").is_file()).expect("a skill");
        let scene = scene(&skill, &one.join("agent.sh"));
        let ran = tune(&scene, name_of(&skill), &one.join("suite.toml"), &["--format", "json"]);
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
        assert_left_nothing(&scene, name_of(&skill));
        let scores = scores(&scene);
        let _ = writeln!(io::stderr(), "{}: {scores:?}\n{}", name_of(&skill), text(&ran.json()["notes"]));
        let _ = writeln!(io::stderr(), "{}\n{}", page(&scene, 1), page(&scene, 2));
        assert!(scores.last() > scores.first(), "{scores:?}");
        tried += 1;
    }
    assert!(tried > 0, "{} has no folder with a suite.toml", folder.display());
}

fn text(notes: &Value) -> String {
    let notes = notes.as_array().into_iter().flatten();
    notes.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}
