//! A project file that calls run must be the trusted one at each call, not only when the run begins.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::json;

use crate::scene::{FAKE_AGENT, Ran, Scene};

const RISING: [(&str, u32); 1] = [("writer", 40)];

/// Lets a shell read the agents of a project from a script, by this path.
fn read_by_a_shell(scene: &Scene, script: &str) {
    let (user, project) =
        (scene.path("config/skilltune/skilltune.toml"), scene.path("project/skilltune.toml"));
    let read = format!("\"sh\", {script:?}");
    let settings = fs::read_to_string(&user).unwrap().replace(&format!("{FAKE_AGENT:?}"), &read);
    fs::write(project, settings).unwrap();
    fs::remove_file(user).unwrap();
}

/// Creates a world whose agents are a script of the project. The first call replaces the script.
fn swapping() -> (Scene, PathBuf) {
    let scene = Scene::new(&RISING, &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let script = scene.path("project/agent.sh");
    read_by_a_shell(&scene, script.to_str().unwrap());
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

/// Creates a world whose agents are in a folder of the project, named by this path.
fn relative(script: &str) -> Scene {
    let scene = Scene::new(&RISING, &json!({ "improve": { "writer": { "40": 90 } } }));
    read_by_a_shell(&scene, script);
    let text = format!("exec {FAKE_AGENT} \"$@\"\n");
    fs::create_dir(scene.path("project/tools")).unwrap();
    for name in ["project/tools/agent.sh", "outside.sh"] {
        fs::write(scene.path(name), &text).unwrap();
    }
    symlink("tools/agent.sh", scene.path("project/link.sh")).unwrap();
    scene
}

#[test]
fn a_script_that_a_project_names_by_a_relative_path_is_found_from_every_workspace() {
    let scene = relative("tools/agent.sh");
    let trusted = scene.run(&["trust", "."]);
    assert!(scene.normalized(&trusted.stderr).contains("with /project/tools/agent.sh"), "{trusted:?}");
    let doctor = scene.run(&["doctor"]);
    assert_eq!(doctor.stdout.lines().last(), Some("ready: skilltune tune SKILL"), "{doctor:?}");
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, &ran.json()["verdict"]), (Some(0), &json!("higher")), "{ran:?}");
    // Its bytes are a part of the agent: after an update, no stored answer is used again.
    let script = scene.path("project/tools/agent.sh");
    let history = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
    assert!(history.contains(&format!("script {}", script.display())), "{history}");
    fs::write(&script, format!(": another\nexec {FAKE_AGENT} \"$@\"\n")).unwrap();
    let refused = scene.tune("writer", &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("tools/agent.sh changed since you trusted it"), "{refused:?}");
}

#[test]
fn an_argument_that_is_a_symlink_or_leads_out_of_the_project_is_refused_everywhere() {
    for (argument, why) in [
        ("link.sh", "its argument \"link.sh\" leads through a symlink, /project/link.sh"),
        ("../outside.sh", "its argument \"../outside.sh\" leads out of the project, to /outside.sh"),
    ] {
        let scene = relative(argument);
        let trust = scene.refusal(&["trust", "."]);
        assert!(trust.contains(&format!("error: cannot run agent `evaluator`: {why}\n")), "{trust}");
        let tune = scene.refusal(&["tune", "writer", "write a page", "--yes", "--trust"]);
        assert!(tune.contains(&format!("error: cannot run agent `executor`: {why}\n")), "{tune}");
        assert!(tune.contains("write the full path of the file that you mean in agents.executor.command"));
        let doctor = scene.run(&["doctor"]);
        assert!(scene.normalized(&doctor.stdout).contains(&format!("!!  executor: {why} (")), "{doctor:?}");
        assert_ne!(doctor.stdout.lines().last(), Some("ready: skilltune tune SKILL"), "{doctor:?}");
    }
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
