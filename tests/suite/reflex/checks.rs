//! Commands that an agent proposes as checks: run on a copy, in a folder of their own, and only after consent.

use std::path::Path;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use super::tidy::assert_tidy;
use super::*;
use crate::terminal::{talked, terminal};

/// Returns a play whose preparer proposes these commands for the first rule.
fn commands(argvs: &[&[&str]]) -> Value {
    let check = |argv: &&[&str]| json!({ "type": "executable", "argv": argv, "exit": 0, "expected": "" });
    let checks: Vec<_> = argvs.iter().map(check).collect();
    let mut play = rising();
    play["checks"] = json!({ ACCURACY: checks });
    play
}

fn grep() -> Value {
    commands(&[&["grep", "-q", "met: a.correctness.accuracy", "artifact.md"]])
}

const RUN: [&str; 2] = ["--checks", "run"];

/// Returns the first result of each command, in order.
fn check_results(scene: &Scene) -> Vec<Value> {
    let all = came_to(scene, "told").into_iter().flat_map(|results| results.as_array().unwrap().clone());
    let mut results: Vec<_> = all.collect();
    results.sort_by_key(|result| result["check"].as_u64());
    results.dedup_by_key(|result| result["check"].as_u64());
    results
}

/// Returns who decided the first rule in each evaluation, and the verdict.
fn first_rule(scene: &Scene) -> Vec<(Value, Value)> {
    let evaluated = decided(scene, "evaluated");
    let ours = |evaluation: &Value| {
        let results = evaluation["results"].as_array().unwrap();
        let ours = results.iter().find(|result| result["rule"] == ACCURACY).unwrap();
        (ours["by"].clone(), ours["verdict"].clone())
    };
    evaluated.iter().map(ours).collect()
}

#[test]
fn a_command_that_may_run_decides_without_the_judge() {
    let mut play = grep();
    // The judge would decide otherwise.
    play["verdicts"] = json!({ ACCURACY: "fail" });
    let scene = scene(&play);
    let ran = new(&scene, &RUN);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(first_rule(&scene).iter().all(|decision| *decision == (json!("command"), json!("pass"))));
    let checks = &run_json(&scene)["prepared_checks"]["checks"];
    assert_eq!(checks[0]["type"], "executable", "{checks}");
    assert_tidy(&scene, "commands");
}

#[test]
fn a_command_that_says_no_breaks_its_rule_whatever_the_judge_would_say() {
    let mut play = commands(&[&["grep", "-q", "no such words", "artifact.md"]]);
    play["verdicts"] = json!({ ACCURACY: "pass" });
    let scene = scene(&play);
    new(&scene, &[&RUN[..], &["--max-iterations", "1"]].concat());
    assert_eq!(first_rule(&scene), [(json!("command"), json!("fail"))]);
}

#[test]
fn a_command_stands_in_a_folder_with_a_copy_of_the_artifact_and_nothing_else() {
    let scene = scene(&commands(&[&["ls", "-A"], &["pwd"], &["cp", "artifact.md", "copied.md"]]));
    let ran = new(&scene, &RUN);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let results = check_results(&scene);
    assert_eq!(results[0]["details"], "exit code 0: artifact.md");
    let folder = results[1]["details"].as_str().unwrap().strip_prefix("exit code 0: ").unwrap();
    assert!(Path::new(folder).starts_with(scene.path("cache")), "{folder}");
    assert_eq!(results[2]["met"], true, "the folder is its own: {}", results[2]);
    assert!(!place(&scene).join("copied.md").exists());
}

#[test]
fn a_command_can_write_nowhere_else() {
    if !can_confine() {
        eprintln!("reflex: no command was confined: this kernel cannot");
        return;
    }
    let scene = scene(&json!({}));
    let outside = scene.path("project/outside");
    let play = commands(&[&["touch", outside.to_str().unwrap()], &["touch", "inside"]]);
    scene.write_script(&json!({ "reflex": play }));
    new(&scene, &[&RUN[..], &["--max-iterations", "1"]].concat());
    assert!(!outside.exists());
    let met: Vec<_> = check_results(&scene).iter().map(|result| result["met"].clone()).collect();
    assert_eq!(met, [false, true], "{:?}", check_results(&scene));
}

