//! A shell for executors: which of them get one, what their commands can see of the user's environment, and where that
//! is recorded. The scripted agent plays claude and logs how it is started.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::scene::{FAKE_AGENT, Ran, Scene};

fn scene() -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    fs::create_dir(scene.skill("writer").join("scripts")).unwrap();
    fs::write(scene.skill("writer").join("scripts/make.py"), "print()\n").unwrap();
    scene.write_script(&json!({ "improve": { "writer": { "40": 90 } } }));
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    let stage = json!({ "script": scene.path("script.json"), "uses_skill": true });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
    // The agent logs its calls in its own files.
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    let suite = "[[scenarios]]\nid = \"a\"\ndescription = \"run it\"\ntools = \"shell\"\n\n[[scenarios]]\nid = \"b\"\ndescription = \"read it\"\n";
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    scene
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let tune = ["tune", "writer", "--this-suite-only", "--yes", "--agent", "claude", "--format", "json"];
    let mut command = scene.command(&[&tune[..], more].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

/// Returns how each agent call was started: whether it is an executor's, whether it has a shell, and its home.
fn started(scene: &Scene) -> Vec<(bool, bool, String)> {
    let log = fs::read_to_string(scene.path("bin/started.jsonl")).unwrap_or_default();
    let calls = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    calls
        .map(|call| {
            let has = |word: &str| call["argv"].to_string().contains(word);
            (has("Skill"), has("Bash"), call["env"]["HOME"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn only_the_executor_of_a_scenario_that_says_so_has_a_shell_and_the_journal_keeps_it() {
    let scene = scene();
    let ran = tune(&scene, &["--suite", "suite.toml", "--trust", "--max-iterations", "2"]);
    assert_eq!(ran.json()["tools"], "shell", "{ran:?}");
    let started = started(&scene);
    let home = scene.path("home").display().to_string();
    let with: Vec<_> = started.iter().filter(|(_, has_shell, _)| *has_shell).collect();
    assert!(with.iter().all(|(executes, _, own)| *executes && own.contains("/skilltune/work/")), "{with:?}");
    let without = started.iter().filter(|(executes, has_shell, _)| *executes && !has_shell);
    assert_eq!((with.len(), without.count()), (4, 4), "two rounds and two contestants: {started:?}");
    assert!(started.iter().all(|(_, has_shell, own)| *has_shell || *own == home), "{started:?}");
    let plan = &scene.events("started")[0];
    assert_eq!(plan["tools"], "files", "{plan}");
    let tools: Vec<&Value> =
        plan["scenarios"].as_array().unwrap().iter().map(|scenario| &scenario["tools"]).collect();
    assert_eq!(tools, [&json!("shell"), &Value::Null]);
}

#[test]
fn an_answer_without_a_shell_is_none_with_one() {
    let scene = scene();
    let executed = |tools| {
        let before = started(&scene).len();
        let ran = tune(&scene, &["write a page", "--tools", tools, "--max-iterations", "1"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let calls = &started(&scene)[before..];
        calls
            .iter()
            .filter(|(executes, ..)| *executes)
            .map(|(_, has_shell, _)| *has_shell)
            .collect::<Vec<_>>()
    };
    assert_eq!((executed("files"), executed("files")), (vec![false], vec![]), "it is stored");
    assert_eq!((executed("shell"), executed("shell")), (vec![true], vec![]));
}

#[test]
fn a_skill_with_scripts_is_offered_a_shell_until_it_has_one() {
    let scene = scene();
    let notes = |more: &[&str]| {
        let ran = tune(&scene, &[&["write a page", "--dry-run"], more].concat());
        ran.json()["notes"].to_string()
    };
    let suggestion = "it cannot run the scripts of writer; pass --tools shell to let it run commands";
    let opened = "the network is open to them";
    assert!(notes(&[]).contains(suggestion) && !notes(&[]).contains(opened), "{}", notes(&[]));
    let with = notes(&["--tools", "shell"]);
    assert!(!with.contains("scripts of writer") && with.contains(opened), "{with}");
    assert!(with.contains("nothing confines their writes"), "limits.confine is false: {with}");
    let ran = tune(&scene, &["write a page", "--tools", "shell", "--max-iterations", "1"]);
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(ran.json()["notes"].to_string().contains(opened) && report.contains(opened), "{ran:?} {report}");
}

#[test]
fn a_shell_is_refused_where_commands_could_change_the_users_own_setup() {
    let scene = scene();
    let ran = tune(&scene, &["write a page", "--tools", "shell", "--isolation", "user"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("cannot give `claude` a shell with --isolation user"), "{ran:?}");
}
