use skilltune_phases::loops::tune::{Kept, Plan, Step};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::{Check, CheckResult, How, Times};
use skilltune_phases::suites::demand::Demand;

use super::*;
use crate::loops::tune::world::{failed, plan, play, scored, tree};

fn checked() -> Plan {
    let mut plan = plan(&["haiku"], 1);
    let check = |path: &str| Check::File { path: path.into(), times: Times::ONCE_OR_MORE };
    let demand = |id: &str| Demand::new(id.parse().unwrap(), How::Check(check(id)));
    plan.task.scenarios[0].demands = vec![demand("page"), demand("index")];
    plan.task.scenarios[0].description = "Write </script><!-- a page\x1b[2J".into();
    plan
}

/// Plays a run: the start's agent never ends on a fresh trial; a draft makes one of two files.
fn played() -> Run {
    let answer = |run: &Run, step: &Step| match step {
        Step::Exercise { skill, trial, .. } => {
            let is_start = run.candidate(run.start()).unwrap().trees[0] == *skill;
            if is_start && trial.ordinal > 0 {
                return failed(FailureKind::TimedOut, "not done within 60 s");
            }
            let kept = Kept {
                left: tree(if is_start { "start" } else { "draft" }),
                evidence: tree("lost"),
                began: None,
            };
            Ok(Answer::Exercised {
                artifacts: kept.left,
                files: 1,
                skill: None,
                digest: None,
                kept: Some(kept),
                opened: None,
            })
        }
        Step::Inspect { kept, .. } => {
            let met = kept.left == tree("draft");
            let check_result =
                |check, met| CheckResult { check, met: Some(met), details: "seen: </testcase>".into() };
            Ok(Answer::Checked(vec![check_result(0, met), check_result(1, false)]))
        }
        _ => scored(&[50; 4], &[50; 4])(run, step),
    };
    play(checked(), answer).run
}

/// Uses an empty store: missing data counts as nothing.
fn with_evals<T>(run: &Run, see: impl Fn(&[Eval<'_>]) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    see(&evals(&Objects::at(SafePath::below(folder.path(), "objects")), run))
}

#[test]
fn each_trial_is_graded_as_skill_creator_reads_it() {
    let shown = with_evals(&played(), |evals| {
        let configurations = &evals[0].configurations;
        let gradings = configurations.iter().map(|(name, runs)| json!({ *name: runs[0].grading() }));
        let timing = configurations[0].1[0].timing();
        json!([evals[0].metadata(), gradings.collect::<Vec<_>>(), timing])
    });
    insta::assert_snapshot!(format!("{shown:#}"), @r#"
    [
      {
        "eval_id": 1,
        "eval_name": "task-1",
        "prompt": "Write < /script>< !-- a page␛[2J",
        "assertions": [
          "page exists",
          "index exists"
        ]
      },
      [
        {
          "with_skill": {
            "expectations": [
              {
                "text": "page exists",
                "passed": true,
                "evidence": "seen: < /testcase>"
              },
              {
                "text": "index exists",
                "passed": false,
                "evidence": "seen: < /testcase>"
              }
            ],
            "summary": {
              "passed": 1,
              "failed": 1,
              "total": 2,
              "pass_rate": 0.5
            }
          }
        },
        {
          "without_skill": {
            "expectations": [
              {
                "text": "page exists",
                "passed": false,
                "evidence": "timed out: not done within 60 s"
              },
              {
                "text": "index exists",
                "passed": false,
                "evidence": "timed out: not done within 60 s"
              }
            ],
            "summary": {
              "passed": 0,
              "failed": 2,
              "total": 2,
              "pass_rate": 0.0
            }
          }
        }
      ],
      {
        "total_tokens": 0,
        "duration_ms": 0,
        "total_duration_seconds": 0.0
      }
    ]
    "#);
}

#[test]
fn the_candidate_comes_first_in_the_benchmark_and_deltas_are_texts() {
    let run = played();
    let whole = with_evals(&run, |evals| benchmark::benchmark(&run, evals));
    assert_eq!(whole["runs"].as_array().unwrap().len(), 2);
    let shown = json!([whole["metadata"], whole["run_summary"], whole["notes"], whole["runs"][1]["result"]]);
    insta::assert_snapshot!(format!("{shown:#}"), @r#"
    [
      {
        "skill_name": "haiku",
        "skill_path": "/p/skills/haiku",
        "executor_model": "claude:small",
        "analyzer_model": "gemini",
        "timestamp": "2023-11-14T22:13:49Z",
        "evals_run": [
          1
        ],
        "runs_per_configuration": 1
      },
      {
        "with_skill": {
          "pass_rate": {
            "mean": 0.5,
            "stddev": 0.0,
            "min": 0.5,
            "max": 0.5
          },
          "time_seconds": {
            "mean": 0.0,
            "stddev": 0.0,
            "min": 0.0,
            "max": 0.0
          },
          "tokens": {
            "mean": 0.0,
            "stddev": 0.0,
            "min": 0.0,
            "max": 0.0
          }
        },
        "without_skill": {
          "pass_rate": {
            "mean": 0.0,
            "stddev": 0.0,
            "min": 0.0,
            "max": 0.0
          },
          "time_seconds": {
            "mean": 0.0,
            "stddev": 0.0,
            "min": 0.0,
            "max": 0.0
          },
          "tokens": {
            "mean": 0.0,
            "stddev": 0.0,
            "min": 0.0,
            "max": 0.0
          }
        },
        "delta": {
          "pass_rate": "+0.50",
          "time_seconds": "+0.0",
          "tokens": "+0"
        }
      },
      [
        "Verdict: the candidate scored higher than the start.",
        "Weak evidence: one scenario. Other tasks may show a different result.",
        "with_skill is the candidate, or the remaining version if nothing was compared; without_skill is the original skill.",
        "pass_rate is the unweighted share of demands met; the verdict uses weights and is tested across scenarios."
      ],
      {
        "pass_rate": 0.0,
        "passed": 0,
        "failed": 2,
        "total": 2,
        "time_seconds": 0.0,
        "tokens": 0,
        "tool_calls": 0,
        "errors": 0
      }
    ]
    "#);
}

#[test]
fn a_run_that_demands_nothing_has_no_gradings() {
    let run = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91])).run;
    assert!(with_evals(&run, |evals| evals.is_empty()));
}
