//! Every way in which a run ends: its exit code, its messages, and its files.

use serde_json::{Value, json};

use super::tidy::{assert_tidy, replayed};
use super::*;
use crate::ceilings::priced;
use crate::scene::listing;

/// The expected end of a run: in our words, and in the original's.
struct End {
    code: i32,
    status: &'static str,
    reason: &'static str,
    theirs: &'static str,
}

fn end(code: i32, status: &'static str, reason: &'static str) -> End {
    End { code, status, reason, theirs: reason }
}

/// Runs a play to its end, and checks everything that reports it.
fn ends(scene: &Scene, more: &[&str], end: &End) -> Value {
    let ran = new(scene, more);
    assert_eq!(ran.code, Some(end.code), "{ran:?}");
    assert_ended(scene, &ran.json(), end);
    ran.json()
}

fn assert_ended(scene: &Scene, result: &Value, end: &End) {
    assert_eq!((&result["status"], &result["reason"]), (&json!(end.status), &json!(end.reason)), "{result}");
    assert_tidy(scene, end.reason);
    let (run, story) = (run_json(scene), story(scene));
    assert_eq!((&run["status"], &run["stop"]["reason"]), (&json!(end.status), &json!(end.theirs)));
    assert_eq!(run["stop"]["passed"], end.reason == "threshold_reached");
    let last = story.last().expect("a history has lines");
    let event = if end.status == "failed" { "failed" } else { "stopped" };
    assert_eq!((&last["event"], &last["payload"]["reason"]), (&json!(event), &json!(end.theirs)), "{last}");
    assert_eq!(run["current_step"], last["step"], "{last}");
    assert_eq!(story[0]["event"], "run_started");
    let status = scene.run(&["reflex", "status", ALIAS]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(status.stdout.contains(&format!("{} ({})", end.status, end.reason)), "{}", status.stdout);
    let history = scene.run(&["reflex", "history", ALIAS]);
    let lines = history.stdout.lines().count();
    assert_eq!(lines as u64, replayed(scene).seq + 1, "one line an event: {}", history.stdout);
    assert!(history.stdout.contains(&format!("({})", end.reason)), "{}", history.stdout);
}

#[test]
fn passing_level_b_reaches_the_goal() {
    let scene = written();
    let result = summary(&scene);
    assert_ended(&scene, &result, &end(0, "completed", "threshold_reached"));
    assert_eq!(
        (&result["score"], &result["level"], &result["iterations"]),
        (&json!(100.0), &json!("B"), &json!(2))
    );
    assert_eq!(result["artifact"]["status"], "evaluated");
    assert!(meets(&artifact(&scene), &ALL));
    let events: Vec<_> =
        story(&scene).iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        events,
        [
            "run_started",
            "plan_created",
            "artifact_created",
            "checks_prepared",
            "evaluation_done",
            "phase_switched",
            "checks_prepared",
            "evaluation_done",
            "critique_done",
            "refinement_done",
            "iteration_advanced",
            "evaluation_done",
            "stopped"
        ]
    );
}

#[test]
fn an_artifact_that_only_warnings_speak_against_is_taken_once_the_threshold_had_its_chance() {
    let refined = [&PASSES_A[..], &[CLARITY]].concat();
    let scene = scene(&json!({ "produced": { "1": PASSES_A }, "refined": { "1": refined } }));
    let result = ends(&scene, &[], &end(3, "completed", "no_major_issues"));
    assert_eq!((&result["score"], &result["threshold"]), (&json!(60.0), &json!(85.0)));
    assert_eq!(result["distance"]["blocking"], json!([]));
    assert_eq!(result["iterations"], 2);
}

#[test]
fn a_score_that_no_longer_rises_ends_the_run_even_with_blocking_rules() {
    let still = json!([ACCURACY]);
    let play = json!({ "produced": { "1": still }, "refined": { "1": still, "2": still, "3": still } });
    let scene = scene(&play);
    let result = ends(&scene, &["--max-iterations", "9"], &end(3, "stopped", "stagnation"));
    assert_eq!((&result["iterations"], &result["distance"]["blocking"]), (&json!(3), &json!([SECTIONS])));
    assert_eq!(begun(&scene, "evaluate"), 3, "the same text is judged once: one call a category");
}

