//! Services that are down for a while: a run pauses or waits, loses no round and no comparison, and ends as it would
//! have without the outage. The scripted agent imitates claude's output.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::scene::{FAKE_AGENT, Listing, Ran, Scene, listing};

/// Creates a claude in all roles, whose service fails in these ways before each of its answers.
pub(crate) fn scene(away: &[&str], reflex: &Value) -> Scene {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    let improve = json!({ "writer": { "40": 46, "46": 52, "52": 58, "58": 64 } });
    scene.write_script(&json!({ "improve": improve, "reflex": reflex }));
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    let stage = json!({ "script": scene.path("script.json"), "away": away, "met": scene.path("met") });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
    // Not confined, because the script counts in a file of its own.
    let settings = "[limits]\nconfine = false\nbackoff_ms = 1\n";
    fs::write(scene.path("config/skilltune/skilltune.toml"), settings).unwrap();
    scene
}

pub(crate) fn run(scene: &Scene, arguments: &[&str]) -> Ran {
    let mut command = scene.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    Ran::of(command.output().unwrap())
}

pub(crate) const TUNE: [&str; 20] = [
    "tune",
    "writer",
    "write a page",
    "--yes",
    "--apply",
    "auto",
    "--agent",
    "claude",
    "--delivery",
    "inline",
    "--max-iterations",
    "5",
    "--jobs",
    "1",
    "--seed",
    "7",
    "--threshold",
    "90",
    "--format",
    "json",
];
const REFLEX: [&str; 16] = [
    "reflex",
    "new",
    "Write about the pump",
    "--alias",
    "pump",
    "--template",
    "docs",
    "--yes",
    "--agent",
    "claude",
    "--jobs",
    "1",
    "--seed",
    "7",
    "--format",
    "json",
];

/// The end of a run, and its work on the way.
#[derive(Debug, PartialEq)]
struct End {
    code: Option<i32>,
    decided: Vec<Value>,
    answered: usize,
    skill: Listing,
}

/// Resumes a run until it ends. Returns how often it paused, and its end.
fn to_the_end(scene: &Scene, begin: &[&str], resume: &[&str]) -> (usize, End) {
    let mut ran = run(scene, begin);
    for left in 0..200 {
        let outcome = ran.json()["outcome"].clone();
        if outcome != "paused" {
            let (decided, done) = (scene.events("decided"), scene.events("done"));
            let answered = done.iter().filter(|done| done.pointer("/outcome/failed").is_none()).count();
            return (left, End { code: ran.code, decided, answered, skill: listing(&scene.skill("writer")) });
        }
        assert_eq!(ran.code, Some(4), "{ran:?}");
        let blocked = ran.json()["blocked"].to_string();
        assert!(blocked.contains("--wait") && blocked.contains("only unanswered calls"), "{ran:?}");
        ran = run(scene, resume);
    }
    panic!("it comes to no end: {ran:?}");
}

const AWAY: [&str; 3] = ["overloaded", "cut", "rate_limited"];

#[test]
fn five_rounds_with_an_outage_at_every_call_end_as_they_would_have_ended_without_any() {
    let resume = ["resume", "--jobs", "1", "--format", "json"];
    let (left, calm) = to_the_end(&scene(&[], &json!({})), &TUNE, &resume);
    assert_eq!((left, calm.code), (0, Some(3)), "{calm:?}");
    assert!(calm.decided.contains(&json!({ "stop": "exhausted" })), "{calm:?}");
    let stormy = scene(&AWAY, &json!({}));
    let (left, end) = to_the_end(&stormy, &TUNE, &resume);
    assert!(left > 10, "it was left {left} times");
    assert_eq!(end, calm);
    assert_eq!((stormy.quality("writer"), stormy.alive()), (64, Vec::new()));
    let waiting = scene(&AWAY, &json!({}));
    let (left, end) = to_the_end(&waiting, &[&TUNE[..], &["--wait"]].concat(), &resume);
    assert_eq!((left, end), (0, calm));
    assert!(waiting.events("noted").len() > 20, "it waited");
}

