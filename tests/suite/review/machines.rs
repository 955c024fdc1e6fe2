//! The commands of a project: found, skipped, failing only with the change, or before it too.

use std::fs;

use serde_json::json;

use super::{BROKEN, PUMP, Project, ended, entry, machines, table, words};
use crate::scene::Ran;

const CHECK: &str = "#!/bin/sh\nexec ./pump 10 0\n";

/// Commits a pump that `check` tests, and breaks the pump.
fn project(settings: &str) -> Project {
    let project = Project::new(&json!({}));
    project.write("pump", PUMP);
    project.write("check", CHECK);
    project.write("strict", "#!/bin/sh\nexit 1\n");
    if !settings.is_empty() {
        project.write("skilltune.toml", settings);
    }
    project.git.commit("Begin");
    project.write("pump", BROKEN);
    project
}

#[test]
fn a_command_that_fails_only_with_the_change_is_a_finding_and_one_that_failed_before_is_older() {
    let project =
        project("[commands]\nlint = [\"./strict\"]\nbuild = [\"no-such-builder\"]\ntest = [\"./check\"]\n");
    let refused = project.review(&[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("are not trusted: ") && refused.stderr.contains("./check"),
        "{refused:?}"
    );
    let ran = project.review(&["--trust"]);
    assert_eq!(ended(&ran), (Some(3), json!("found")), "{ran:?}");
    assert_eq!(
        table(&ran),
        ["machine high: test fails | - | test", "machine medium: lint fails | - | lint, older"]
    );
    let lines = machines(&ran);
    assert_eq!(lines[..2], ["lint: 1 1", "build: SKIPPED: no-such-builder is not installed"]);
    assert!(lines[2].starts_with("test: ") && lines[2].ends_with(" 0"), "{lines:?}");
    assert!(words(&entry(&ran, "test")["finding"]["what"]).contains("division by"), "{ran:?}");
    let prompts = project.prompts();
    assert!(prompts.iter().all(|prompt| {
        prompt.contains("- lint: fails, and failed before the change: it says nothing about it\n")
    }));
    assert_eq!(ended(&project.review(&["--trust", "--fail-on", "critical"])), (Some(0), json!("clean")));
}

#[test]
fn a_change_that_makes_a_command_crash_or_hang_is_not_clean() {
    for lines in ["kill -SEGV $$", "while :; do sleep 0.1; done"] {
        let project = project("[commands]\ntest = [\"./check\"]\nseconds = 10\n");
        project.write("pump", &format!("#!/bin/sh\n{lines}\n"));
        let ran = project.review(&["--trust", "--with", "quality"]);
        assert_eq!(ended(&ran), (Some(3), json!("found")), "{lines}: {ran:?}");
        assert_eq!(table(&ran), ["machine high: test fails | - | test"], "{lines}");
    }
}

#[test]
fn a_command_that_was_found_runs_unattended_only_by_a_persons_word() {
    let project = project("");
    project.git.git(&["checkout", "--quiet", "--", "."]);
    project.write("Makefile", "test:\n\t./check\n");
    project.git.commit("Add a Makefile");
    project.write("pump", BROKEN);
    fs::create_dir(project.scene().path("bin")).unwrap();
    project.git.program("bin/make", "exec ./check");
    let path = format!("{}:/usr/bin:/bin", project.scene().path("bin").display());
    let review = |more: &[&str]| {
        let line = [&["review", "--yes", "--format", "json", "--with", "quality"], more].concat();
        Ran::of(project.scene().command(&line).env("PATH", &path).output().unwrap())
    };
    let test = |ran: &Ran| machines(ran).last().unwrap().clone();
    let ran = review(&[]);
    assert_eq!(ended(&ran), (Some(0), json!("clean")), "{ran:?}");
    assert!(test(&ran).starts_with("test: SKIPPED: found in Makefile: set it in [commands]"), "{ran:?}");
    let ran = review(&["--commands", "skip"]);
    assert!(test(&ran).contains("--commands skip was given"), "{ran:?}");
    let ran = review(&["--commands", "run"]);
    assert_eq!((ended(&ran), table(&ran).len()), ((Some(3), json!("found")), 1), "{ran:?}");
    project.write("Makefile", "test:\n\ttrue\n");
    let ran = review(&["--commands", "run"]);
    assert!(test(&ran).contains("the change alters Makefile"), "{ran:?}");
    assert_eq!(ended(&ran), (Some(0), json!("clean")));
}