#[test]
fn a_refinement_that_changes_nothing_is_refused_and_then_the_text_is_written_anew() {
    let scene = scene(&json!({ "produced": { "1": PASSES_A, "2": ALL }, "refined": { "1": PASSES_A } }));
    let result = ends(&scene, &[], &end(0, "completed", "threshold_reached"));
    let begun = ["plan", "produce", "refine", "critique"].map(|phase| begun(&scene, phase));
    assert_eq!((&result["iterations"], begun), (&json!(2), [2, 2, 2, 1]));
    let refused = scene.events("done").into_iter().filter(|done| done["outcome"]["failed"]["kind"] == "gate");
    assert_eq!(refused.count(), 2);
    let asked = listing(&scene.run_folder().join("agents")).into_iter().map(|(_, _, bytes)| bytes);
    let count = asked
        .filter(|bytes| String::from_utf8_lossy(bytes).contains("byte for byte the one that was"))
        .count();
    assert!(count >= 3, "both replies say so, and so does the second prompt: {count}");
}

/// Returns two versions that alternate forever.
fn circling() -> Value {
    let (one, other) = (json!([ACCURACY]), json!([SECTIONS]));
    json!({ "produced": { "1": one }, "refined": { "1": other, "2": one, "3": other, "4": one } })
}

#[test]
fn a_refiner_that_goes_round_in_circles_is_told_apart_from_one_that_stands_still() {
    let scene = scene(&circling());
    scene.write_settings("[reflex]\nstall_window = 8\n");
    let expected = End { theirs: "stagnation", ..end(3, "stopped", "oscillation") };
    let result = ends(&scene, &["--max-iterations", "9"], &expected);
    assert_eq!(result["iterations"], 4);
}

#[test]
fn a_limit_of_time_counts_completed_phases_and_is_looked_at_between_them() {
    let scene = Scene::new(&[], &json!({ "reflex": rising(), "delay_ms": 550 }));
    let result = ends(&scene, &["--max-seconds", "1"], &end(3, "stopped", "budget_exceeded"));
    assert_eq!((&result["artifact"]["status"], &result["score"]), (&json!("unevaluated"), &Value::Null));
    let story = story(&scene);
    let payload = &story.last().unwrap()["payload"];
    assert_eq!(payload["last_completed_step"], "PRODUCE_PREPARE");
    assert_eq!(payload["max_completed_phase_seconds"], 1);
    let (took, over) = (&payload["completed_phase_seconds"], &payload["overshoot_seconds"]);
    assert_eq!(took.as_u64().unwrap() - 1, over.as_u64().unwrap());
    assert_eq!(begun(&scene, "evaluate"), 0, "no phase is begun that there is no time for");
}

#[test]
fn a_limit_of_money_pauses_a_run_which_goes_on_with_a_higher_one() {
    let scene = priced(&[], &json!({ "reflex": rising() }));
    let left = new(&scene, &["--proposals", "0", "--max-usd", "1"]);
    // A quarter each: plan, produce and prepare, and the first evaluation.
    assert_eq!((left.code, &left.json()["cost"]["usd"]), (Some(5), &json!(1.0)), "{left:?}");
    assert_eq!((&left.json()["status"], &left.json()["paused"]["limit"]), (&json!("running"), &json!("usd")));
    let ended = scene.run(&["resume", "--yes", "--format", "json", "--max-usd", "100"]);
    assert_ended(&scene, &ended.json(), &end(0, "completed", "threshold_reached"));
}

#[test]
fn the_last_iteration_ends_the_run_and_the_best_is_what_it_leaves() {
    // The second version is worse than the first.
    let play = json!({ "produced": { "1": [ACCURACY, EXAMPLES] }, "refined": { "1": [EXAMPLES] } });
    let scene = scene(&play);
    let result = ends(&scene, &["--max-iterations", "2"], &end(3, "stopped", "iteration_limit"));
    assert_eq!((&result["score"], &result["iterations"]), (&json!(50.0), &json!(2)));
    assert!(meets(&artifact(&scene), &[ACCURACY, EXAMPLES]), "the last one is not the best one");
}

