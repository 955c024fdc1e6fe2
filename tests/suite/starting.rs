//! The starting state of a scenario: files, a set-up command, a repository; tested with the built-in agent, which runs
//! the scenario's command.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::scene::{Ran, Scene};

/// Creates a suite with one scenario whose command is this shell text.
fn scene(starting: &str, command: &str) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    fs::create_dir_all(scene.path("project/cases/data")).unwrap();
    fs::write(scene.path("project/cases/data/in.csv"), "a,b\n").unwrap();
    fs::write(scene.path("project/cases/notes.md"), "first\n").unwrap();
    let command = ["sh", "-c", command];
    let suite =
        format!("[[scenarios]]\nid = \"one\"\ndescription = \"Work\"\n{starting}\ncommand = {command:?}\n");
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    scene
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let line =
        ["tune", "writer", "--suite", "suite.toml", "--agent", "offline", "--max-iterations", "2", "--yes"];
    scene.run(&[&line[..], &["--format", "json"], more].concat())
}

/// Returns the output of the first trial by name.
fn left(scene: &Scene) -> Vec<(String, String)> {
    let folder = scene.run_folder().join("iterations/iteration-1/artifacts/writer/one/1");
    let files = walkdir::WalkDir::new(&folder).sort_by_file_name();
    let files = files.into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let named = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(entry.path()).unwrap_or_default())
    };
    files.map(named).filter(|(name, _)| name != "run.json").collect()
}

fn of(files: &[(String, String)], name: &str) -> String {
    let file = files.iter().find(|(other, _)| other == name);
    file.unwrap_or_else(|| panic!("{name} is not among {files:?}")).1.clone()
}

fn names(files: &[(String, String)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

const FILES: &str = "files = [\"cases/data/\", \"cases/notes.md\"]";

#[test]
fn files_stand_in_the_workspace_and_only_what_was_made_or_changed_is_left() {
    let scene = scene(FILES, "cat data/in.csv > out.txt; echo second >> notes.md");
    let ran = tune(&scene, &["--trust"]);
    assert!(ran.code == Some(0) || ran.code == Some(3), "{ran:?}");
    let left = left(&scene);
    assert_eq!((of(&left, "out.txt"), of(&left, "notes.md")), ("a,b\n".into(), "first\nsecond\n".into()));
    assert!(!names(&left).contains(&"data/in.csv"), "{left:?}");
    assert_eq!(fs::read_to_string(scene.path("project/cases/notes.md")).unwrap(), "first\n");
}

#[test]
fn a_set_up_runs_once_for_all_trials_and_what_it_makes_is_where_they_begin() {
    let setup = format!("{FILES}\nsetup = [\"sh\", \"-c\", \"tr a-z A-Z < data/in.csv > upper.csv\"]");
    let scene = scene(&setup, "cp upper.csv copy.csv");
    tune(&scene, &["--trust"]);
    let left = left(&scene);
    assert_eq!(of(&left, "copy.csv"), "A,B\n");
    assert!(!names(&left).contains(&"upper.csv"), "it was there before: {left:?}");
    // The set-up also runs only once in a run of several rounds.
    let rounds = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60 } } }));
    fs::rename(scene.path("project/cases"), rounds.path("project/cases")).unwrap();
    fs::rename(scene.path("project/suite.toml"), rounds.path("project/suite.toml")).unwrap();
    rounds
        .tune("writer", &["--suite", "suite.toml", "--this-suite-only", "--trust", "--max-iterations", "2"]);
    let steps =
        |kind: &str| rounds.events("done").iter().filter(|done| !done["step"][kind].is_null()).count();
    assert!(steps("set_up") == 1 && steps("exercise") > 1, "{} for {}", steps("set_up"), steps("exercise"));
}

#[test]
fn a_set_up_that_fails_is_tried_once_more_and_its_scenario_is_missing() {
    let scene = scene("setup = [\"sh\", \"-c\", \"echo no such service >&2; exit 3\"]", "echo x > x.txt");
    let ran = tune(&scene, &["--trust"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(
        report.contains("setting up one") && report.contains("(exit code 3): no such service"),
        "{report}"
    );
}

#[test]
fn a_repository_has_one_commit_and_what_changed_in_it_is_an_artifact() {
    let command = "git log --format=%s > log.txt; git status --short > status.txt; echo second >> notes.md; rm data/in.csv";
    let scene = scene(&format!("{FILES}\ngit = true"), command);
    tune(&scene, &["--trust"]);
    let left = left(&scene);
    assert_eq!(of(&left, "log.txt"), "The starting state\n");
    assert_eq!(of(&left, "status.txt"), "?? log.txt\n?? status.txt\n", "all else is committed");
    let diff = of(&left, "changes.diff");
    assert!(diff.contains("+second") && diff.contains("data/in.csv") && diff.contains("-a,b"), "{diff}");
    assert!(!names(&left).iter().any(|name| name.starts_with(".git/")), "{left:?}");
}

#[test]
fn a_set_up_needs_trust_as_a_command_does() {
    let scene = scene("setup = [\"make-things\"]", "echo x > x.txt");
    let refused = tune(&scene, &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("make-things"), "{refused:?}");
    let trusted = scene.run(&["trust", "suite.toml"]);
    assert!(trusted.stderr.contains("\n  set-up of one: \"make-things\"\n"), "{trusted:?}");
}

/// A suite from a repository cannot give an agent files from elsewhere.
#[test]
fn files_from_elsewhere_are_refused() {
    for name in [
        "../secret.txt",
        "/etc/passwd",
        "cases/../../secret.txt",
        "link.txt",
        "linked/in.csv",
        "none.txt",
        ".git/config",
        ".",
    ] {
        let scene = scene(&format!("files = [{name:?}]"), "echo x > x.txt");
        fs::write(scene.path("secret.txt"), "secret").unwrap();
        symlink(scene.path("secret.txt"), scene.path("project/link.txt")).unwrap();
        symlink(scene.path("project/cases/data"), scene.path("project/linked")).unwrap();
        let ran = tune(&scene, &["--trust"]);
        assert_eq!(ran.code, Some(2), "{name}: {ran:?}");
        assert!(ran.stderr.contains("`files` of `one`"), "{name}: {ran:?}");
    }
    // A symlink inside a folder is found when the folder is copied.
    let scene = scene(FILES, "echo x > x.txt");
    symlink("/etc/passwd", scene.path("project/cases/data/link")).unwrap();
    let ran = tune(&scene, &["--trust"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("symlinks are not copied"), "{ran:?}");
}
