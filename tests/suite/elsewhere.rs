//! Skills outside the current folder's project: which project has their runs, and that printed commands can be typed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::scene::{Ran, SKILLTUNE, Scene, listing};

/// Returns a scene whose skill is in another project, and a project path that a shell needs in quotes.
fn moved() -> (Scene, PathBuf) {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let other = scene.path("other project");
    fs::create_dir_all(other.join(".git")).unwrap();
    fs::rename(scene.skill("writer"), other.join("writer")).unwrap();
    (scene, other)
}

/// Runs a line in a shell, in the folder of the scene's project.
fn typed(scene: &Scene, line: &str) -> Ran {
    let inner = scene.command(&[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).env_clear().current_dir(scene.path("project"));
    shell.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let folder = Path::new(SKILLTUNE).parent().unwrap().display();
    shell.env("PATH", format!("{folder}:/usr/bin:/bin"));
    Ran::of(shell.output().unwrap())
}

/// Returns the command in a text that starts with these words.
fn command_in(text: &str, words: &str) -> String {
    let at = text.find(words).unwrap_or_else(|| panic!("no {words:?} in {text}"));
    text[at..].lines().next().unwrap().split('`').next().unwrap().to_owned()
}

#[test]
fn a_skill_with_a_repository_of_its_own_is_of_the_project_above_it() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    fs::create_dir(scene.skill("writer").join(".git")).unwrap();
    fs::create_dir(scene.skill("writer").join(".skilltune")).unwrap();
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
    assert_eq!(scene.run_folders().len(), 1, "the run is the project's");
    assert_eq!(listing(&scene.skill("writer").join(".skilltune")), [], "nothing of ours is in the skill");
    assert_eq!(scene.run(&["rollback"]).code, Some(0));
    assert_eq!(scene.quality("writer"), 40);
}

#[test]
fn the_commands_told_of_a_run_in_another_project_can_be_typed_where_they_are_read() {
    let (scene, other) = moved();
    let start = listing(&other.join("writer"));
    let skill = other.join("writer").display().to_string();
    let ran = scene.run(&["tune", &skill, "write a page", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!scene.path("project/.skilltune").exists(), "it is no run of the current folder's project");
    for words in ["skilltune diff", "skilltune rollback"] {
        let ran = typed(&scene, &command_in(&ran.stdout, words));
        assert_eq!(ran.code, Some(0), "{words}: {ran:?}");
    }
    assert_eq!(listing(&other.join("writer")), start);
    // A prefix of a run id is looked up only in the project of the current folder.
    let half = scene
        .run(&["status", &command_in(&ran.stdout, "skilltune rollback")["skilltune rollback ".len()..][..6]]);
    assert!(half.stderr.contains("no runs in"), "{half:?}");
}

#[test]
fn what_another_project_says_is_told_with_where_that_is() {
    let (scene, other) = moved();
    let settings = other.join("skilltune.toml");
    fs::rename(scene.path("config/skilltune/skilltune.toml"), &settings).unwrap();
    let skill = other.join("writer").display().to_string();
    let line = ["tune", &skill, "write a page", "--yes"];
    let untrusted = scene.run(&line);
    assert_eq!(untrusted.code, Some(2), "{untrusted:?}");
    let trusted = typed(&scene, &command_in(&untrusted.stderr, "skilltune trust"));
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert_eq!(scene.run(&line).code, Some(0));
    fs::remove_file(settings).unwrap();
    insta::assert_snapshot!(scene.refusal(&line), @r#"
    error: no agent for the role executor
    hint: install claude and log in: npm install -g @anthropic-ai/claude-code; `skilltune doctor` lists other agents
    hint: or pass --agent offline: it needs no model and checks structure only
    hint: or describe your own in skilltune.toml, then pass --agent mine:

        [agents.mine]
        command = ["program", "argument"]

    hint: skilltune uses the settings of the skill's project, /other project
    hint: pass --project DIR to use another project
    "#);
}
