//! A run pauses before a call that might exceed a ceiling, says which and how to continue, and ends as without one.

use std::fs;

use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::scene::{Ran, Scene};

/// Returns a scene whose calls each report a cost of a quarter of a dollar and 1,200 tokens.
pub(crate) fn priced(skills: &[(&str, u32)], script: &Value) -> Scene {
    let mut script = script.clone();
    script["envelope"] = true.into();
    let scene = Scene::new(skills, &script);
    let path = scene.path("config/skilltune/skilltune.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let cost = "output = \"/result\"\ncost = { usd = \"/cost/usd\", input_tokens = \"/cost/input\", output_tokens = \"/cost/output\" }";
    let settings = settings.replace("script.json\"]\n", &format!("script.json\"]\n{cost}\n"));
    fs::write(&path, settings).unwrap();
    scene
}

fn scene() -> Scene {
    priced(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 95 } } }))
}

const TUNE: [&str; 8] = ["tune", "writer", "write a page", "--yes", "--format", "json", "--seed", "7"];

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&TUNE, more].concat())
}

fn resume(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&["resume", "--yes", "--format", "json"], more].concat())
}

#[test]
fn a_run_stopped_by_each_ceiling_and_resumed_ends_as_one_without() {
    let whole = scene();
    let ran = tune(&whole, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let whole = Outcome::of(&whole, &ran);
    for (flag, low, high, calls) in [
        ("--max-usd", "0.6", "20", 2),
        ("--max-tokens", "3000", "1_000_000", 2),
        ("--max-calls", "3", "50", 3),
        ("--max-minutes", "0", "1000", 0),
    ] {
        let scene = scene();
        let left = tune(&scene, &[flag, low]);
        assert_eq!((left.code, scene.answered()), (Some(5), calls), "{left:?}");
        let paused = &left.json()["paused"];
        assert_eq!(paused["limit"], flag.trim_start_matches("--max-"), "{paused}");
        assert!(paused["flags"].as_str().unwrap().starts_with(flag), "{paused}");
        assert_eq!(scene.events("noted").pop().unwrap()["paused"]["ceiling"], paused["limit"]);
        let same = resume(&scene, &[]);
        assert_eq!(
            (same.code, scene.answered()),
            (Some(5), calls),
            "no call without a higher limit: {same:?}"
        );
        let ended = resume(&scene, &[flag, high]);
        assert_eq!(ended.json()["paused"], Value::Null);
        Outcome::of(&scene, &ended).assert_ends_as(&whole, flag);
    }
}

#[test]
fn a_paused_run_says_which_limit_how_far_it_came_and_what_to_type() {
    let scene = scene();
    let left = scene.run(&["tune", "writer", "write a page", "--yes", "--max-usd", "1.1"]);
    assert_eq!(left.code, Some(5), "{left:?}");
    insta::assert_snapshot!(scene.normalized(&left.stderr), @r#"
    estimate: up to 18 calls if none fails (executor 7, evaluator 7, improver 4)
      cost and time unknown: no earlier run here with these agents
    tune writer: goal 80 in up to 5 rounds
    executor executor, evaluator evaluator, improver improver
    run RUN, 1 scenario
    limits: 36 calls (default), $1.10

    round 1 of 5  39.6            baseline
      1 suggestion; strength: SKILL.md states its quality; weakness: SKILL.md: the quality is only 40
    run RUN is paused; progress is saved
    limit of $1.10 reached in round 2 of 5: $1.00 spent, and one call has cost up to $0.25
    "#);
    let way_on = "\nto continue: skilltune resume RUN --max-usd 3\n";
    assert!(scene.normalized(&left.stdout).ends_with(way_on), "{left:?}");
    let again = scene.run(&["resume", "--yes"]);
    assert_eq!(again.code, Some(5));
    insta::assert_snapshot!(scene.normalized(&again.stderr), @r#"
    tune writer: goal 80 in up to 5 rounds
    executor executor, evaluator evaluator, improver improver
    run RUN, 1 scenario
    limits: 36 calls (default), $1.10

    resumed in round 2, best so far 39.6
    run RUN is paused; progress is saved
    limit of $1.10 reached in round 2 of 5: $1.00 spent, and one call has cost up to $0.25
    "#);
    let status = scene.run(&["status"]);
    assert!(status.stdout.contains("limit of $1.10 reached in round 2 of 5: $1.00 spent"), "{status:?}");
}

#[test]
fn a_second_run_on_the_same_input_makes_no_call_and_needs_no_room() {
    let scene = scene();
    let first = tune(&scene, &["--apply", "never"]);
    let calls = scene.answered();
    let second = tune(&scene, &["--apply", "never", "--max-usd", "0.01", "--max-calls", "1"]);
    assert_eq!((second.code, &second.json()["cost"]["calls"]), (first.code, &json!(0)), "{second:?}");
    assert_eq!(scene.answered(), calls);
}

#[test]
fn a_project_lowers_the_default_number_of_calls_and_cannot_raise_it() {
    let scene = scene();
    let limits = |more: &[&str]| -> [Value; 2] {
        let dry = tune(&scene, &[&["--dry-run"], more].concat()).json();
        [dry["limits"]["calls"].clone(), dry["most_calls"]["all"].clone()]
    };
    let [default, most] = limits(&[]);
    assert_eq!(default, most);
    let file = scene.path("project/skilltune.toml");
    fs::write(&file, "[budget]\ncalls = 1_000_000\n").unwrap();
    assert_eq!(limits(&[])[0], most);
    let said = |more: &[&str]| tune(&scene, &[&["--dry-run"], more].concat()).stderr;
    let note = format!("note: budget.calls stays at {most}, the most that the plan needs: ");
    assert!(said(&[]).contains(&note), "{}", said(&[]));
    assert_eq!(limits(&["--max-calls", "1_000_000"])[0], 1_000_000, "a person decides");
    fs::write(&file, "[budget]\ncalls = 3\n").unwrap();
    assert_eq!(limits(&[])[0], 3);
    assert!(!said(&[]).contains("budget.calls"), "{}", said(&[]));
}

#[test]
fn a_limit_of_money_names_an_agent_that_it_cannot_count() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let ran =
        scene.run(&["tune", "writer", "write a page", "--yes", "--max-usd", "5", "--max-iterations", "1"]);
    let count = ran.stderr.matches("reports no cost, so the cost limit does not count it").count();
    assert_eq!((count, scene.events("noted").len()), (1, 0), "{ran:?}");
}

#[test]
fn an_estimate_rests_on_earlier_runs_of_the_skill_and_makes_no_call() {
    let scene = scene();
    let estimate =
        |more: &[&str]| scene.run(&[&["tune", "writer", "write a page", "--estimate"], more].concat());
    assert_eq!(
        estimate(&[]).stdout,
        "estimate: up to 18 calls if none fails (executor 7, evaluator 7, improver 4)\n  cost and time unknown: no earlier run here with these agents\n"
    );
    tune(&scene, &["--apply", "never"]);
    let calls = scene.answered();
    let figures = estimate(&["--format", "json"]).json()["estimate"].clone();
    assert_eq!(
        (
            &figures["most"]["calls"]["all"],
            &figures["most"]["tokens"],
            &figures["most"]["usd"],
            &figures["runs"]
        ),
        (&json!(18), &json!(21_600), &json!(4.5), &json!(1))
    );
    let output = estimate(&[]).stdout;
    assert!(
        output.starts_with(
            "estimate: up to 18 calls if none fails (executor 7, evaluator 7, improver 4)\n  up to $4.50; "
        ),
        "{output}"
    );
    assert!(output.contains("\n  up to 21,600 tokens; "), "{output}");
    assert!(output.ends_with(&format!("from the mean of {calls} earlier calls in 1 run\n")), "{output}");
    let other = estimate(&["--executor", "other"]);
    assert_eq!((other.code, scene.answered(), scene.run_folders().len()), (Some(2), calls, 1), "{other:?}");
    let report = scene.run_folder().join("report.json");
    let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    let context = &report["context"][0];
    assert_eq!(
        (&context["skill"], context["start"]["body"].as_u64() > Some(0)),
        (&json!("writer"), true),
        "{context}"
    );
    let page = scene.run(&["report"]).stdout;
    assert!(
        page.contains("## Context Cost") && page.contains("| Skill | Listing | Body | References |"),
        "{page}"
    );
    let costs = report["costs"].as_array().unwrap();
    let roles: Vec<_> = costs.iter().map(|cost| (&cost["role"], &cost["agent"])).collect();
    assert_eq!(
        roles,
        ["executor", "evaluator", "improver"]
            .map(|role| (json!(role), json!(role)))
            .iter()
            .map(|(role, agent)| (role, agent))
            .collect::<Vec<_>>()
    );
    assert_eq!(costs.iter().map(|cost| cost["calls"].as_u64().unwrap()).sum::<u64>(), calls as u64);
}

#[test]
fn an_estimate_says_that_tokens_are_unknown_where_no_agent_reports_them() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    tune(&scene, &["--max-iterations", "1", "--apply", "never"]);
    let estimate =
        |more: &[&str]| scene.run(&[&["tune", "writer", "write a page", "--estimate"], more].concat());
    let output = estimate(&[]).stdout;
    assert!(output.contains("\n  tokens unknown; the maximum takes at best "), "{output}");
    let figures = estimate(&["--format", "json"]).json()["estimate"].clone();
    assert_eq!((&figures["most"]["tokens"], &figures["runs"]), (&Value::Null, &json!(1)), "{figures}");
}
