//! An agent that is not logged in stops the run at once; the run continues after the login. A script stands in for the
//! real agent and prints its recorded output.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::scene::{Ran, Scene};

const REFUSED: &str = include_str!("../../fixtures/transcripts/claude/401.jsonl");
const DONE: &str = include_str!("../../fixtures/transcripts/claude/write.jsonl");

/// A file in claude's own folder, where it may write.
const CALLS: &str = "home/.claude/calls";

/// Returns a scene with a claude that writes a page once there is a login.
pub(crate) fn with_claude() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::create_dir(scene.path("bin")).unwrap();
    fs::create_dir(scene.path("home/.claude")).unwrap();
    fs::write(scene.path("refused"), REFUSED).unwrap();
    fs::write(scene.path("done"), DONE).unwrap();
    let at = |name: &str| scene.path(name).display().to_string();
    let script = format!(
        "#!/bin/sh\necho call >> {}\nif [ -e {} ]; then echo words > page.md; cat {}; else cat {}; exit 1; fi\n",
        at(CALLS),
        at("login"),
        at("done"),
        at("refused"),
    );
    fs::write(scene.path("bin/claude"), script).unwrap();
    fs::set_permissions(scene.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    scene
}

pub(crate) fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    let mut command = scene.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

pub(crate) const ONCE: [&str; 8] =
    ["tune", "writer", "write a page", "--yes", "--executor", "claude:opus", "--max-iterations", "1"];

#[test]
fn an_agent_that_is_not_let_in_is_not_tried_again_until_somebody_has_logged_in() {
    let scene = with_claude();
    let blocked = run(&scene, &ONCE);
    assert_eq!(blocked.code, Some(4), "{blocked:?}");
    assert_eq!(fs::read_to_string(scene.path(CALLS)).unwrap(), "call\n");
    insta::assert_snapshot!(scene.normalized(&blocked.stderr), @r#"
    estimate: up to 6 calls if none fails (executor 3, evaluator 3)
      cost and time unknown: no earlier run here with these agents
    tune writer: goal 80 in up to 1 round
    executor claude:opus, evaluator evaluator, improver improver
    run RUN, 1 scenario
    limits: 12 calls (default)

    run RUN is paused; progress is saved
    running writer on scenario-1: is not logged in: Failed to authenticate. API Error: 401 fake 401
    hint: start `claude` and type /login, or set ANTHROPIC_API_KEY
    "#);
    assert!(blocked.stdout.contains("skilltune resume"), "{blocked:?}");

    fs::write(scene.path("login"), "").unwrap();
    let ended = run(&scene, &["resume", "--format", "json"]);
    assert_eq!((ended.code, &ended.json()["blocked"]), (Some(3), &json!(null)), "{ended:?}");
    assert_eq!(fs::read_to_string(scene.path(CALLS)).unwrap(), "call\ncall\n");
    assert_eq!(ended.json()["cost"]["usd"], json!(0.010_08));
}

#[test]
fn an_agent_that_is_named_and_not_installed_is_an_error_that_says_how_to_get_it() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    insta::assert_snapshot!(scene.refusal(&ONCE), @r#"
        error: cannot run agent `claude`: program "claude" not found
        hint: install it (npm install -g @anthropic-ai/claude-code), or describe it as [agents.claude]
        "#);
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_and_the_next_command_writes_it() {
    let scene = with_claude();
    assert_eq!(run(&scene, &ONCE).code, Some(4));
    fs::write(scene.path("login"), "").unwrap();
    let report = scene.run_folder().join("final-report.md");
    fs::create_dir_all(report.join("in the way")).unwrap();
    let failed = run(&scene, &["resume"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""), "{failed:?}");
    let shown = scene.normalized(&failed.stderr);
    insta::assert_snapshot!(&shown[shown.find("error:").unwrap()..], @r"
        error: could not write /project/.skilltune/runs/RUN/final-report.md
        caused by: Is a directory (os error 21)
        hint: progress is saved; fix the cause, then run `skilltune resume RUN`
        ");

    fs::remove_dir_all(&report).unwrap();
    let ended = run(&scene, &["resume"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(fs::read_to_string(&report).unwrap().contains("# "), "the report is written");
    assert_eq!(
        fs::read_to_string(scene.path(CALLS)).unwrap(),
        "call\ncall\n",
        "and nobody was called for it"
    );
}