#[test]
fn a_text_is_written_through_outages_as_without_any() {
    let play = json!({ "produced": { "1": ["a.correctness.accuracy", "a.completeness.sections", "a.completeness.examples"] } });
    let resume = ["reflex", "resume", "pump", "--yes", "--jobs", "1", "--format", "json"];
    let (left, calm) = to_the_end(&scene(&[], &play), &REFLEX, &resume);
    assert_eq!((left, calm.code), (0, Some(0)), "{calm:?}");
    let stormy = scene(&AWAY, &play);
    let (left, end) = to_the_end(&stormy, &REFLEX, &resume);
    assert!(left > 10, "it was left {left} times");
    assert_eq!(end, calm);
    let waiting = scene(&AWAY, &play);
    assert_eq!(to_the_end(&waiting, &[&REFLEX[..], &["--wait"]].concat(), &resume), (0, calm));
}

#[test]
fn a_hang_without_a_word_pauses_the_run_and_says_that_only_what_was_not_answered_costs_again() {
    let scene = scene(&["hang", "server_error", "hang"], &json!({}));
    let left = run(&scene, &[&TUNE[..18], &["--timeout", "4"]].concat());
    assert_eq!(left.code, Some(4), "{left:?}");
    // The first failure is said with the time that it took.
    let shown = scene.normalized(&left.stderr);
    let (first, rest): (Vec<&str>, Vec<&str>) = shown.lines().partition(|line| line.contains(": after "));
    let silent = "  running writer on scenario-1: timed out before the model answered: after ";
    assert!(first[0].starts_with(silent) && first[0].ends_with(" s (retried)"), "{first:?}");
    assert_eq!(first.len(), 1, "the pause reports the second: {first:?}");
    insta::assert_snapshot!(rest.join("\n"), @r#"
    estimate: up to 18 calls if none fails (executor 7, evaluator 7, improver 4)
      cost and time unknown: no earlier run here with these agents
    tune writer: goal 90 in up to 5 rounds
    claude in all roles
    note: the judge and the executor use the same model family (claude); such a judge tends to be lenient
    run RUN, 1 scenario
    limits: 36 calls (default)

    run RUN is paused; progress is saved
    running writer on scenario-1: found its service overloaded: API Error: 500 out of order
    hint: resume when the service of claude is back; `skilltune resume RUN --wait` retries until then; only unanswered calls are repeated
    "#);
    let failed = |scene: &Scene| -> Vec<Value> {
        let done = scene.events("done");
        done.iter().filter_map(|done| done.pointer("/outcome/failed/kind").cloned()).collect()
    };
    assert_eq!(failed(&scene), ["no_response", "overloaded"]);
    let again = run(&scene, &["resume", "--format", "json"]);
    assert_eq!((again.code, failed(&scene).len()), (Some(4), 5), "the next call meets the same: {again:?}");
    assert_eq!(
        scene.events("done").iter().filter(|done| done.pointer("/outcome/exercised").is_some()).count(),
        1
    );
    assert_eq!(scene.alive(), [0; 0]);
}

#[test]
fn a_refused_account_and_used_up_credit_pause_the_run_at_once_also_with_wait() {
    for (kind, why, hint) in [
        (
            "forbidden",
            "API Error: 403 Request not allowed",
            "check what the account of claude may use: its plan, organization, region or proxy",
        ),
        (
            "no_credit",
            "API Error: 400 Your credit balance is too low",
            "add credit to the account of claude, or log in with another account",
        ),
    ] {
        let scene = scene(&[kind], &json!({}));
        let left = run(&scene, &[&TUNE[..], &["--wait"]].concat());
        let blocked = &left.json()["blocked"];
        assert_eq!((left.code, &blocked["kind"]), (Some(4), &json!(kind)), "{left:?}");
        assert!(blocked["why"].as_str().unwrap().starts_with(why), "{left:?}");
        assert_eq!(blocked["mend"], hint, "{left:?}");
        assert!(scene.events("noted").iter().all(|noted| noted.get("waiting").is_none()), "{left:?}");
        let again = run(&scene, &["resume", "--jobs", "1", "--format", "json"]);
        let done = scene.events("done");
        let exercised = done.iter().filter(|done| done.pointer("/outcome/exercised").is_some()).count();
        assert_eq!((again.code, exercised), (Some(4), 1), "the next call meets the same: {again:?}");
    }
}
