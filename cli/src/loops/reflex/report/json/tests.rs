use super::*;
use crate::loops::reflex::world::{ONLY_WARNINGS, TO_THE_THRESHOLD, missing, plan};
use crate::loops::tune::world::{Play, play};

fn summary(run: &Run, on_disk: Option<&str>) -> Value {
    json::object(run, &crate::loops::reflex::summary::summary(run, on_disk))
}

#[test]
fn the_summary_has_just_the_documented_keys() {
    let play = play(plan(), missing(ONLY_WARNINGS));
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary(&play.run, None)).unwrap(), @r#"
        {
          "run_id": "courses-api-20260218-120000",
          "loop": "reflex",
          "alias": "courses-api",
          "task": "Write the API of a course catalogue",
          "template": "api",
          "outcome": "short",
          "status": "completed",
          "reason": "no_major_issues",
          "note": null,
          "blocked": null,
          "paused": null,
          "limits": {
            "usd": null,
            "tokens": null,
            "calls": 72,
            "minutes": null,
            "keep_free": null
          },
          "score": 83.3,
          "threshold": 90.0,
          "level": "B",
          "iterations": 2,
          "max_iterations": 4,
          "completed_phase_seconds": 27,
          "max_completed_phase_seconds": null,
          "artifact": {
            "hash": "56c18f3a4647c9ec2da32c11938e6978f9e59baf0869edd1eaa8f5e3b583aab4",
            "path": "/p/.ai-factory/evolution/courses-api/artifact.md",
            "status": "evaluated"
          },
          "distance": {
            "threshold": 90.0,
            "gap": 6.7,
            "blocking": [],
            "passed": 6,
            "of": 8
          },
          "agents": {
            "executor": "claude:small",
            "evaluator": "gemini",
            "improver": "claude"
          },
          "models": {
            "executor": {},
            "evaluator": {},
            "improver": {}
          },
          "notes": [],
          "rights": {
            "executor": "system + agent",
            "evaluator": "system + agent",
            "improver": "system + agent"
          },
          "report": "/p/.skilltune/runs/courses-api-20260218-120000/final-report.md",
          "page": "/p/.skilltune/runs/courses-api-20260218-120000/report.html",
          "state": "/p/.skilltune/runs/courses-api-20260218-120000/iteration-state.json",
          "cost": {
            "usd": 8.0,
            "input_tokens": 19200,
            "output_tokens": 480,
            "seconds": 24.0,
            "calls": 16,
            "cached": 0,
            "unpriced": 0,
            "estimated": 0
          }
        }
    "#);
}

#[test]
fn what_is_not_known_yet_is_null() {
    let begun = summary(&Play::begin(plan()).run, None);
    assert_eq!((&begun["outcome"], &begun["status"]), (&json!("paused"), &json!("running")));
    for key in ["reason", "note", "blocked", "score", "distance", "report"] {
        assert_eq!(begun[key], Value::Null, "{key}");
    }
    assert_eq!(begun["artifact"], json!({ "hash": null, "path": null, "status": "not_created" }));
}

#[test]
fn a_file_that_is_not_what_was_judged_has_no_score() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    assert_eq!(summary(&play.run, None)["score"], json!(100.0));
    let stale = summary(&play.run, Some("0badc0de"));
    assert_eq!((&stale["score"], &stale["distance"]), (&Value::Null, &Value::Null));
    assert_eq!(stale["artifact"]["status"], "stale");
}

#[test]
fn the_report_adds_the_evaluations_and_the_checks() {
    let report = details(&play(plan(), missing(TO_THE_THRESHOLD)).run);
    let evaluations = report["evaluations"].as_array().unwrap();
    let lines: Vec<_> = evaluations
        .iter()
        .map(|one| format!("{} {} {} {}", one["level"], one["score"], one["passed"], one["best"]))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
        "A" 42.9 false false
        "A" 85.7 true false
        "B" 75.0 false false
        "B" 100.0 true true
        "#);
    assert_eq!(report["checks"].as_array().unwrap().len(), 8);
    assert_eq!(report["criteria"]["rules"].as_array().unwrap().len(), 8);
}
