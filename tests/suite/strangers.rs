//! A `.skilltune` that came with a repository: it can be looked at, and makes us write nowhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::scene::{Scene, listing};

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("there is a cp");
    assert!(copied.success());
}

#[test]
fn a_run_that_was_not_begun_here_can_be_looked_at_and_not_acted_on() {
    let script = json!({ "improve": { "writer": { "40": 60, "60": 90 } } });
    let theirs = Scene::new(&[("writer", 40)], &script);
    theirs.tune("writer", &["--apply", "never"]);
    let ours = Scene::new(&[("writer", 40)], &script);
    copy(&theirs.path("project/.skilltune"), &ours.path("project"));
    let (target, skill) = (listing(&theirs.skill("writer")), listing(&ours.skill("writer")));
    for command in [&["status"][..], &["report"], &["history"], &["diff"]] {
        assert_eq!(ours.run(command).code, Some(0), "{command:?}");
    }
    for command in [&["apply"][..], &["apply", "--force"], &["rollback", "--force"]] {
        let ran = ours.run(command);
        assert!(matches!(ran.code, Some(0 | 2)), "{ran:?}");
        assert!(!ran.stderr.contains("done"), "{ran:?}");
    }
    assert!(ours.run(&["apply"]).stderr.contains("was not begun here"));
    assert_eq!(listing(&theirs.skill("writer")), target, "their path is in the journal, and was not touched");
    assert_eq!(listing(&ours.skill("writer")), skill);
}

#[test]
fn a_state_folder_that_is_a_link_is_refused_before_anything_is_written() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::create_dir(scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), scene.path("project/.skilltune")).unwrap();
    let ran = scene.tune("writer", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(fs::read_dir(scene.path("elsewhere")).unwrap().count(), 0);
}
