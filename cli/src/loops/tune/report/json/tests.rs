use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::FailOn;
use skilltune_phases::loops::tune::search::explanation::Recheck;

use super::*;
use crate::loops::tune::world::{Play, edited_twice, plan, play, points, scored};

fn summary(run: &Run) -> Value {
    shared::object(run, &crate::loops::tune::summary::summary(run))
}

#[test]
fn the_summary_has_just_the_documented_keys() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary(&play.run)).unwrap(), @r#"
    {
      "verdict": "higher",
      "dangers": [],
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
      "paused": null,
      "limits": {
        "usd": null,
        "tokens": null,
        "calls": 24,
        "minutes": null,
        "keep_free": null
      },
      "initial_score": 52.0,
      "final_score": 91.0,
      "threshold": 90.0,
      "fail_on": null,
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
      "search": "rounds",
      "runs": null,
      "iterations": 2,
      "accepted": 1,
      "rejected": 0,
      "champion": "3b1b95a11ef47c283e86d2001b297670a1c6503349450f13b958e9d952e1ece2",
      "proposal": null,
      "report": "/p/.skilltune/runs/calm-otter/final-report.md",
      "page": "/p/.skilltune/runs/calm-otter/report.html",
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
    assert_eq!(report.as_object().unwrap().keys().next().unwrap(), "verdict");
    assert_eq!(report["comparison"]["verdict"], "higher");
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
          "targets": null,
          "left_alone": null,
          "kept": false,
          "dropped_because": "it scored 20.0 below the best so far",
          "edited_member": "haiku",
          "edited_by": null,
          "draft": "a5b0f9da0deedb390a581ce38fdd6e48fbc37770327de311af9ac27b6000668b",
          "draft_of": "f24dfd74a6e177eb95bd81e071eca95ff1d61f88ac0a9fa75787e294bc95096c",
          "edit_kinds": [
            "wording"
          ],
          "edit_failure": null
        }
        "#);
}

#[test]
fn the_changes_of_a_version_that_the_store_has_lost_are_unknown() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
    assert_eq!(report(&play.run)["changes"], Value::Null);
}

#[test]
fn a_search_by_single_trials_tells_what_each_edit_was_for_and_what_it_left_alone() {
    let report = report(&edited_twice().run);
    let rounds = report["rounds"].as_array().unwrap();
    let count =
        |key: &str| rounds.iter().map(|round| round[key].as_array().map(Vec::len)).collect::<Vec<_>>();
    assert_eq!(count("targets")[..5], [Some(1), Some(1), Some(0), Some(0), Some(0)]);
    assert_eq!(count("left_alone")[..5], [Some(0), Some(0), Some(0), Some(1), Some(0)]);
    let (first, second) = (&rounds[0]["targets"][0], &rounds[1]["targets"][0]);
    assert_eq!([&first["failed"], &first["looked_at_again"], &second["failed"]], [5, 2, 6]);
    assert_eq!(first["chance_after"], second["chance_before"], "both are of the second round");
    assert_eq!(rounds[3]["left_alone"][0]["why"], "probably_met");
}

