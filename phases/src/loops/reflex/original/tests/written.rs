//! What we write, and that it is read as it was meant.

use super::*;

#[test]
fn every_field_has_the_name_the_place_and_the_words_of_the_original() {
    let run: serde_json::Map<_, _> = serde_json::from_str(&full().text()).unwrap();
    let fields = run.iter().map(|(key, value)| format!("{key}: {value}"));
    insta::assert_snapshot!(fields.collect::<Vec<_>>().join("\n"), @r#"
    run_id: "courses-api-20260218-120000"
    task_alias: "courses-api"
    status: "running"
    iteration: 2
    max_iterations: 4
    phase: "A"
    current_step: "PRODUCE_PREPARE"
    task: {"prompt":"An API","ideal_result":"A whole one"}
    criteria: {"name":"api","version":1,"phase":{"A":{"threshold":0.8,"active_levels":["A"]},"B":{"threshold":0.9,"active_levels":["A","B"]}},"rules":[{"id":"a.correctness.endpoints","description":"all that was asked for is there","severity":"fail","weight":2,"phase":"A","check":"compare with the task"},{"id":"b.style.naming","description":"all that was asked for is there","severity":"warn","weight":1,"phase":"B","check":"compare with the task"}]}
    plan: ["Add the missing endpoint"]
    prepared_checks: {"checks":[{"rule_id":"a.correctness.endpoints","type":"executable","command":"grep -q 'it'\\''s here' artifact.md","expected":"exit 0"},{"rule_id":"b.style.naming","type":"content","search":"[a-z]+_id","expected":"absent"}]}
    evaluation: {"score":0.57,"passed":false,"failed":[{"id":"a.correctness.endpoints","severity":"fail","message":"none is there"}],"warnings":[{"id":"b.style.naming","severity":"warn","message":"none is there"}],"rule_results":[{"id":"a.correctness.endpoints","verdict":"fail","details":"looked for"},{"id":"b.style.naming","verdict":"na","details":"looked for"}],"artifact_hash":"a3bb4158"}
    critique: {"issues":[{"rule_id":"a.correctness.endpoints","problem":"DELETE is missing","fix_instruction":"add it","expected_effect":"the rule passes"}]}
    stop: {"passed":false,"reason":"had enough"}
    last_score: 0.57142857
    stagnation_count: 1
    created_at: "2026-02-18T12:00:00Z"
    updated_at: "2026-02-18T12:10:00Z"
    max_completed_phase_seconds: 600
    completed_phase_seconds: 124
    phase_started_epoch_seconds: 1771416600
    "#);
}

#[test]
fn a_run_that_has_just_begun_holds_nothing_where_nothing_is() {
    let mut run = full();
    (run.prepared_checks, run.evaluation, run.critique) = (None, None, None);
    (run.stop.reason, run.max_completed_phase_seconds, run.phase_started_epoch_seconds) = (None, None, None);
    run.last_score = Fraction(Score::ZERO);
    let found = read_run(run.text().as_bytes()).unwrap();
    assert_eq!((found.unknown(), found.doubts), (vec![], vec![]));
    assert_eq!((found.prepared_checks, found.evaluation, found.critique), (None, None, None));
    assert_eq!(found.stop.unwrap().reason, None);
    let text = run.text();
    for line in [r#""reason": """#, r#""last_score": 0,"#, r#""evaluation": null"#] {
        assert!(text.contains(line), "{line}");
    }
}

#[test]
fn what_is_written_is_read_back_field_by_field() {
    let found = read_run(full().text().as_bytes()).unwrap();
    assert_eq!((found.unknown(), found.doubts.as_slice()), (vec![], &[][..]));
    let again = serde_json::to_string_pretty(&found).unwrap() + "\n";
    assert_eq!(again, full().text());
    let full = full();
    assert_eq!((found.evaluation, found.critique), (full.evaluation, full.critique));
    assert_eq!((found.criteria, found.prepared_checks), (Some(full.criteria), full.prepared_checks));
}

#[test]
fn a_line_is_one_line_whatever_it_holds() {
    let mut line = line(Event::PhaseError, Step::Plan);
    line.payload.insert("error".into(), "two\nlines".into());
    line.status = LineStatus::Error;
    insta::assert_snapshot!(line.text(), @r#"{"ts":"2026-02-18T12:01:10Z","run_id":"courses-api-20260218-120000","iteration":1,"phase":"A","step":"PLAN","event":"phase_error","status":"error","payload":{"error":"two\nlines"}}"#);
    assert_eq!(read_history(line.text().as_bytes()).lines[0].payload, line.payload);
}

#[test]
fn the_documented_payloads_are_those_of_the_original() {
    let overrun = Overrun {
        completed_phase_seconds: 624,
        max_completed_phase_seconds: 600,
        last_completed_step: Step::Evaluate,
    };
    let payloads = [
        payload::evaluation_done(Some(fraction(72.0)), false),
        payload::evaluation_done(None, false),
        payload::refinement_done("1a2b3c4d"),
        payload::stopped(&StopReason::BudgetExceeded.into(), Some(overrun)),
        payload::stopped(&Word::of("had enough"), None),
    ];
    let lines = payloads.map(|payload| serde_json::to_string(&payload).unwrap()).join("\n");
    insta::assert_snapshot!(lines, @r#"
    {"score":0.72,"passed":false}
    {"score":null,"passed":false}
    {"previous_artifact_hash":"1a2b3c4d"}
    {"reason":"budget_exceeded","completed_phase_seconds":624,"max_completed_phase_seconds":600,"overshoot_seconds":24,"last_completed_step":"EVALUATE"}
    {"reason":"had enough"}
    "#);
}

#[test]
fn the_pointer_names_the_run() {
    let current = Current {
        active_run_id: "courses-api-20260218-120000".to_owned(),
        task_alias: alias("courses-api"),
        status: Status::Running,
        updated_at: at("2026-02-18T12:00:00Z"),
    };
    insta::assert_snapshot!(current.text(), @r#"
    {
      "active_run_id": "courses-api-20260218-120000",
      "task_alias": "courses-api",
      "status": "running",
      "updated_at": "2026-02-18T12:00:00Z"
    }
    "#);
    let found = read_current(current.text().as_bytes()).unwrap();
    assert_eq!(found.active_run_id, current.active_run_id);
    assert_eq!(found.status, Some(Word::Known(Status::Running)));
    assert_eq!(read_current(b"{\"task_alias\": \"courses-api\"}"), Err(Unreadable::NoRun));
}

#[test]
fn every_stop_reason_says_how_the_run_stands() {
    let told = |status| {
        let reasons = StopReason::ALL.iter().filter(|reason| reason.status() == status);
        reasons.map(|reason| reason.word()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told(Status::Completed), "threshold_reached no_major_issues");
    assert_eq!(told(Status::Stopped), "user_stop stagnation budget_exceeded iteration_limit");
    assert_eq!(told(Status::Failed), "phase_error");
}

#[test]
fn arguments_become_the_line_that_a_shell_would_read_as_them() {
    let shown = |argv: &[&str]| ShellLine::of(argv.iter().copied()).to_string();
    assert_eq!(shown(&["test", "-s", "artifact.md"]), "test -s artifact.md");
    assert_eq!(shown(&["grep", "$(rm -rf ~)", "", "it's", "~"]), r"grep '$(rm -rf ~)' '' 'it'\''s' '~'");
    assert_eq!(shown(&["A=b", "x"]), "'A=b' x");
    assert_eq!(shown(&["printf", "a\u{1b}[2J\nb"]), r"printf 'a\u{1b}[2J\nb'");
}
