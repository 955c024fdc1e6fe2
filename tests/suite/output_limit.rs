//! An executor whose answer is cut off at the output limit of its model. A script replaces the real agent, and prints
//! recorded output.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::blocked::{ONCE, run};
use crate::scene::Scene;

const CUT_OFF: &str = include_str!("../../fixtures/transcripts/claude/max-output.jsonl");

/// Creates a claude that prints this, fails, and logs its calls in its own folder.
pub(crate) fn with_claude(prints: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::create_dir(scene.path("bin")).unwrap();
    fs::create_dir(scene.path("home/.claude")).unwrap();
    fs::write(scene.path("said"), prints).unwrap();
    let at = |name: &str| scene.path(name).display().to_string();
    let script = format!("#!/bin/sh\necho call >> {}\ncat {}\nexit 1\n", at(CALLS), at("said"));
    fs::write(scene.path("bin/claude"), script).unwrap();
    fs::set_permissions(scene.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    scene
}

pub(crate) const CALLS: &str = "home/.claude/calls";

#[test]
fn an_executor_that_is_cut_off_at_its_output_limit_scores_0_and_is_not_tried_again() {
    let scene = with_claude(CUT_OFF);
    let ran = run(&scene, &[&ONCE[..], &["--format", "json"]].concat());
    assert_eq!((ran.code, &ran.json()["initial_score"]), (Some(3), &json!(0.0)), "{ran:?}");
    assert_eq!(fs::read_to_string(scene.path(CALLS)).unwrap(), "call\n");
    assert_eq!(scene.state()["errors"][0]["kind"], "output_limit");
}
