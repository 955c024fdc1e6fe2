use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::base::id::{CallKey, Digest};
use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::judging::judgement::Finding;
use skilltune_phases::loops::tune::{Aim, Outcome, Plan};
use skilltune_phases::runs::event::{Event, FailureKind, Spent};

use super::*;
use crate::loops::tune::report::json;
use crate::loops::tune::world::{failed, judged, plan, play, scored};

/// Plans a search on two scenarios and a comparison on the others.
fn compared(scenarios: usize) -> Plan {
    let mut plan = plan(&["haiku"], scenarios);
    plan.task.scenarios.iter_mut().skip(2).for_each(|scenario| scenario.held_out = true);
    plan
}

fn with_store<T>(see: impl FnOnce(&Objects) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    see(&Objects::at(SafePath::below(folder.path(), "objects")))
}

fn shown(run: &Run) -> Vec<Value> {
    with_store(|objects| figures(run, objects))
}

/// Returns whether a step belongs to the candidate's fresh trial of the fourth scenario.
fn is_fourth(run: &Run, step: &Step) -> bool {
    let is_candidate = match step {
        Step::Exercise { skill, .. } => run.candidate(run.start()).unwrap().trees[0] != *skill,
        Step::Judge { candidate, .. } => *candidate != run.start(),
        _ => false,
    };
    is_candidate && step.trial().is_some_and(|trial| trial.ordinal > 0 && trial.scenario == 3)
}

