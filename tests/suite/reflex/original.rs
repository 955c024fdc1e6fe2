//! Runs that the original has left: shown, and neither run nor taken up, nor deleted without being named.

use std::process::Command;

use super::*;
use crate::scene::listing;

/// A project in which the original has worked.
fn found() -> Scene {
    let scene = scene(&rising());
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/evolution");
    let into = scene.path("project/.ai-factory");
    fs::create_dir(&into).unwrap();
    let copied = Command::new("cp").arg("-r").arg(from).arg(&into).status();
    assert!(copied.is_ok_and(|status| status.success()));
    scene
}

const WHOLE: &str = "courses-api-ddd";
const CUT: &str = "release-notes";

#[test]
fn their_state_and_history_are_shown_and_their_commands_never_run() {
    let scene = found();
    let before = scene.everything();
    let listed = scene.run(&["reflex", "list"]);
    assert!([WHOLE, CUT].iter().all(|name| listed.stdout.contains(name)), "{listed:?}");
    let listed = scene.run(&["reflex", "list", "--format", "json"]);
    assert_eq!(listed.json().as_array().unwrap().len(), 2);
    let status = scene.run(&["reflex", "status", WHOLE]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(status.stdout.contains("stopped (budget_exceeded)"), "{status:?}");
    assert!(status.stdout.contains("unverified, never run"), "{status:?}");
    let status = scene.run(&["reflex", "status", CUT]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(status.stderr.contains("cannot be read"), "{status:?}");
    for alias in [WHOLE, CUT] {
        let history = scene.run(&["reflex", "history", alias]);
        assert!(history.stdout.contains("run_started"), "{history:?}");
    }
    assert_eq!(scene.everything(), before, "looking has written something");
}

#[test]
fn they_are_not_taken_up_stopped_or_overwritten() {
    let scene = found();
    for alias in [WHOLE, CUT] {
        let said = scene.refusal(&["reflex", "resume", alias, "--yes"]);
        assert!(said.contains("another program"), "{said}");
        scene.refusal(&["reflex", "stop", alias]);
        scene.refusal(&["reflex", "new", TASK, "--template", "docs", "--yes", "--alias", alias]);
    }
}

#[test]
fn a_run_of_ours_beside_them_leaves_them_and_their_pointer_alone() {
    let scene = found();
    let evolution = scene.path("project/.ai-factory/evolution");
    let theirs = || {
        let mut all = listing(&evolution);
        all.retain(|(path, ..)| !path.starts_with(ALIAS));
        all
    };
    let before = theirs();
    let ran = new(&scene, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(theirs(), before);
    assert_eq!(run_json(&scene)["status"], "completed");
}

#[test]
fn they_are_deleted_when_they_are_meant_and_not_with_ours() {
    let scene = found();
    new(&scene, &[]);
    let folder = |alias: &str| scene.path("project/.ai-factory/evolution").join(alias);
    let there = || [folder(ALIAS), folder(WHOLE), folder(CUT)].map(|folder| folder.exists());
    let before = scene.everything();
    let ran = scene.run(&["reflex", "clean", "--all", "--dry-run"]);
    assert!([ALIAS, WHOLE, CUT].iter().all(|name| ran.stderr.contains(name)), "{ran:?}");
    assert_eq!(scene.everything(), before);
    let ran = scene.run(&["reflex", "clean", "--yes"]);
    assert_eq!((ran.code, there()), (Some(0), [false, true, true]), "{ran:?}");
    scene.refusal(&["reflex", "clean", WHOLE]);
    let ran = scene.run(&["reflex", "clean", WHOLE, "--yes"]);
    assert_eq!((ran.code, there()), (Some(0), [false, false, true]), "{ran:?}");
}
