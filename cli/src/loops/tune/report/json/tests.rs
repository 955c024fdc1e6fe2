use skilltune_phases::role::Role;

use super::*;
use crate::loops::tune::world::{Play, plan, play, scored};

#[test]
fn the_summary_has_just_the_documented_keys() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary(&play.run)).unwrap(), @r#"
        {
          "run_id": "calm-otter",
          "loop": "tune",
          "target": [
            {
              "name": "haiku",
              "path": "/p/skills/haiku"
            }
          ],
          "outcome": "improved",
          "reason": "reached",
          "blocked": null,
          "initial_score": 52.0,
          "final_score": 91.0,
          "threshold": 90.0,
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
          "structural": false,
          "delivery": "inline",
          "tools": "files",
          "iterations": 2,
          "accepted": 1,
          "rejected": 0,
          "champion": "3b1b95a11ef47c283e86d2001b297670a1c6503349450f13b958e9d952e1ece2",
          "report": "/p/.skilltune/runs/calm-otter/final-report.md",
          "state": "/p/.skilltune/runs/calm-otter/iteration-state.json",
          "cost": {
            "usd": 4.5,
            "input_tokens": 10800,
            "output_tokens": 270,
            "seconds": 13.5,
            "calls": 9,
            "cached": 0,
            "unpriced": 0,
            "estimated": 0
          }
        }
        "#);
}

#[test]
fn what_is_not_known_yet_is_null() {
    let begun = summary(&Play::begin(plan(&["haiku"], 1)).run);
    assert_eq!(begun["outcome"], "paused");
    for key in ["reason", "initial_score", "final_score", "champion", "report"] {
        assert_eq!(begun[key], Value::Null, "{key}");
    }
}

#[test]
fn a_judge_of_the_executors_own_family_is_noted() {
    let mut plan = plan(&["haiku"], 1);
    plan.roles.of_mut(&Role::EXECUTOR).family = Some("claude".into());
    plan.roles.of_mut(&Role::EVALUATOR).family = Some("gemini".into());
    assert_eq!(summary(&Play::begin(plan.clone()).run)["notes"], json!([]));
    *plan.roles.of_mut(&Role::EVALUATOR) = plan.roles.of(&Role::EXECUTOR).clone();
    let lenient =
        "the judge and the executor use the same model family (claude); such a judge tends to be lenient";
    assert_eq!(summary(&Play::begin(plan).run)["notes"], json!([lenient]));
}

#[test]
fn the_report_adds_the_comparison_and_the_rounds() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 30, 95], &[52, 0, 91]));
    let report = report(&play.run);
    assert_eq!(report["comparison"]["verdict"], "won");
    assert_eq!(report["rounds"].as_array().unwrap().len(), 3);
    insta::assert_snapshot!(serde_json::to_string_pretty(&report["rounds"][1]).unwrap(), @r#"
        {
          "round": 2,
          "candidate": "3b1b95a11ef47c283e86d2001b297670a1c6503349450f13b958e9d952e1ece2",
          "started_at": "2023-11-14T22:13:28Z",
          "measured": {
            "score": 30.0,
            "dimensions": [
              30.0,
              30.0
            ],
            "members": [],
            "judged": 1,
            "of": 1,
            "claimed": false,
            "claim": 85.0
          },
          "skill": null,
          "kept": false,
          "dropped_because": "it scored 20.0 below the best so far",
          "edited_member": "haiku",
          "draft": "a5b0f9da0deedb390a581ce38fdd6e48fbc37770327de311af9ac27b6000668b",
          "edit_failure": null
        }
        "#);
}
