//! At a usage limit skilltune says when to retry, or waits; a busy service is not called for a while. A script plays
//! the real agents with their recorded messages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::background::Background;
use crate::scene::{Ran, Scene};

const DONE: &str = include_str!("../../fixtures/transcripts/claude/write.jsonl");

const OWN: &str = "claude";
const CALLS: &str = "claude/calls";

/// Creates a claude that refuses once and then writes a page.
fn refusing_once(status: u16, words: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let result = json!({
        "type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "result": words,
    });
    fs::write(scene.path("refused"), result.to_string()).unwrap();
    fs::write(scene.path("done"), DONE).unwrap();
    // The script may write into the agent's own folder.
    fs::create_dir(scene.path(OWN)).unwrap();
    let at = |name: &str| scene.path(name).display().to_string();
    let (asked, calls, refused, done) = (at("claude/asked"), at(CALLS), at("refused"), at("done"));
    install(
        &scene,
        "claude",
        &format!(
            "echo call >> {calls}\nif [ -e {asked} ]; then echo words > page.md; cat {done}; exit; fi\n: > {asked}\ncat {refused}\nexit 1\n"
        ),
    );
    scene
}

fn install(scene: &Scene, name: &str, script: &str) {
    let program = scene.path("bin").join(name);
    fs::create_dir_all(scene.path("bin")).unwrap();
    fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn command(scene: &Scene, arguments: &[&str]) -> std::process::Command {
    let mut command = scene.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    command.env("CLAUDE_CONFIG_DIR", scene.path(OWN));
    command
}

fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    Ran::of(command(scene, arguments).output().unwrap())
}

const ONCE: [&str; 8] =
    ["tune", "writer", "write a page", "--yes", "--executor", "claude:opus", "--max-iterations", "1"];

fn calls(scene: &Scene) -> usize {
    fs::read_to_string(scene.path(CALLS)).unwrap().lines().count()
}

fn in_hours(hours: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + hours * 3600
}

/// Returns the recorded limits by name.
fn noted(scene: &Scene) -> Vec<String> {
    let names = scene.events("noted").into_iter().map(|signal| match signal {
        Value::String(name) => name,
        signal => signal.as_object().unwrap().keys().next().unwrap().clone(),
    });
    names.collect()
}

#[test]
fn without_wait_a_limit_ends_the_run_and_says_when_to_come_back() {
    let scene = refusing_once(429, "Claude AI usage limit reached|4000000000");
    let left = run(&scene, &ONCE);
    assert_eq!(left.code, Some(4), "{left:?}");
    insta::assert_snapshot!(scene.normalized(&left.stderr), @r#"
    estimate: up to 6 calls if none fails (executor 3, evaluator 3)
      cost and time unknown: no earlier run here with these agents
    tune writer: goal 80 in up to 1 round
    executor claude:opus, evaluator evaluator, improver improver
    run RUN, 1 scenario
    limits: 12 calls (default)

    run RUN is paused; progress is saved
    running writer on scenario-1: reached its usage limit: Claude AI usage limit reached|4000000000
    hint: resume after 2096-10-02 07:06:40 UTC, when the limit resets; `skilltune resume RUN --wait` waits for it
    "#);
    let status = run(&scene, &["status"]).stdout;
    assert!(status.contains("reached its usage limit"), "{status}");
    assert!(status.contains("resume after 2096-10-02 07:06:40 UTC"), "{status}");
    assert_eq!(scene.state()["errors"][0]["until"], "2096-10-02T07:06:40Z");
    let again = run(&scene, &["resume", "--format", "json"]);
    assert_eq!((again.code, noted(&scene)), (Some(3), vec!["paused".to_owned(), "resumed".to_owned()]));
}

#[test]
fn a_limit_that_is_lifted_later_than_is_waited_for_ends_the_run_although_it_waits() {
    let scene = refusing_once(429, "Claude AI usage limit reached|4000000000");
    let left = run(&scene, &[&ONCE[..], &["--wait", "--format", "json"]].concat());
    assert_eq!(left.code, Some(4), "{left:?}");
    assert_eq!(left.json()["blocked"]["until"], "2096-10-02T07:06:40Z");
    assert_eq!((noted(&scene), calls(&scene)), (vec!["paused".to_owned()], 1));
}

#[test]
fn with_wait_the_run_goes_on_by_itself_when_the_limit_is_lifted() {
    // This time is in the past, so only the wait before the retry remains.
    let words = "Claude AI usage limit reached|1000000000";
    let flag = refusing_once(429, words);
    let by_flag = run(&flag, &[&ONCE[..], &["--wait"]].concat());
    let setting = refusing_once(429, words);
    fs::write(setting.path("project/skilltune.toml"), "[calls]\nwait = true\n").unwrap();
    let by_setting = run(&setting, &ONCE);
    for (scene, ran) in [(&flag, by_flag), (&setting, by_setting)] {
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("waiting until 20"), "{ran:?}");
        assert!(ran.stderr.contains("wait ended"), "{ran:?}");
        assert_eq!((noted(scene), calls(scene)), (vec!["waiting".to_owned(), "waited".to_owned()], 2));
        assert_eq!(scene.state()["skilltune"]["waiting_until"], Value::Null);
        assert_eq!(scene.alive(), [0; 0]);
    }
}