#[test]
fn a_fault_is_told_with_the_chances_before_and_after() {
    let fault = Fault {
        criterion: "task-1/amount".into(),
        statement: "The answer names the amount.".into(),
        times: 1,
        passed: 1,
        failed: 4,
        chance: 0.031_25,
        at_fault: vec![0.75, 0.25],
        next: Some(Recheck { round: 3, is_met: true, chance: 2.0 / 3.0 }),
    };
    let unseen = Fault { next: None, ..fault.clone() };
    let run = Play::begin(plan(&["outline", "writer"], 1)).run;
    let left = vec![(fault, LeftAlone::OthersFirst), (unseen, LeftAlone::SearchEnded)];
    let faults = left_alone(&run, &Explanation { targets: Vec::new(), left_alone: left });
    insta::assert_snapshot!(serde_json::to_string_pretty(&faults).unwrap(), @r#"
    [
      {
        "statement": "The answer names the amount.",
        "criterion": "task-1/amount",
        "passed": 1,
        "failed": 4,
        "chance_before": 0.031,
        "chance_after": 0.667,
        "at_fault": {
          "outline": 0.75,
          "writer": 0.25
        },
        "looked_at_again": 3,
        "why": "others_first"
      },
      {
        "statement": "The answer names the amount.",
        "criterion": "task-1/amount",
        "passed": 1,
        "failed": 4,
        "chance_before": 0.031,
        "chance_after": null,
        "at_fault": {
          "outline": 0.75,
          "writer": 0.25
        },
        "looked_at_again": null,
        "why": "search_ended"
      }
    ]
    "#);
}

#[test]
fn a_win_is_told_with_all_that_it_rests_on() {
    let mut six = plan(&["haiku"], 6);
    six.task.scenarios.iter_mut().skip(2).for_each(|scenario| scenario.held_out = true);
    let play = play(six, scored(&[50, 95], &[52, 91]));
    insta::assert_snapshot!(serde_json::to_string_pretty(&report(&play.run)["comparison"]).unwrap(), @r#"
    {
      "verdict": "win",
      "words": "WIN, better by 39.0 points, by at least 39.0 at confidence 0.9",
      "effect": {
        "points": 39.0,
        "lower": 39.0,
        "upper": 39.0
      },
      "confidence": 0.9,
      "basis": "held_out",
      "caution": null,
      "start": {
        "id": "f24dfd74a6e177eb95bd81e071eca95ff1d61f88ac0a9fa75787e294bc95096c",
        "score": 52.0,
        "claimed": 50.0
      },
      "candidate": {
        "id": "3b1b95a11ef47c283e86d2001b297670a1c6503349450f13b958e9d952e1ece2",
        "score": 91.0,
        "claimed": 95.0
      },
      "left": "candidate",
      "claimed": 45.0,
      "trials_each": 1,
      "looks": {
        "made": 1,
        "planned": 1
      },
      "pairs": [
        {
          "scenario": "task-5",
          "start": 52.0,
          "candidate": 91.0,
          "difference": 39.0,
          "arrow": "↑"
        },
        {
          "scenario": "task-4",
          "start": 52.0,
          "candidate": 91.0,
          "difference": 39.0,
          "arrow": "↑"
        },
        {
          "scenario": "task-6",
          "start": 52.0,
          "candidate": 91.0,
          "difference": 39.0,
          "arrow": "↑"
        },
        {
          "scenario": "task-3",
          "start": 52.0,
          "candidate": 91.0,
          "difference": 39.0,
          "arrow": "↑"
        }
      ],
      "apart": null,
      "judges": [
        {
          "role": "evaluator",
          "agent": "gemini",
          "statements_known": 6,
          "wrong": 0,
          "statements_repeated": 9,
          "changed": 0,
          "counted": true
        }
      ],
      "agreement": null,
      "close": [],
      "fell": []
    }
    "#);
}

#[test]
fn a_comparison_that_tested_nothing_neither_wins_nor_loses() {
    let word = |search: &[u32], fresh: &[u32]| {
        summary(&play(plan(&["haiku"], 1), scored(search, fresh)).run)["verdict"].clone()
    };
    assert_eq!([word(&[50, 95], &[52, 91]), word(&[50, 95], &[91, 52])], ["higher", "not_higher"]);
    assert_eq!([word(&[95], &[]), word(&[50, 45, 45], &[])], ["no_candidate", "none_better"]);
    assert_eq!(summary(&Play::begin(plan(&["haiku"], 1)).run)["verdict"], Value::Null);
}

#[test]
fn what_a_pipeline_asks_is_told_with_why_it_fails() {
    let asked = |under: u32, regression: bool, fresh: &[u32]| {
        let mut six = plan(&["haiku"], 6);
        six.task.scenarios.iter_mut().skip(2).for_each(|scenario| scenario.held_out = true);
        six.task.fail_on = FailOn { score_under: Some(points(under)), regression };
        let run = play(six, scored(&[50, 95], fresh)).run;
        serde_json::to_string(&summary(&run)["fail_on"]).unwrap()
    };
    insta::assert_snapshot!(asked(70, true, &[52, 91]), @r#"{"fail_under":70.0,"fail_on_regression":true,"confirmed_score":91.0,"passed":true,"words":"Passed --fail-under 70 and --fail-on-regression."}"#);
    insta::assert_snapshot!(asked(70, true, &[60, 40]), @r#"{"fail_under":70.0,"fail_on_regression":true,"confirmed_score":60.0,"passed":false,"words":"Failed --fail-under 70: the confirmed score is 60.0. Failed --fail-on-regression: the candidate is worse than the start."}"#);
}