#[test]
fn what_is_worse_is_dropped_and_the_best_is_planned_and_written_anew() {
    let play = json!({
        "produced": { "1": [ACCURACY, EXAMPLES], "3": ALL },
        "refined": { "1": [EXAMPLES] },
    });
    let scene = scene(&play);
    let result = ends(&scene, &[], &end(0, "completed", "threshold_reached"));
    assert_eq!(result["iterations"], 3);
    let drops = decided(&scene, "drop");
    assert_eq!(drops.len(), 1);
    let first = &decided(&scene, "produced")[0]["artifact"]["hash"];
    assert_eq!(drops[0]["best"], *first);
    assert_eq!((begun(&scene, "plan"), begun(&scene, "produce"), begun(&scene, "refine")), (2, 2, 1));
}

#[test]
fn a_section_that_nobody_asked_for_is_told() {
    let play = json!({
        "produced": { "1": PASSES_A },
        "refined": { "1": [ACCURACY, SECTIONS, "a.completeness.examples: other words", CLARITY, "Remarks"] },
    });
    let scene = scene(&play);
    ends(&scene, &[], &end(3, "completed", "no_major_issues"));
    let refined = &decided(&scene, "refined")[0];
    assert_eq!(refined["changed"]["sections"], json!([EXAMPLES, CLARITY, "Remarks"]));
    assert_eq!(refined["changed"]["unasked"], json!([EXAMPLES, "Remarks"]));
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("(not asked for)"), "{report}");
}

const PHASES: [&str; 6] = ["plan", "produce", "prepare", "evaluate", "critique", "refine"];

#[test]
fn an_answer_that_keeps_no_contract_is_asked_for_once_more_and_then_is_the_end() {
    for phase in ["plan", "prepare", "evaluate", "critique"] {
        for odd in ["rubbish", "wrong_code"] {
            let mut play = rising();
            play["odd"] = json!({ phase: odd });
            let scene = scene(&play);
            let result = ends(&scene, &[], &end(4, "failed", "phase_error"));
            let groups = if phase == "evaluate" { 3 } else { 1 };
            assert_eq!(begun(&scene, phase), 2 * groups, "{phase} {odd}");
            let story = story(&scene);
            let errors = story.iter().filter(|line| line["event"] == "phase_error");
            assert_eq!(errors.clone().count(), 2 * groups, "{phase} {odd}");
            assert!(errors.clone().all(|line| line["status"] == "error"));
            assert!(!result["note"].as_str().unwrap().is_empty());
        }
    }
}

#[test]
fn a_writer_that_writes_nothing_is_asked_once_more_and_then_is_the_end() {
    for phase in ["produce", "refine"] {
        let mut play = rising();
        play["odd"] = json!({ phase: "empty" });
        let scene = scene(&play);
        let result = ends(&scene, &[], &end(4, "failed", "phase_error"));
        assert_eq!(begun(&scene, phase), 2, "{phase}");
        let status = if phase == "produce" { "not_created" } else { "evaluated" };
        assert_eq!(result["artifact"]["status"], status);
    }
}

#[test]
fn one_bad_answer_of_any_phase_changes_nothing_but_the_number_of_calls() {
    let whole = {
        let scene = written();
        let result = summary(&scene);
        assert_ended(&scene, &result, &end(0, "completed", "threshold_reached"));
        (artifact(&scene), result["score"].clone(), result["iterations"].clone(), scene.answered())
    };
    for phase in PHASES {
        let odd = if ["produce", "refine"].contains(&phase) { "empty" } else { "rubbish" };
        let mut play = rising();
        play["odd_once"] = json!({ phase: odd });
        let scene = scene(&play);
        let result = ends(&scene, &[], &end(0, "completed", "threshold_reached"));
        let came =
            (artifact(&scene), result["score"].clone(), result["iterations"].clone(), scene.answered() - 1);
        assert_eq!(came, whole, "{phase}");
        assert_eq!(story(&scene).iter().filter(|line| line["event"] == "phase_error").count(), 1, "{phase}");
    }
}
