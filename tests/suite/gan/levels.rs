//! Tests what becomes of the levels of the rubric that an evaluator cites.

use std::fs;

use serde_json::json;

use super::{ALL, WORKS, build, folder, json_file, judged, playing};

#[test]
fn a_level_is_kept_with_its_reason_and_one_without_is_dropped_and_said() {
    let scene = playing(&json!({ "builds": [ALL], "unreasoned": ["form"] }));
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, judged(&scene).len()), (Some(0), 1), "it costs no retry: {ran:?}");
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    let cited = |nth: usize| {
        let dimension = &report["dimensions"][nth];
        [&dimension["score"], &dimension["level_cited_by_the_evaluator"], &dimension["reason_for_that_level"]]
    };
    assert_eq!(cited(0), [&json!(1.0), &json!(1.0), &json!("fine")]);
    assert_eq!(cited(1), [&json!(1.0), &json!(null), &json!(null)]);
    let page = fs::read_to_string(folder(&scene).join("final-report.md")).unwrap();
    assert!(page.contains("| substance | 100 | 100 | fine |"), "{page}");
    assert!(page.contains("| form | 100 | none, or without a reason |  |"), "{page}");
    let whole = scene.run(&["report", "--format", "json"]).json();
    assert_eq!(
        whole["judged"][0]["cited"],
        json!([{ "dimension": "substance", "level": 100.0, "why": "fine" }])
    );
}

#[test]
fn a_cited_level_changes_no_score() {
    let scene = playing(&json!({ "builds": [[WORKS]] }));
    let ran = build(&scene, &["--yes", "--max-rounds", "1"]);
    assert_eq!((ran.code, &ran.json()["score"]), (Some(3), &json!(25.0)), "{}", ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    assert_eq!(report["dimensions"][1]["level_cited_by_the_evaluator"], json!(1.0));
    let prompt = judged(&scene).remove(0);
    assert!(prompt.contains("In `levels` give each dimension one entry: first `why`"), "{prompt}");
}