#[test]
fn both_versions_are_side_by_side_in_the_order_of_the_suite() {
    let run = play(compared(6), scored(&[50, 95], &[52, 91])).run;
    let all = shown(&run);
    let ids: Vec<&str> = all.iter().map(|case| case["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["task-1", "task-2", "task-3", "task-4", "task-5", "task-6"]);
    assert_eq!((&all[1]["start"], &all[1]["trials"]), (&Value::Null, &json!([])), "no trial of it counts");
    let verdicts = json!([
        { "member": null, "id": "clarity.steps", "verdict": "pass" },
        { "member": null, "id": "clarity.words", "verdict": "fail" },
        { "member": null, "id": "output.done", "verdict": "partial" },
    ]);
    let sum = |score: f64| json!({ "score": score, "judged": 1, "of": 1, "usd": 0.5, "seconds": 1.5, "tokens": 1230 });
    let trial = |score: f64| {
        json!({
            "score": score, "state": "judged", "why": null, "usd": 0.5, "seconds": 1.5, "tokens": 1230,
            "verdicts": verdicts, "call": null,
        })
    };
    let third = json!({
        "id": "task-3",
        "task": "Write a | haiku",
        "held_out": true,
        "page": "data/scenario-003.html",
        "start": sum(52.0),
        "candidate": sum(91.0),
        "difference": 39.0,
        "trials": [{ "trial": 1, "start": trial(52.0), "candidate": trial(91.0) }],
    });
    assert_eq!(all[2], third);
    assert_eq!(json::report(&run)["scenarios"], Value::from(all));
}

#[test]
fn a_trial_that_is_missing_is_no_miss_and_has_no_difference() {
    let missing = play(compared(6), |run, step| match step {
        Step::Judge { .. } if is_fourth(run, step) => failed(FailureKind::Crashed, "exit code 1"),
        _ => scored(&[50, 95], &[52, 91])(run, step),
    });
    let fourth = &shown(&missing.run)[3];
    let candidate = &fourth["trials"][0]["candidate"];
    assert_eq!([&fourth["start"]["score"], &fourth["difference"]], [&json!(52.0), &Value::Null]);
    assert_eq!([&fourth["candidate"]["score"], &fourth["candidate"]["judged"]], [&Value::Null, &json!(0)]);
    assert_eq!([&candidate["state"], &candidate["why"]], ["missing", "exited with an error: exit code 1"]);
    assert_eq!([&candidate["usd"], &candidate["verdicts"]], [&json!(0.5), &json!([])], "its agent ended");

    let late = play(compared(6), |run, step| match step {
        Step::Exercise { .. } if is_fourth(run, step) => {
            failed(FailureKind::TimedOut, "not done within 60 s")
        }
        _ => scored(&[50, 95], &[52, 91])(run, step),
    });
    let fourth = &shown(&late.run)[3];
    let candidate = &fourth["trials"][0]["candidate"];
    assert_eq!([&fourth["candidate"]["score"], &fourth["difference"]], [&json!(0.0), &json!(-52.0)]);
    assert_eq!([&candidate["state"], &candidate["why"]], ["failed", "timed out: not done within 60 s"]);
    assert_eq!(candidate["seconds"], 1.5);
}

#[test]
fn scenarios_that_the_comparison_did_not_need_have_no_figures() {
    let run = play(compared(12), scored(&[50, 95], &[0, 100])).run;
    let pairs = &run.state.shipment.as_ref().unwrap().pairs;
    let all = shown(&run);
    let unneeded = |case: &&Value| case["trials"][0]["start"]["state"] == "not_needed";
    let unneeded: Vec<&Value> = all.iter().filter(unneeded).collect();
    assert_eq!(unneeded.len(), 10 - pairs.len());
    assert!(!unneeded.is_empty());
    let nothing =
        json!({ "score": null, "judged": 0, "of": 1, "usd": null, "seconds": null, "tokens": null });
    for case in unneeded {
        assert_eq!([&case["start"], &case["candidate"]], [&nothing, &nothing]);
        assert_eq!([&case["difference"], &case["trials"][0]["candidate"]["why"]], [&Value::Null; 2]);
    }
}

#[test]
fn one_version_has_only_its_own_side_with_all_its_trials() {
    let run = play(plan(&["haiku"], 1), scored(&[95], &[])).run;
    let only = &shown(&run)[0];
    assert_eq!([&only["start"]["score"], &only["candidate"]], [&json!(95.0), &Value::Null]);
    assert_eq!([&only["difference"], &only["trials"][0]["candidate"]], [&Value::Null; 2]);

    let mut calibrated = plan(&["haiku"], 12);
    calibrated.task.aim = Aim::Calibrate { trials: 2 };
    calibrated.task.scenarios.iter_mut().skip(7).for_each(|scenario| scenario.held_out = true);
    let all = shown(&play(calibrated, scored(&[50], &[60])).run);
    let sum = json!({ "score": 55.0, "judged": 2, "of": 2, "usd": 1.0, "seconds": 3.0, "tokens": 2460 });
    assert_eq!(all.iter().filter(|case| case["start"] == sum).count(), 12);
    let second = &all[11]["trials"][1];
    assert_eq!([&second["trial"], &second["start"]["score"]], [&json!(2), &json!(60.0)]);
}

#[test]
fn in_a_chain_the_verdicts_on_the_whole_come_before_those_on_its_members() {
    let run = play(plan(&["outline", "writer"], 1), scored(&[95], &[])).run;
    let trial = &shown(&run)[0]["trials"][0]["start"];
    let members: Vec<_> =
        trial["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["member"].as_str()).collect();
    assert_eq!(members[2..7], [None, Some("outline"), Some("outline"), Some("outline"), Some("writer")]);
    assert_eq!([&trial["usd"], &trial["seconds"]], [&json!(1.0), &json!(3.0)], "both were run");
}

#[test]
fn a_trial_names_its_call_and_an_answer_from_the_cache_has_neither_call_nor_cost() {
    let mut records = play(compared(6), scored(&[50, 95], &[52, 91])).records;
    let key = CallKey(Digest::of(b"a call"));
    let mut exercised = |spent: Option<Spent>| {
        for record in &mut records {
            if let Event::Done(done) = &mut record.event
                && matches!(done.step, Step::Exercise { .. })
            {
                done.call = Some(key);
                done.spent = spent.unwrap_or(done.spent);
            }
        }
        let run = Run::replay(&records).unwrap();
        shown(&run)[2]["trials"][0]["start"].clone()
    };
    assert_eq!(exercised(None)["call"], format!("agents/{}", key.short()));
    let cached = exercised(Some(Spent { cached: true, ..Spent::default() }));
    let unknown = ["call", "usd", "seconds", "tokens"].map(|key| &cached[key]);
    assert_eq!(unknown, [&Value::Null; 4]);
}

/// Answers with hostile texts; the artifacts of both versions are in the store.
fn hostile(objects: &Objects) -> impl FnMut(&Run, &Step) -> Outcome {
    let files = |text: &str| objects.put_files(&[("a.md", text.as_bytes())]).unwrap();
    let artifacts = [files("one\n"), files(&"<script>\n".repeat(3600))];
    move |run, step| match step {
        Step::Exercise { skill, .. } => {
            let is_start = run.candidate(run.start()).unwrap().trees[0] == *skill;
            Ok(Answer::Exercised {
                artifacts: artifacts[usize::from(!is_start)],
                files: 1,
                skill: None,
                digest: Some("</pre>\x1b[2J".into()),
                kept: None,
                opened: None,
            })
        }
        Step::Judge { candidate, .. } => {
            let score = if *candidate == run.start() { 50 } else { 95 };
            let Ok(Answer::Judged(mut judgement)) = judged(run, score) else { unreachable!("it is judged") };
            let evidence = "<b>\u{202e}".repeat(1000);
            let criterion = "output.done".into();
            let finding = Finding { criterion: &criterion, verdict: Verdict::Fail, evidence: &evidence };
            judgement.whole.findings = std::iter::once(finding).collect();
            Ok(Answer::Judged(judgement))
        }
        _ => scored(&[50, 95], &[50, 95])(run, step),
    }
}

#[test]
fn texts_are_bounded_and_only_on_the_pages() {
    with_store(|objects| {
        let mut plan = plan(&["haiku"], 1);
        plan.task.scenarios[0].description = format!("</script>\x1b[2J{}", "ü".repeat(20_000));
        let run = play(plan, hostile(objects)).run;
        let (mut case, figure) = (cases(&run, objects).remove(0), figures(&run, objects).remove(0));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let trial = &case["trials"][0];
        for long in [&case["task"], &trial["diff"]] {
            assert!(text(long).ends_with("[the rest is left out]") && text(long).len() < LONGEST_PAGE + 50);
        }
        assert!(text(&trial["diff"]).starts_with("modified a.md\n--- a/a.md\n+++ b/a.md\n"));
        let verdict = &trial["candidate"]["verdicts"][0];
        assert_eq!(verdict["question"], "Is it done?");
        assert_eq!(text(&verdict["evidence"]).chars().count(), LONGEST);
        assert_eq!(trial["start"]["digest"], "</pre>\x1b[2J", "the page makes it harmless");
        assert_eq!(text(&figure["task"]).chars().count(), LONGEST_TASK);
        let line = figure.to_string();
        assert_eq!(TEXTS.into_iter().find(|key| line.contains(&format!("\"{key}\""))), None);
        remove_texts(&mut case);
        case["task"] = figure["task"].clone();
        assert_eq!(case, figure, "both have the same figures");
    });
}

#[test]
fn artifacts_that_are_the_same_or_lost_have_no_difference() {
    let run = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91])).run;
    let case = with_store(|objects| cases(&run, objects).remove(0));
    assert_eq!(case["trials"].as_array().map(Vec::len), Some(1));
    assert_eq!([&case["trials"][0]["diff"], &case["expectations"]], [&Value::Null, &json!([])]);
}
