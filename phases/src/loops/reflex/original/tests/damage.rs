//! What others may have written in these files.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(run: &Value) -> FoundRun {
    read_run(run.to_string().as_bytes()).unwrap()
}

fn doubts(run: &Value) -> String {
    read(run).doubts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_of_an_older_original_lacks_the_later_fields_and_is_read() {
    let mut run: Value = serde_json::from_str(&full().text()).unwrap();
    let object = run.as_object_mut().unwrap();
    object.retain(|key, _| !key.contains("phase_") && key != "stagnation_count");
    object.insert("notes".into(), json!({"by": "hand"}));
    object["evaluation"].as_object_mut().unwrap().remove("artifact_hash");
    for rule in object["criteria"]["rules"].as_array_mut().unwrap() {
        rule.as_object_mut().unwrap().retain(|key, _| key != "weight" && key != "phase");
    }
    let found = read(&run);
    assert_eq!((found.unknown(), found.doubts), (vec!["stagnation_count"], vec![]));
    assert_eq!(found.completed_phase_seconds, None);
    assert_eq!(found.evaluation.unwrap().artifact_hash, None);
    let rules = found.criteria.unwrap().rules;
    let told: Vec<_> = rules.iter().map(|rule| (rule.weight, rule.phase)).collect();
    assert_eq!(told, [(2, Phase::A), (1, Phase::B)]);
}

#[test]
fn odd_values_are_told_and_never_bent_into_shape() {
    let run = json!({
        "run_id": 7, "status": "paused", "iteration": "2", "max_iterations": 4.5, "phase": "C", "current_step": "produce",
        "task": "an API", "plan": ["one", {"step": "two"}], "prepared_checks": "none", "last_score": 72,
        "stagnation_count": -1, "created_at": "yesterday", "max_completed_phase_seconds": 0,
        "stop": {"passed": "no"}, "criteria": {"rules": [], "phase": {"A": {"threshold": 80}}},
    });
    insta::assert_snapshot!(doubts(&run), @r#"
    `run_id` cannot be read: 7
    `iteration` cannot be read: "2"
    `max_iterations` cannot be read: 4.5
    `phase` cannot be read: "C"
    `task` cannot be read: "an API"
    `criteria.phase.A.threshold` cannot be read: 80
    `criteria.phase.A` cannot be read: {"threshold":80}
    `prepared_checks` cannot be read: "none"
    `stop.passed` cannot be read: "no"
    `stop` cannot be read: {"passed":"no"}
    `last_score` cannot be read: 72
    `stagnation_count` cannot be read: -1
    `created_at` cannot be read: "yesterday"
    `max_completed_phase_seconds` cannot be read: 0
    "#);
    let found = read(&run);
    assert_eq!(found.status, Some(Word::Other("paused".into())));
    assert_eq!(found.current_step, Some(Word::Other("produce".into())));
    assert_eq!(found.plan.unwrap(), ["one", r#"{"step":"two"}"#]);
    let gates = found.criteria.unwrap().phase;
    assert_eq!((gates.a.threshold, gates.b.threshold), (fraction(80.0), fraction(90.0)));
}

#[test]
fn an_entry_without_what_matters_is_left_out_and_told() {
    let run = json!({
        "criteria": {"rules": [{"id": "a.x.y", "severity": "critical"}, {"id": "c.x.y", "severity": "warn"}, 5,
            {"id": "a.x.z", "severity": "WARN", "weight": "3"}]},
        "prepared_checks": [{"rule_id": "a.x.y", "type": "vision"}, {"rule_id": "a.x.y", "type": "content", "search": "x", "expected": 1}],
        "evaluation": {"passed": false, "score": null, "failed": [{"message": "?"}], "warnings": [{"id": "a.x.z"}],
            "rule_results": [{"id": "a.x.z", "verdict": "maybe"}]},
        "critique": {"issues": [{"rule_id": "a.x.z"}, null]},
    });
    insta::assert_snapshot!(doubts(&run), @r#"
    `criteria.rules[0].severity` cannot be read: "critical"
    `criteria.rules[0]` cannot be read: {"id":"a.x.y","severity":"critical"}
    `criteria.rules[1]` cannot be read: {"id":"c.x.y","severity":"warn"}
    `criteria.rules[2]` cannot be read: 5
    `criteria.rules[3].weight` cannot be read: "3"
    `prepared_checks[0]` cannot be read: {"rule_id":"a.x.y","type":"vision"}
    `evaluation.failed[0]` cannot be read: {"message":"?"}
    "#);
    let found = read(&run);
    let rules = found.criteria.unwrap().rules;
    assert_eq!(rules.iter().map(|rule| (rule.id.as_str(), rule.weight)).collect::<Vec<_>>(), [("a.x.z", 1)]);
    let checks = found.prepared_checks.unwrap().checks;
    assert_eq!(checks[0].how, How::Content { search: "x".into(), expected: "1".into() });
    let evaluation = found.evaluation.unwrap();
    assert_eq!(evaluation.warnings[0].severity, Severity::Warn);
    assert_eq!(evaluation.rule_results[0].verdict, Word::Other("maybe".into()));
    assert_eq!(found.critique.unwrap().issues.len(), 1);
}

#[test]
fn doubts_are_no_more_than_anybody_reads() {
    let run = json!({ "criteria": { "rules": vec![json!(0); 5000] } });
    assert_eq!(read(&run).doubts.len(), 100);
}

#[test]
fn a_file_that_is_no_object_is_told_apart_from_one_that_is_no_json() {
    let read = |bytes: &[u8]| read_run(bytes).unwrap_err();
    assert_eq!(read(b"[]"), Unreadable::NotAnObject);
    let deep = "[".repeat(1_000_000);
    let deep_object = r#"{"a":"#.repeat(200_000);
    for bad in ["", "{", "{\"run_id\": \"x\"", "\u{0}", "{\"last_score\": 1e999}", &deep, &deep_object] {
        assert!(matches!(read(bad.as_bytes()), Unreadable::NotJson(_)), "{bad:.20}");
    }
    assert!(matches!(read(b"\xff\xfe{\0}\0"), Unreadable::NotJson(_)));
}

#[test]
fn a_mark_before_the_text_and_windows_line_ends_do_no_harm() {
    let text = format!("\u{feff}{}", full().text().replace('\n', "\r\n"));
    assert_eq!(read_run(text.as_bytes()), read_run(full().text().as_bytes()));
    let lines = [line(Event::RunStarted, Step::Plan), line(Event::PlanCreated, Step::Plan)];
    let text: String = lines.iter().map(|line| line.text().replace('\n', "\r\n")).collect();
    let history = read_history(format!("\u{feff}{text}\r\n").as_bytes());
    assert_eq!((history.lines.len(), history.unreadable, history.torn), (2, 0, false));
}

#[test]
fn a_history_gives_what_it_holds_and_counts_the_rest() {
    let whole = line(Event::RunStarted, Step::Plan).text();
    let odd = r#"{"event": "coffee_break", "iteration": "one", "ts": 5, "step": "PRODUCE", "payload": [1], "more": 1}"#;
    let text = format!("{whole}no JSON\n\n17\n{{\"ts\": null}}\n{odd}\n{}", &whole[..60]);
    let history = read_history(text.as_bytes());
    assert_eq!((history.unreadable, history.torn), (3, true));
    let lines: Vec<_> = history.lines.iter().map(|line| (line.line, line.event.as_str())).collect();
    assert_eq!(lines, [(1, "run_started"), (6, "coffee_break")]);
    let odd = &history.lines[1];
    assert_eq!((odd.iteration, odd.ts, odd.payload.len()), (None, None, 0));
    assert_eq!(odd.step, Some(Word::Other("PRODUCE".into())));
}

#[test]
fn a_last_line_without_its_end_counts_when_it_is_whole() {
    let whole = line(Event::RunStarted, Step::Plan).text();
    let history = read_history(whole.trim_end().as_bytes());
    assert_eq!((history.lines.len(), history.torn), (1, false));
}

/// Any JSON, with the names that are looked for among its keys.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(A|B|fail|PLAN|stopped|executable|.{0,6})".prop_map(Value::from),
    ];
    let key = "(run_id|criteria|rules|phase|A|threshold|active_levels|id|severity|weight|task|prompt|plan|\
        prepared_checks|checks|rule_id|type|command|evaluation|passed|failed|rule_results|verdict|critique|issues|\
        stop|reason|event|payload|score|iteration|ts)";
    leaf.prop_recursive(6, 64, 8, move |inner| {
        let entry = (key, inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            prop::collection::vec(entry, 0..10).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_stands_in_the_files_is_read_without_a_panic(value in value()) {
        let text = value.to_string();
        let _ = (read_run(text.as_bytes()), read_current(text.as_bytes()));
        let _ = rebuild(&read_history(text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (read_run(&bytes), read_current(&bytes), rebuild(&read_history(&bytes)));
    }

    #[test]
    fn a_file_cut_or_changed_anywhere_is_read_without_a_panic(cut in 0_usize..4000, byte in any::<u8>()) {
        let mut bytes = full().text().into_bytes();
        let cut = cut % bytes.len();
        let _ = read_run(&bytes[..cut]);
        bytes[cut] = byte;
        let _ = read_run(&bytes);
    }
}
