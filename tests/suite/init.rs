//! `init`, `completions` and `man`: files and texts to start with.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::scene::Scene;

#[test]
fn init_writes_settings_that_are_found_and_change_nothing_but_what_was_asked() {
    let scene = Scene::new(&[("writer", 40)], &serde_json::json!({}));
    let rows = |scene: &Scene| {
        let rows = scene.run(&["config", "show", "--format", "json"]).json();
        let row = |row: &serde_json::Value| (row["key"].to_string(), row["value"].to_string());
        rows.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let before = rows(&scene);
    let ran = scene.run(&["init", "--threshold", "85.5"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stderr), @r"
        wrote /project/skilltune.toml
        to check your setup: skilltune doctor
        ");
    let changed: Vec<_> = rows(&scene).into_iter().filter(|row| !before.contains(row)).collect();
    assert_eq!(changed, [("\"tune.threshold\"".to_owned(), "85.5".to_owned())]);
    let output = scene.run(&["init", "--preset", "quick", "--agent", "other", "--force"]).stderr;
    insta::assert_snapshot!(scene.normalized(&output), @r"
        wrote /project/skilltune.toml
        agent other has no settings yet: add [agents.other] to the file
        to check your setup: skilltune doctor
        ");
}

#[test]
fn a_first_suite_can_be_run_as_it_was_written_and_is_not_overwritten_unasked() {
    let scene = Scene::new(&[("writer", 40)], &serde_json::json!({}));
    let output = scene.run(&["init", "--agent", "offline", "--suite", "Write a \"haiku\""]).stderr;
    insta::assert_snapshot!(scene.normalized(&output), @r"
        wrote /project/skilltune.toml
        wrote /project/suite.toml
        to check your setup: skilltune doctor
        to tune a skill on the task: skilltune tune SKILL --suite suite.toml
        ");
    let ran = scene.run(&["tune", "writer", "--suite", "suite.toml", "--yes", "--format", "json"]);
    assert!(ran.code.is_some_and(|code| code != 1 && code != 2), "{ran:?}");
    insta::assert_snapshot!(scene.refusal(&["init", "--suite", "Another"]), @r"
        error: /project/suite.toml already exists
        hint: edit it: each [[scenarios]] is a task
        hint: or pass --force to overwrite it
        ");
    assert!(scene.refusal(&["init", "--suite", " "]).contains("describe a task to try the skill on"));
    assert_eq!(scene.run(&["init", "--suite", "Another", "--force"]).code, Some(0));
    let settings = scene.path("project/skilltune.toml");
    fs::write(&settings, "# mine\n").unwrap();
    fs::remove_file(scene.path("project/suite.toml")).unwrap();
    let output = scene.run(&["init", "--suite", "Another"]).stderr;
    assert!(
        scene
            .normalized(&output)
            .starts_with("unchanged: /project/skilltune.toml\nwrote /project/suite.toml\n")
    );
    assert_eq!(fs::read_to_string(&settings).unwrap(), "# mine\n");
    let suite = fs::read_to_string(scene.path("project/suite.toml")).unwrap();
    assert!(suite.contains("description = \"Another\""), "{suite}");
}

#[test]
fn what_is_there_is_never_overwritten_unasked_and_no_link_is_written_through() {
    let scene = Scene::empty();
    let (file, precious) = (scene.path("project/skilltune.toml"), scene.path("precious"));
    fs::write(&file, "# mine\n").unwrap();
    insta::assert_snapshot!(scene.refusal(&["init"]), @r"
        error: /project/skilltune.toml already exists
        hint: edit it; `skilltune config show` lists every setting
        hint: or pass --force to overwrite it
        ");
    fs::remove_file(&file).unwrap();
    symlink(&precious, &file).unwrap();
    assert!(scene.refusal(&["init"]).contains("already exists"), "a dangling link is something");
    fs::write(&precious, "precious").unwrap();
    assert_eq!(scene.run(&["init", "--force"]).code, Some(0));
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert!(file.symlink_metadata().unwrap().is_file(), "the link was replaced");
    let folder = fs::read_dir(scene.path("project")).unwrap().count();
    assert_eq!(folder, 2, "the file, .git, and nothing left over");
}

#[test]
fn init_takes_a_folder_that_is_there() {
    let scene = Scene::empty();
    fs::create_dir(scene.path("project/sub")).unwrap();
    assert_eq!(scene.run(&["init", "sub"]).code, Some(0));
    assert!(scene.path("project/sub/skilltune.toml").is_file());
    insta::assert_snapshot!(scene.refusal(&["init", "missing"]), @r"
        error: cannot use /project/missing as a project folder
        caused by: No such file or directory (os error 2)
        hint: pass an existing folder
        ");
    assert!(scene.refusal(&["init", "sub/skilltune.toml"]).contains("not a directory"));
}

#[test]
fn completions_are_what_the_shell_can_read() {
    let scene = Scene::empty();
    let ran = scene.run(&["completions", "bash"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    fs::write(scene.path("completions"), &ran.stdout).unwrap();
    if let Ok(bash) = Command::new("bash").arg("-n").arg(scene.path("completions")).status() {
        assert!(bash.success());
    }
    assert!(ran.stdout.contains("rollback") && !ran.stdout.contains("guardian"));
    assert!(scene.refusal(&["completions", "cmd.exe"]).contains("bash, elvish, fish, powershell, zsh"));
}

#[test]
fn the_manual_is_printed_or_written_a_page_a_command() {
    let scene = Scene::empty();
    let ran = scene.run(&["man"]);
    assert!(ran.code == Some(0) && ran.stdout.contains(".TH skilltune 1"), "{ran:?}");
    let precious = scene.path("precious");
    fs::create_dir(scene.path("project/pages")).unwrap();
    symlink(&precious, scene.path("project/pages/skilltune.1")).unwrap();
    let ran = scene.run(&["man", "--out", "pages"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert!(scene.path("project/pages/skilltune-tune.1").is_file());
    assert!(scene.path("project/pages/skilltune.1").symlink_metadata().unwrap().is_file());
    assert!(!precious.exists(), "no link is written through");
}