/// The list of refused shells is not a sandbox: a shell under another name is confined all the same.
#[test]
fn an_interpreter_by_another_name_can_write_nowhere_else() {
    if !can_confine() {
        eprintln!("reflex: no command was confined: this kernel cannot");
        return;
    }
    let scene = scene(&json!({}));
    let outside = |name: &str| scene.path("project").join(name).display().to_string();
    let awk = format!("BEGIN {{ exit system(\"touch inside && touch {}\") }}", outside("awk"));
    let find = format!("touch {}", outside("find"));
    let sed = format!("w {}", outside("sed"));
    let play = commands(&[
        &["awk", &awk],
        &["find", ".", "-name", "artifact.md", "-exec", "sh", "-c", &find, "{}", "+"],
        &["sed", &sed, "artifact.md"],
    ]);
    scene.write_script(&json!({ "reflex": play }));
    new(&scene, &[&RUN[..], &["--max-iterations", "1"]].concat());
    let met: Vec<_> = check_results(&scene).iter().map(|result| result["met"].clone()).collect();
    assert_eq!(met, [false, false, false], "{:?}", check_results(&scene));
    for name in ["awk", "find", "sed"] {
        assert!(!Path::new(&outside(name)).exists(), "{name}");
    }
}

#[test]
fn a_command_that_cannot_be_run_or_does_not_end_leaves_its_rule_to_the_judge() {
    for argv in [&["no-such-program"][..], &["sleep", "600"]] {
        let scene = scene(&commands(&[argv]));
        scene.write_settings("[reflex]\ncheck_seconds = 1\n");
        let ran = new(&scene, &RUN);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(check_results(&scene)[0]["met"], Value::Null);
        assert!(first_rule(&scene).iter().all(|decision| *decision == (json!("judge"), json!("pass"))));
        assert_tidy(&scene, argv[0]);
    }
}

#[test]
fn nothing_is_run_that_nobody_has_allowed() {
    for more in [&[][..], &["--checks", "skip"]] {
        let scene = scene(&commands(&[&["cp", "artifact.md", "copied.md"]]));
        let ran = new(&scene, more);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(check_results(&scene), [Value::Null; 0]);
        assert!(first_rule(&scene).iter().all(|decision| *decision == (json!("judge"), json!("pass"))));
        let asked = came_to(&scene, "allowed");
        assert_eq!(asked, if more.is_empty() { vec![json!(false)] } else { Vec::new() });
    }
}

/// Leaves a run at the question, to be resumed without a terminal. Returns None if no terminal can be opened.
pub(crate) fn held() -> Option<Scene> {
    let scene = scene(&grep());
    let line = ["reflex", "new", TASK, "--alias", ALIAS, "--template", "docs"];
    let agree = ("? lists the changes", "\r");
    let leave = ("Run these commands?", "\u{3}");
    talked(scene.command(&line), terminal().ok()?, &[agree, leave]);
    Some(scene)
}

#[test]
fn without_a_terminal_a_run_waits_for_the_answer_and_goes_on_with_it() {
    for (answer, told_by) in [("run", "command"), ("skip", "judge")] {
        let Some(scene) = held() else { return };
        let wait = ["reflex", "resume", ALIAS, "--format", "json"];
        let ran = scene.run(&wait);
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("held")), "{ran:?}");
        let status = scene.run(&["reflex", "status"]);
        assert!(status.stdout.contains("waits for your answer"), "{status:?}");
        assert_eq!(check_results(&scene), [Value::Null; 0]);
        let other = scene.refusal(&["resume", ALIAS, "--answer", "apply"]);
        assert!(other.contains("pass `--answer run` or `--answer skip`"), "{other}");
        let answered = [&wait[..], &["--answer", answer]].concat();
        let ran = scene.run(&answered);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(first_rule(&scene).iter().all(|decision| decision.0 == told_by), "{answer}");
        assert_tidy(&scene, answer);
        let late = scene.run(&answered);
        assert_eq!(late.code, Some(2), "nobody is waiting any more: {late:?}");
    }
}

#[test]
fn a_pattern_is_looked_for_without_an_agent() {
    let mut play = rising();
    let present =
        json!({ "type": "content", "search": "^met: a\\.correctness\\.accuracy$", "expected": "present" });
    let absent = json!({ "type": "content", "search": "(?i)lorem ipsum", "expected": "absent" });
    play["checks"] = json!({ ACCURACY: [present, absent] });
    play["verdicts"] = json!({ ACCURACY: "fail" });
    let scene = scene(&play);
    let ran = new(&scene, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(first_rule(&scene).iter().all(|decision| *decision == (json!("pattern"), json!("pass"))));
}

#[test]
fn a_proposed_shell_is_refused_and_never_asked_about() {
    let scene = scene(&commands(&[&["sh", "-c", "true"]]));
    let ran = new(&scene, &RUN);
    assert_eq!((ran.code, &ran.json()["reason"]), (Some(4), &json!("phase_error")), "{ran:?}");
    assert_eq!(check_results(&scene), [Value::Null; 0]);
}