#[test]
fn an_interrupt_ends_the_wait_and_the_run_is_taken_up_later() {
    let scene = refusing_once(429, &format!("Claude AI usage limit reached|{}", in_hours(2)));
    let waiting = Background::spawn(&scene, command(&scene, &[&ONCE[..], &["--wait"]].concat()));
    waiting.until_said("waiting until");
    let status = run(&scene, &["status"]).stdout;
    assert!(status.contains("waiting until 20"), "{status}");
    waiting.signal(Signal::INT);
    let ran = waiting.wait();
    assert_eq!((ran.code, calls(&scene)), (Some(130), 1), "{ran:?}");
    assert_eq!(noted(&scene), ["waiting", "paused"]);
    let ended = run(&scene, &["resume", "--wait", "--format", "json"]);
    assert_eq!((ended.code, calls(&scene)), (Some(3), 2), "{ended:?}");
}

#[test]
fn a_run_that_is_killed_while_it_waits_is_taken_up_too() {
    let scene = refusing_once(429, &format!("Claude AI usage limit reached|{}", in_hours(2)));
    let waiting = Background::spawn(&scene, command(&scene, &[&ONCE[..], &["--wait"]].concat()));
    waiting.until_said("waiting until");
    waiting.kill_and_see_off();
    let ended = run(&scene, &["resume", "--format", "json"]);
    assert_eq!((ended.code, calls(&scene)), (Some(3), 2), "{ended:?}");
}

#[test]
fn a_step_that_waits_for_a_busy_service_lets_others_go_on_and_an_interrupt_ends_it_at_once() {
    let scene = refusing_once(529, "API Error: 529 overloaded");
    fs::write(scene.path("project/skilltune.toml"), "[limits]\nbackoff_ms = 60000\n").unwrap();
    let more = ["--scenario", "write another", "--this-suite-only", "--jobs", "1", "--format", "jsonl"];
    let busy = Background::spawn(&scene, command(&scene, &[&ONCE[..], &more].concat()));
    let output = |scene: &Scene| fs::read_to_string(scene.path("stdout")).unwrap_or_default();
    assert!(busy.until(|scene| output(scene).contains("\"judged\"")), "the other scenario is done meanwhile");
    assert!(output(&scene).contains("\"overloaded\""), "{}", output(&scene));
    busy.signal(Signal::INT);
    let ran = busy.wait();
    assert_eq!((ran.code, calls(&scene)), (Some(130), 2), "it was not asked again: {ran:?}");
}

#[test]
fn a_busy_service_is_asked_once_more() {
    let scene = refusing_once(529, "API Error: 529 overloaded");
    fs::write(scene.path("project/skilltune.toml"), "[limits]\nbackoff_ms = 1\n").unwrap();
    let ended = run(&scene, &ONCE);
    assert_eq!((ended.code, calls(&scene), noted(&scene).len()), (Some(3), 2, 0), "{ended:?}");
}

/// The output of a gemini that wrote a page with 2,000 input tokens, of which 400 were cached, and 100 output tokens.
const WRITTEN: &str = include_str!("../../fixtures/transcripts/gemini/write.jsonl");

fn with_gemini(prices: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::write(scene.path("done"), WRITTEN).unwrap();
    let script = format!("echo words > page.md\nexec cat {}\n", scene.path("done").display());
    install(&scene, "gemini", &script);
    scene.write_settings(prices);
    scene
}

const WITH_GEMINI: [&str; 8] =
    ["tune", "writer", "write a page", "--yes", "--executor", "gemini:asked", "--max-iterations", "1"];

#[test]
fn tokens_with_a_price_are_estimated_and_every_place_says_so() {
    // The price is that of the model that answered, not of the requested one.
    let price = "[prices.\"gemini-3.1-pro-preview\"]\ninput = 1000\noutput = 10000\ncached = 250\n";
    let scene = with_gemini(price);
    let ran = run(&scene, &WITH_GEMINI);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("about $2.70 plus 1 call of unknown cost"), "{ran:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(
        report.contains("about $2.70") && report.contains("1 call reported tokens but no cost"),
        "{report}"
    );
    let report_json = fs::read_to_string(scene.run_folder().join("report.json")).unwrap();
    let cost = serde_json::from_str::<Value>(&report_json).unwrap()["cost"].clone();
    assert_eq!((&cost["usd"], &cost["estimated"], &cost["unpriced"]), (&json!(2.7), &json!(1), &json!(1)));
    assert_eq!(scene.state()["skilltune"]["ledger"]["executor"]["estimated"], 1);
}

#[test]
fn an_estimate_counts_towards_the_limit_of_money_and_without_a_price_there_is_none() {
    let scene = with_gemini("[budget]\nusd = 3\n\n[prices.asked]\ninput = 1000\noutput = 10000\n");
    let most = [&WITH_GEMINI[..7], &["3", "--format", "json"]].concat();
    let spent = run(&scene, &most).json();
    assert_eq!(
        (&spent["paused"]["limit"], &spent["cost"]["usd"]),
        (&json!("usd"), &json!(3.0)),
        "another model answered, which has no price of its own"
    );
    let scene = with_gemini("");
    let free = run(&scene, &most).json();
    assert_eq!((&free["cost"]["usd"], &free["cost"]["estimated"]), (&Value::Null, &json!(0)));
    assert_eq!(free["cost"]["unpriced"], free["cost"]["calls"]);
}
