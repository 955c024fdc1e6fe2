//! A project file that calls run must be the trusted one at each call, not only when the run begins.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::scene::{FAKE_AGENT, Ran, Scene};

const RISING: [(&str, u32); 1] = [("writer", 40)];

/// Creates a world whose agents are a script of the project, read by a shell. The first call replaces the script.
fn swapping() -> (Scene, PathBuf) {
    let scene = Scene::new(&RISING, &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let (user, project) =
        (scene.path("config/skilltune/skilltune.toml"), scene.path("project/skilltune.toml"));
    let script = scene.path("project/agent.sh");
    let read = format!("\"sh\", \"{}\"", script.display());
    let settings = fs::read_to_string(&user).unwrap().replace(&format!("{FAKE_AGENT:?}"), &read);
    fs::write(project, settings).unwrap();
    fs::remove_file(user).unwrap();
    let (once, shown) = (scene.path("swapped"), script.display());
    let text = format!(
        "if [ ! -e {once} ]; then : > {once}; cp {shown} {shown}.new; echo ': another' >> {shown}.new; mv {shown}.new {shown}; fi\n\
         exec {FAKE_AGENT} \"$@\"\n",
        once = once.display()
    );
    fs::write(&script, text).unwrap();
    assert_eq!(scene.run(&["trust", "."]).code, Some(0));
    (scene, script)
}

fn resume(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&["resume", "--yes"], more].concat())
}

#[test]
fn a_script_that_is_swapped_during_a_run_does_not_run_and_the_run_waits_for_trust() {
    let (scene, script) = swapping();
    let trusted = fs::read_to_string(&script).unwrap();
    let left = scene.run(&["tune", "writer", "write a page", "--yes", "--jobs", "1"]);
    assert_eq!((left.code, scene.answered()), (Some(4), 1), "{left:?}");
    let message = scene.normalized(&left.stderr);
    let (_, end) = message.split_once("run RUN is paused").unwrap();
    insta::assert_snapshot!(end, @r#"
    ; progress is saved
    judging scenario-1: was not started: /project/agent.sh changed since it was trusted
    hint: restore the file, or read it; `skilltune resume` asks whether you trust it
    "#);
    let again = resume(&scene, &[]);
    assert_eq!((again.code, scene.answered()), (Some(2), 1), "{again:?}");
    insta::assert_snapshot!(scene.normalized(&again.stderr), @r#"
    error: the agents of /project/skilltune.toml are not trusted: evaluator, executor, improver
    caused by: /project/agent.sh changed since you trusted it
    hint: read the file and the files its commands use, then run `skilltune trust /project/skilltune.toml`
    hint: or pass --trust to trust them for this run
    "#);
    let swapped = fs::read_to_string(&script).unwrap();
    fs::write(&script, trusted).unwrap();
    let ended = resume(&scene, &[]);
    assert_eq!(ended.code, Some(0), "as it was it is trusted: {ended:?}");
    fs::write(&script, swapped).unwrap();
    assert_eq!(scene.tune("writer", &["--fresh"]).code, Some(2));
}

#[test]
fn a_swapped_script_runs_again_once_it_is_trusted() {
    for more in [&["--trust"][..], &[]] {
        let (scene, _) = swapping();
        let left = scene.tune("writer", &["--trust", "--jobs", "1"]);
        assert_eq!(
            (left.code, scene.answered()),
            (Some(4), 1),
            "also in a run that was trusted once: {left:?}"
        );
        assert_eq!(left.json()["blocked"]["kind"], "not_trusted");
        assert_eq!(resume(&scene, &[]).code, Some(2));
        if more.is_empty() {
            assert_eq!(scene.run(&["trust", "."]).code, Some(0));
        }
        let ended = resume(&scene, more);
        assert_eq!(ended.code, Some(0), "{more:?}: {ended:?}");
    }
}

#[test]
fn an_agent_that_writes_into_the_script_of_a_check_has_not_changed_what_the_check_runs() {
    let scene = Scene::new(&RISING, &json!({}));
    let script = scene.path("project/check.sh");
    fs::write(&script, "exit 0\n").unwrap();
    let hostile = json!({ "overwrite": { "executor": [script] }, "overwritten": scene.path("overwritten") });
    scene.write_script(&hostile);
    let suite = format!(
        "[[scenarios]]\nid = \"one\"\ndescription = \"Task\"\n[[scenarios.checks]]\ncommand = [\"sh\", \"{}\"]\n",
        script.display()
    );
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    assert_eq!(scene.run(&["trust", "suite.toml"]).code, Some(0));
    let left = scene.run(&["calibrate", "writer", "--suite", "suite.toml", "--trials", "1", "--yes"]);
    assert_eq!((left.code, scene.answered()), (Some(4), 1), "{left:?}");
    assert!(
        scene.normalized(&left.stderr).contains("/project/check.sh changed since it was trusted"),
        "{left:?}"
    );
    let refused = resume(&scene, &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r#"
    error: the files that commands of /project/suite.toml use are not trusted
    caused by: /project/check.sh changed since you trusted it
    hint: read them, then run `skilltune trust /project/suite.toml`
    hint: or pass --trust to trust them for this run
    "#);
    assert_eq!(scene.run(&["trust", "suite.toml"]).code, Some(0));
    let ended = resume(&scene, &[]);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert_eq!(scene.answered(), 1, "the answer was kept");
}
