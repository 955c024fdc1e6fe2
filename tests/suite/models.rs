//! The model that answered, where the agent reports it: shown after the run, with a warning if the judge's model
//! changed. A scripted program imitates claude's output.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::scene::{FAKE_AGENT, Ran, Scene};

/// Creates a claude whose verdicts come from these models in turn.
fn scene(judges: &[&str]) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    let reflex = json!({ "produced": { "1": ["a.correctness.accuracy"] } });
    scene.write_script(&json!({ "improve": { "writer": { "40": 46, "46": 52 } }, "reflex": reflex }));
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    let script = scene.path("script.json");
    let stage = json!({ "script": script, "judges": judges, "judged": scene.path("judged") });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
    // Not confined, because the script counts in a file of its own.
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    scene
}

const TUNE: [&str; 11] = [
    "tune",
    "writer",
    "write a page",
    "--yes",
    "--agent",
    "claude",
    "--max-iterations",
    "2",
    "--jobs",
    "1",
    "--delivery=inline",
];
const REFLEX: [&str; 13] = [
    "reflex",
    "new",
    "Write about the pump",
    "--alias",
    "pump",
    "--template",
    "docs",
    "--yes",
    "--agent",
    "claude",
    "--max-iterations",
    "2",
    "--jobs=1",
];

fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    let mut command = scene.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

/// Returns a run's page, its object, and the models of its judge's calls from the journal.
fn left(scene: &Scene) -> (String, Value, Vec<Value>) {
    let read = |name: &str| fs::read_to_string(scene.run_folder().join(name)).unwrap();
    let done = scene.events("done");
    let judged = done.iter().filter(|done| done["step"].get("judge").is_some());
    let report = serde_json::from_str(&read("report.json")).unwrap();
    (read("final-report.md"), report, judged.map(|done| done["model"].clone()).collect())
}

const WARNING: &str = "scores within this run are not comparable";

#[test]
fn one_model_in_all_roles_is_told_in_one_line() {
    for arguments in [&TUNE[..], &REFLEX] {
        let scene = scene(&[]);
        let (ran, line) = (run(&scene, arguments), "\n  models    scripted in all roles\n");
        assert!(ran.stdout.contains(line) && !ran.stdout.contains("warning:"), "{ran:?}");
        let (page, report, judged) = left(&scene);
        assert!(page.contains("| Models | scripted in all roles |") && !page.contains(WARNING), "{page}");
        assert!(report["models"]["evaluator"]["scripted"].as_u64() > Some(0), "{report}");
        assert!(!judged.is_empty() && judged.iter().all(|model| model == "scripted"), "{judged:?}");
        let history = run(&scene, &["history"]);
        assert!(history.stdout.contains(", scripted)"), "{history:?}");
    }
}

#[test]
fn a_judge_that_was_not_always_the_same_model_is_warned_of() {
    for arguments in [&TUNE[..], &REFLEX] {
        let scene = scene(&["opus", "haiku"]);
        let ran = run(&scene, arguments);
        let flat = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains("warning: several models answered as the evaluator: haiku (")
                && flat.contains(WARNING),
            "{ran:?}"
        );
        let (page, report, judged) = left(&scene);
        assert_eq!(judged[..2], ["opus", "haiku"]);
        assert!(page.contains("| Note | several models answered as the evaluator"), "{page}");
        assert!(page.contains("; evaluator haiku ("), "{page}");
        let count = |model: &str| judged.iter().filter(|one| *one == model).count();
        let models = &report["models"]["evaluator"];
        assert_eq!((&models["opus"], &models["haiku"]), (&json!(count("opus")), &json!(count("haiku"))));
        assert!(report["notes"].to_string().contains(WARNING), "{report}");
    }
}

#[test]
fn what_is_no_name_of_a_model_is_neither_kept_nor_told() {
    let long = "m".repeat(100_000);
    let scene = scene(&["\u{1b}[2Jopus", "\u{202e}supo", &long]);
    let ran = run(&scene, &TUNE);
    assert!(!ran.stdout.contains(WARNING), "{ran:?}");
    let (page, report, judged) = left(&scene);
    assert!(judged.iter().all(Value::is_null), "{judged:?}");
    assert_eq!(report["models"]["evaluator"], json!({}));
    assert!(page.contains("| Models | executor scripted; improver scripted |"), "{page}");
}

#[test]
fn of_an_agent_that_reports_no_model_nothing_is_said() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let ran = scene.run(&["tune", "writer", "write a page", "--yes", "--max-iterations", "1"]);
    assert!(!ran.stdout.contains("odels:"), "{ran:?}");
    let (page, report, _) = left(&scene);
    assert!(!page.contains("| Models |"), "{page}");
    assert_eq!(report["models"], json!({ "executor": {}, "evaluator": {}, "improver": {} }));
}
