//! Agents that each misbehave in a different way, in a real run: every step ends in time, memory use is low, and no
//! process survives.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::background::Background;
use crate::outcome::assert_tidy;
use crate::scene::{Scene, listing};

/// Runs one round, whose only step is tried twice and cannot be judged.
fn misbehaves(role: &str, kind: &str) {
    let scene = Scene::new(&[("writer", 40)], &json!({ "misbehave": { role: kind } }));
    // A prompt that does not fit into a pipe.
    let long = "word ".repeat(30_000);
    fs::write(scene.skill("writer").join("references/style.md"), long).unwrap();
    let arguments = ["tune", "writer", "write a page", "--yes", "--max-iterations", "1", "--timeout", "1"];
    let run = Background::start(&scene, &[&arguments[..], &["--format", "json"]].concat());
    let (ours, guardians) = peak_memory(&run);
    let ran = run.wait();
    assert_eq!(ran.code, Some(4), "{kind}: {ran:?}");
    // An agent that prints nothing until its deadline may have a service that is down.
    let outcome = ran.json()["outcome"].clone();
    let silent = failed_kinds(&scene).iter().all(|kind| kind == "no_response");
    assert_eq!(outcome, if silent { "paused" } else { "unjudged" }, "{kind}");
    assert_tidy(&scene, kind);
    let steps = failed_steps(&scene, role);
    assert_eq!(steps.len(), 2, "{kind}: tried, and tried again");
    let longest = steps.iter().max().expect("there are two");
    eprintln!(
        "misbehave: {role:9} {kind:13} longest step {longest:5} ms, \
         our memory {ours:6} KiB, a guardian's {guardians:6} KiB, 0 survivors"
    );
    assert!(ours.max(guardians) < 64 << 10, "{kind}: {ours} and {guardians} KiB");
}

/// Returns the peak memory in KiB of our program and of any of its guardians, polled until the run ends.
fn peak_memory(run: &Background<'_>) -> (u64, u64) {
    let mut peak = (0, 0);
    loop {
        peak.0 = peak.0.max(high_water(run.pid()));
        for guardian in run.guardians() {
            peak.1 = peak.1.max(high_water(guardian.as_raw_pid().cast_unsigned()));
        }
        if run.ends_within(Duration::from_millis(20)) {
            return peak;
        }
    }
}

/// Excludes the pages of the program file, which are many in a test build.
fn high_water(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().expect("a number"))
    };
    field("VmHWM:").saturating_sub(field("RssFile:"))
}

fn failed_kinds(scene: &Scene) -> Vec<String> {
    let done = scene.events("done");
    let kinds = done.iter().filter_map(|done| done.pointer("/outcome/failed/kind"));
    kinds.map(|kind| kind.as_str().expect("a kind is text").to_owned()).collect()
}

/// Returns the milliseconds that each failed step of the role took.
fn failed_steps(scene: &Scene, role: &str) -> Vec<u64> {
    let text = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone());
    let step = if role == "executor" { "exercise" } else { "judge" };
    let failed = events.filter(|event| {
        let done = &event["done"];
        done["step"].get(step).is_some() && done["outcome"].get("failed").is_some()
    });
    failed.map(|event| event["done"]["spent"]["ms"].as_u64().expect("a time")).collect()
}

#[test]
fn an_agent_deaf_to_being_asked_is_killed_after_its_grace() {
    misbehaves("executor", "deaf");
}

#[test]
fn a_grandchild_that_holds_the_output_delays_nothing() {
    misbehaves("evaluator", "grandchild");
}

#[test]
fn a_child_in_a_session_of_its_own_does_not_survive() {
    misbehaves("executor", "session");
}

#[test]
fn a_daemon_without_parent_or_environment_does_not_survive() {
    misbehaves("executor", "daemon");
}

#[test]
fn a_flood_of_output_is_neither_held_nor_kept() {
    misbehaves("evaluator", "flood");
}

#[test]
fn a_prompt_that_nobody_reads_holds_nobody_up() {
    misbehaves("executor", "ignore_prompt");
}

#[test]
fn an_agent_that_closes_its_output_and_stays_is_ended() {
    misbehaves("executor", "close_output");
}

#[test]
fn a_tree_deeper_than_files_may_be_open_is_a_failed_step_and_is_cleared_away() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "misbehave": { "executor": "deep" } }));
    let arguments = ["tune", "writer", "write a page", "--yes", "--max-iterations", "1", "--format", "json"];
    let ran = scene.run_limited("ulimit -n 256", &arguments);
    assert_eq!(
        (ran.code, &ran.json()["initial_score"]),
        (Some(3), &json!(0.0)),
        "it may be the skill's fault: {ran:?}"
    );
    assert_tidy(&scene, "deep");
    assert_eq!(failed_steps(&scene, "executor").len(), 1);
    let work = scene.path("cache/skilltune/work");
    assert!(!work.exists() || listing(&work).is_empty(), "workspaces are left");
}

#[test]
fn an_improver_whose_copy_is_gone_or_leads_elsewhere_is_refused_and_the_run_goes_on() {
    for kind in ["remove", "lead"] {
        let scene = Scene::new(&[("writer", 40)], &json!({ "misbehave": { "improver": kind } }));
        let before = listing(&scene.skill("writer"));
        let ran = scene.run(&[
            "tune",
            "writer",
            "write a page",
            "--yes",
            "--max-iterations",
            "2",
            "--format",
            "json",
        ]);
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("unchanged")), "{kind}: {ran:?}");
        assert_tidy(&scene, kind);
        assert_eq!(listing(&scene.skill("writer")), before, "{kind}");
        let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
        assert!(report.contains("skill/writer is no longer a folder"), "{kind}: {report}");
    }
}
