//! A run rendered as the original's files, field by field and event by event.

use serde_json::{Value, json};
use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::{Answer, Decision, Event, Plan, Reason, Run, Step, Stop, projection};
use skilltune_phases::runs::event::FailureKind;

use super::world::{Drive, answer, command, draft, pattern, plan, play, play_with, question};
use crate::drive::failed;

/// Plays a run with one answer off its contract, a worse refinement, a rewrite, and level B.
fn eventful() -> Drive {
    let missed = [&["a.correctness.accuracy"][..], &["a.correctness.accuracy", "a.quality.clarity"], &[]];
    play_with(plan(Template::Docs), &|nth, rule| Some(!missed[nth].contains(&rule)), |run, step| {
        let is_first = matches!(step, Step::Critique { .. }) && run.attempts(step) == 0;
        is_first.then(|| failed(FailureKind::OffSchema))
    })
}

fn run_json(run: &Run) -> Value {
    serde_json::from_str(&projection::run_file(run)).expect("it is JSON")
}

fn history(run: &Run) -> Vec<Value> {
    projection::history(run).lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_files_hold_the_fields_of_the_original_and_no_other() {
    let drive = eventful();
    let run = run_json(&drive.run);
    let fields = "run_id task_alias status iteration max_iterations phase current_step task criteria plan \
        prepared_checks evaluation critique stop last_score stagnation_count created_at updated_at \
        max_completed_phase_seconds completed_phase_seconds phase_started_epoch_seconds";
    assert_eq!(keys(&run), fields.split_whitespace().collect::<Vec<_>>());
    assert_eq!(keys(&run["task"]), ["prompt", "ideal_result"]);
    assert_eq!(keys(&run["criteria"]), ["name", "version", "phase", "rules"]);
    assert_eq!(
        keys(&run["criteria"]["rules"][0]),
        ["id", "description", "severity", "weight", "phase", "check"]
    );
    let evaluation = ["score", "passed", "failed", "warnings", "rule_results", "artifact_hash"];
    assert_eq!(keys(&run["evaluation"]), evaluation);
    assert_eq!(keys(&run["evaluation"]["rule_results"][0]), ["id", "verdict", "details"]);
    let issue = ["rule_id", "problem", "fix_instruction", "expected_effect"];
    assert_eq!(keys(&run["critique"]["issues"][0]), issue);
    let line = ["ts", "run_id", "iteration", "phase", "step", "event", "status", "payload"];
    assert!(history(&drive.run).iter().all(|one| keys(one) == line));
    let begun = Drive::start(plan(Template::Docs));
    let current: Value = serde_json::from_str(&projection::current(&begun.run).unwrap()).unwrap();
    assert_eq!(keys(&current), ["active_run_id", "task_alias", "status", "updated_at"]);
    assert_eq!(current["active_run_id"], "ports-20261121-213000");
    assert_eq!(projection::current(&drive.run), None, "it is there while the run goes on");
}

#[test]
fn each_field_tells_of_the_run() {
    let run = run_json(&eventful().run);
    let fields = json!({
        "status": run["status"], "iteration": run["iteration"], "max": run["max_iterations"],
        "phase": run["phase"], "step": run["current_step"], "task": run["task"], "stop": run["stop"],
        "thresholds": [run["criteria"]["phase"]["A"], run["criteria"]["phase"]["B"]],
        "rule": run["criteria"]["rules"][0]["id"], "rules": run["criteria"]["rules"].as_array().map(Vec::len),
        "plan": run["plan"][0], "score": run["evaluation"]["score"], "hash": run["evaluation"]["artifact_hash"],
        "verdict": run["evaluation"]["rule_results"][0], "last_score": run["last_score"],
        "stagnation": run["stagnation_count"], "seconds": run["completed_phase_seconds"],
        "limit": run["max_completed_phase_seconds"], "since": run["phase_started_epoch_seconds"],
        "created": run["created_at"], "updated": run["updated_at"],
    });
    let lines = fields.as_object().unwrap().iter().map(|(key, value)| format!("{key}: {value}"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    status: "completed"
    iteration: 3
    max: 4
    phase: "B"
    step: "EVALUATE"
    task: {"prompt":"Tell of the ports.","ideal_result":"All of them, and no other."}
    stop: {"passed":true,"reason":"threshold_reached"}
    thresholds: [{"threshold":0.75,"active_levels":["A"]},{"threshold":0.85,"active_levels":["A","B"]}]
    rule: "a.correctness.accuracy"
    rules: 8
    plan: "Write it. (a.correctness.accuracy)"
    score: 1
    hash: "60b1c650"
    verdict: {"id":"a.correctness.accuracy","verdict":"pass","details":"as the judge saw it"}
    last_score: 1
    stagnation: 0
    seconds: 36
    limit: null
    since: null
    created: "2023-11-14T22:13:20Z"
    updated: "2023-11-14T22:14:13Z"
    "#);
}

#[test]
fn what_is_under_way_is_told_with_its_checks_its_faults_and_its_critique() {
    let mut drive = Drive::start(plan(Template::Docs));
    let kinds = [command, pattern, question];
    while let Some(step) = drive.due(1).pop().filter(|step| !matches!(step, Step::Refine { .. })) {
        let prepared = |level| {
            let rules = drive.run.plan.task.criteria.at(level).zip(kinds);
            Ok(Answer::Prepared(rules.map(|(rule, check)| check(rule)).collect()))
        };
        let met = |_: usize, rule: &str| Some(rule != "a.correctness.accuracy");
        let outcome = match step {
            Step::Prepare { level } => prepared(level),
            _ => answer(&drive.run, &step, &met),
        };
        drive.done(step, outcome);
    }
    let run = run_json(&drive.run);
    assert_eq!((&run["status"], &run["current_step"]), (&json!("running"), &json!("REFINE")));
    let answers = ["prepared_checks", "critique"].map(|key| format!("{key}: {}", run[key]));
    let faults = ["failed", "warnings"].map(|key| format!("{key}: {}", run["evaluation"][key]));
    insta::assert_snapshot!([answers, faults].concat().join("\n"), @r#"
    prepared_checks: {"checks":[{"rule_id":"a.correctness.accuracy","type":"executable","command":"grep port","expected":"exit code 0"},{"rule_id":"a.completeness.sections","type":"content","search":"port","expected":"present"},{"rule_id":"a.completeness.examples","type":"question","question":"Is it so?","expected":"yes"}]}
    critique: {"issues":[{"rule_id":"a.correctness.accuracy","problem":"it is not there","fix_instruction":"write it","expected_effect":"it is there"}]}
    failed: [{"id":"a.correctness.accuracy","severity":"fail","message":"as the judge saw it"}]
    warnings: []
    "#);
}

#[test]
fn each_event_is_told_where_it_happened_with_what_the_original_says_of_it() {
    let lines = history(&eventful().run);
    let events = lines.iter().map(|line| {
        let mut payload = line["payload"].clone();
        if let Some(task) = payload.as_object_mut().and_then(|payload| payload.get_mut("criteria")) {
            *task = json!("all of them");
        }
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let place = format!("{} {} {}", line["iteration"], word("phase"), word("step"));
        format!("{place}: {} {} {payload}", word("event"), word("status"))
    });
    insta::assert_snapshot!(events.collect::<Vec<_>>().join("\n"), @r#"
    1 A PLAN: run_started ok {"task":{"prompt":"Tell of the ports.","ideal_result":"All of them, and no other."},"criteria":"all of them","max_iterations":4,"max_completed_phase_seconds":null}
    1 A PLAN: plan_created ok {"steps":3}
    1 A PRODUCE_PREPARE: artifact_created ok {"artifact_hash":"1b10b49f1a87273d8d2c70e42a7e45761439f034240ea7b15577a23382a15534"}
    1 A PRODUCE_PREPARE: checks_prepared ok {"checks":4}
    1 A EVALUATE: evaluation_done ok {"score":0.667,"passed":false}
    1 A CRITIQUE: phase_error error {"message":"the world would not"}
    1 A CRITIQUE: critique_done ok {"issues":1}
    1 A REFINE: refinement_done ok {"previous_artifact_hash":"1b10b49f1a87273d8d2c70e42a7e45761439f034240ea7b15577a23382a15534"}
    2 A EVALUATE: iteration_advanced ok {}
    2 A EVALUATE: evaluation_done ok {"score":0.5,"passed":false}
    3 A PLAN: iteration_advanced ok {}
    3 A PLAN: plan_created ok {"steps":3}
    3 A PRODUCE_PREPARE: artifact_created ok {"artifact_hash":"60b1c65034b75ebaed466875c802de05d1b9272f64d7e89e709f0000229f8aac"}
    3 A EVALUATE: evaluation_done ok {"score":1,"passed":true}
    3 B PREPARE: phase_switched ok {"to":"B"}
    3 B PREPARE: checks_prepared ok {"checks":4}
    3 B EVALUATE: evaluation_done ok {"score":1,"passed":true}
    3 B EVALUATE: stopped ok {"reason":"threshold_reached"}
    "#);
}

#[test]
fn every_ending_has_the_originals_status_and_words() {
    let ending = |reason: Reason| {
        let mut drive = Drive::start(plan(Template::Docs));
        drive.due(1);
        let stop = Stop { reason, note: Some("so it is".into()) };
        drive.record(Event::Decided(Decision::Stop(stop)));
        let (run, lines) = (run_json(&drive.run), history(&drive.run));
        let last = lines.last().unwrap();
        assert_eq!(last["payload"]["message"], "so it is");
        assert_eq!(run["status"], reason.status().word());
        assert_eq!((&run["current_step"], &last["step"]), (&json!("PLAN"), &json!("PLAN")));
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let stop = &run["stop"];
        [
            word(&stop["reason"]),
            stop["passed"].to_string(),
            word(&run["status"]),
            word(&last["event"]),
            word(&last["status"]),
        ]
        .join(" ")
    };
    insta::assert_snapshot!(Reason::ALL.map(ending).join("\n"), @r"
    threshold_reached true completed stopped ok
    no_major_issues false completed stopped ok
    user_stop false stopped stopped ok
    phase_error false failed failed error
    stagnation false stopped stopped ok
    stagnation false stopped stopped ok
    budget_exceeded false stopped stopped ok
    iteration_limit false stopped stopped ok
    ");
}

#[test]
fn a_failed_run_names_the_step_that_failed() {
    let is = |step: &Step, name: &str| match step {
        Step::Plan { .. } => name == "PLAN",
        Step::Produce { .. } | Step::Prepare { level: Level::A } => name == "PRODUCE_PREPARE",
        Step::Prepare { level: Level::B } => name == "PREPARE",
        Step::Judge { .. } => name == "EVALUATE",
        Step::Critique { .. } => name == "CRITIQUE",
        Step::Refine { .. } => name == "REFINE",
        _ => false,
    };
    let missed = ["b.quality.structure", "b.style.consistency"];
    for name in ["PLAN", "PRODUCE_PREPARE", "EVALUATE", "PREPARE", "CRITIQUE", "REFINE"] {
        let met = |_: usize, rule: &str| Some(!missed.contains(&rule));
        let drive = play_with(plan(Template::Docs), &met, |_, step| {
            is(step, name).then(|| failed(FailureKind::OffSchema))
        });
        let (run, lines) = (run_json(&drive.run), history(&drive.run));
        let last = lines.last().expect("a history has lines");
        assert_eq!((&run["status"], &run["current_step"]), (&json!("failed"), &json!(name)));
        assert_eq!((&last["event"], &last["step"]), (&json!("failed"), &json!(name)));
    }
}

/// Returns the payload of the last event of a run whose time is used up.
fn over_budget(plan: Plan) -> Value {
    let drive = play(plan, &|_, rule| Some(rule != "b.quality.structure"));
    history(&drive.run).last().expect("it has ended")["payload"].clone()
}

#[test]
fn time_used_up_is_told_with_the_step_that_was_last_completed() {
    let limited = |seconds: u64| {
        let mut plan = plan(Template::Docs);
        plan.task.rules.max_seconds = Some(seconds);
        over_budget(plan)
    };
    assert_eq!(
        limited(4),
        json!({"reason": "budget_exceeded", "completed_phase_seconds": 5, "max_completed_phase_seconds": 4,
            "overshoot_seconds": 1, "last_completed_step": "PRODUCE_PREPARE"})
    );
    let switched = limited(10);
    assert_eq!(switched["last_completed_step"], "EVALUATE", "the switch is no step: {switched}");
}

#[test]
fn the_evaluation_that_is_told_is_that_of_what_is_in_the_file() {
    let mut plan = plan(Template::Docs);
    plan.task.rules.max_iterations = 3;
    let missed = ["a.correctness.accuracy", "a.completeness.sections"];
    let met = |nth: usize, rule: &str| Some(rule != missed[0] && (nth == 0 || rule != missed[1]));
    let mut drive = Drive::start(plan);
    let hash = |drive: &Drive| run_json(&drive.run)["evaluation"]["artifact_hash"].clone();
    while let Some(step) = drive.due(1).pop() {
        if step == (Step::Plan { iteration: 3 }) {
            assert_eq!(hash(&drive), draft("draft 0").name(), "the dropped one is not there any more");
            assert_eq!(run_json(&drive.run)["current_step"], "PLAN");
        }
        let outcome = answer(&drive.run, &step, &met);
        drive.done(step, outcome);
    }
    let result = drive.run.result().unwrap();
    assert_eq!((hash(&drive), drive.run.state.judged.len()), (json!(result.name()), 3));
    assert_eq!(result, &draft("draft 0"));
}

#[test]
fn an_evaluation_without_a_score_leaves_the_last_one_that_there_was() {
    let mut plan = plan(Template::Docs);
    plan.task.rules.max_iterations = 2;
    let met = |nth: usize, rule: &str| (nth == 0).then_some(rule != "a.correctness.accuracy");
    let drive = play(plan, &met);
    let lines = history(&drive.run);
    let scores =
        lines.iter().filter(|line| line["event"] == "evaluation_done").map(|line| &line["payload"]["score"]);
    assert_eq!(scores.collect::<Vec<_>>(), [&json!(0.667), &Value::Null]);
    assert_eq!(run_json(&drive.run)["last_score"], json!(0.667));
}
