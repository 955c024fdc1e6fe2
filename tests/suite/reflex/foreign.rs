//! Other programs' runs among the files of the loop: never read, resumed, or overwritten.

use std::process::Command;

use serde_json::json;

use super::*;
use crate::scene::listing;

const THEIRS: &str = "courses-api";
const CURRENT: &str = "current.json";

/// Creates a project with runs of the original: one with its state, and one with only the artifact.
fn found() -> Scene {
    let scene = scene(&rising());
    let run =
        json!({ "run_id": "courses-api-20260218-120000", "status": "running", "plan": ["$(touch owned)"] });
    for (name, text) in [
        ("courses-api/run.json", run.to_string()),
        ("courses-api/history.jsonl", "{\"event\": \"run_sta".to_owned()),
        ("write-about-the-pump/artifact.md", "my own words\n".to_owned()),
        (CURRENT, json!({ "active_run_id": "courses-api-20260218-120000" }).to_string()),
    ] {
        let path = evolution(&scene).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scene
}

fn evolution(scene: &Scene) -> PathBuf {
    scene.path("project/.ai-factory/evolution")
}

#[test]
fn a_folder_that_holds_one_is_refused_in_one_line_before_anything_is_paid_for() {
    let scene = found();
    let before = listing(&evolution(&scene));
    for (alias, run) in
        [(THEIRS, "run courses-api-20260218-120000"), ("write-about-the-pump", "an unknown run")]
    {
        let ran = scene.run(&["reflex", "new", TASK, "--template", "docs", "--yes", "--alias", alias]);
        let message = format!("{alias} belongs to {run}; choose another alias, or move the folder away\n");
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
        assert!(ran.stderr.ends_with(&message), "{ran:?}");
    }
    assert_eq!((listing(&evolution(&scene)), scene.calls().len()), (before, 0));
}

#[test]
fn no_command_reads_one() {
    let scene = found();
    let before = scene.everything();
    let listed = scene.run(&["reflex", "list", "--format", "json"]);
    assert_eq!(listed.json(), json!([]), "{listed:?}");
    for command in ["status", "history", "resume", "stop", "clean"] {
        scene.refusal(&["reflex", command, THEIRS]);
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn a_run_of_ours_beside_them_leaves_them_and_their_pointer_alone() {
    let scene = found();
    let before = listing(&evolution(&scene));
    let ran = scene.run(&["reflex", "new", TASK, "--template", "docs", "--yes", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["alias"]), (Some(0), &json!("write-about-the-pump-2")), "{ran:?}");
    let ran = scene.run(&["reflex", "clean", "--all", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(listing(&evolution(&scene)), before);
}

#[test]
fn a_run_that_has_taken_the_place_of_ours_stays_when_ours_is_deleted() {
    let scene = written();
    let run = json!({ "run_id": "pump-20260218-120000" }).to_string();
    fs::write(place(&scene).join("run.json"), &run).unwrap();
    let before = listing(&place(&scene));
    let ran = scene.run(&["reflex", "clean", ALIAS, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("it holds files that this run did not write"), "{ran:?}");
    assert_eq!(listing(&place(&scene)), before);
}

#[test]
fn one_that_would_hang_or_fill_the_memory_is_refused_too() {
    for hostile in
        ["mkfifo run.json", "truncate -s 64G run.json", "ln -s /dev/zero run.json", "ln -s . history.jsonl"]
    {
        let scene = scene(&rising());
        let folder = evolution(&scene).join(THEIRS);
        fs::create_dir_all(&folder).unwrap();
        let made = Command::new("sh").args(["-c", hostile]).current_dir(&folder).status();
        assert!(made.is_ok_and(|status| status.success()), "{hostile}");
        let ran = scene.run(&["reflex", "new", TASK, "--template", "docs", "--yes", "--alias", THEIRS]);
        assert_eq!((ran.code, scene.calls().len()), (Some(2), 0), "{hostile}: {ran:?}");
        assert!(ran.stderr.contains("move it away"), "{hostile}: {ran:?}");
    }
}
