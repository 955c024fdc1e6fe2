use std::path::Path;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::checks::{self, How, Times};
use skilltune_phases::loops::reflex::criteria::Level;
use skilltune_phases::loops::reflex::{Answer, Step};
use skilltune_phases::runs::event::FailureKind;

use super::*;
use crate::loops::reflex::world::{HOSTILE, ONLY_WARNINGS, TO_THE_THRESHOLD, missing, plan};
use crate::loops::tune::world::{Play, failed, play};
use crate::report::page::page;

fn report(run: &Run) -> String {
    page(run, &Objects::at(Path::new("/p/.skilltune/objects")))
}

#[test]
fn a_report_tells_the_end_the_way_and_the_evidence() {
    insta::assert_snapshot!(report(&play(plan(), missing(TO_THE_THRESHOLD)).run), @r"
        # Final Report: courses-api

        **PASSED**. The run is completed (threshold_reached): level B passed.

        Next: review it with the people who will call it, then build it, and test what you build against its schemas and examples.

        ## Summary

        | Field | Value |
        | --- | --- |
        | Run | `courses-api-20260218-120000` (reflex) |
        | Criteria | api rules, level A from 80, level B from 90; 4 iterations at most |
        | Confirmed By | a person |
        | Agents | executor claude:small, evaluator gemini, improver claude |
        | Rights of Roles | enforced by the system and the agent, in all roles |
        | Commands as Checks | never run; the judge decides instead |
        | Iterations | 3 of at most 4 |
        | Artifact | evaluated: a330d6c3, 81 B |
        | SHA-256 | `a330d6c30443898e90ec421b5884963e86ff616cecd61f716569acc2fab3720a` |
        | Score | 100\.0 at level B, goal 90 |
        | Distance to Success | no gap, no blocking rule, 8 of 8 rules met |
        | Status | completed |
        | Reason | threshold_reached |
        | Completed Phases | 35s |
        | Started | 2023-11-14T22:13:20Z |
        | Completed | 2023-11-14T22:14:11Z |

        ## Task

        ```text
        Write the API of a course catalogue
        ```

        ## Plan

        - `a.correctness.endpoints`: Do it.
        - `a.correctness.schemas`: Do it.
        - `a.completeness.examples`: Do it.

        ## Progression

        | Iteration | Level | Score | Verdict | Artifact | Changed |
        | --- | --- | --- | --- | --- | --- |
        | 1 | A | 42.9 of 80 | not passed | `56c18f3a` | everything is new |
        | 2 | A | 85.7 of 80 | passed | `4d203e7c` | Endpoints |
        | 2 | B | 75.0 of 90 | not passed | `4d203e7c` | nothing since it was last judged |
        | 3 | B | 100.0 of 90 | passed | `a330d6c3` | Endpoints; Limits (not asked for) |

        ## Rules

        Judged: `a330d6c30443898e90ec421b5884963e86ff616cecd61f716569acc2fab3720a` at level B.

        | Rule | Severity, Weight | Verdict | By | Evidence |
        | --- | --- | --- | --- | --- |
        | `a.correctness.endpoints` | fail, 2 | pass | the judge | It stands there. |
        | `a.correctness.schemas` | fail, 2 | pass | the judge | It stands there. |
        | `a.completeness.examples` | fail, 2 | pass | the judge | It stands there. |
        | `a.completeness.errors` | warn, 1 | pass | the judge | It stands there. |
        | `b.style.naming` | warn, 1 | pass | the judge | It stands there. |
        | `b.completeness.pagination` | warn, 1 | pass | the judge | It stands there. |
        | `b.completeness.auth` | fail, 2 | pass | the judge | It stands there. |
        | `b.quality.descriptions` | warn, 1 | pass | the judge | It stands there. |

        ## Fixes

        | Iteration | Level | Rule | Problem | Fix |
        | --- | --- | --- | --- | --- |
        | 1 | A | `a.correctness.schemas` | It is missing. | Add it. |
        | 1 | A | `a.completeness.examples` | It is missing. | Add it. |
        | 2 | B | `a.completeness.errors` | It is missing. | Add it. |
        | 2 | B | `b.completeness.auth` | It is missing. | Add it. |

        ## Checks

        The evaluator prepared these once per level, without seeing the artifact; they do not change.

        - `a.correctness.endpoints`: question: Is it \| there?
        - `a.correctness.schemas`: question: Is it \| there?
        - `a.completeness.examples`: question: Is it \| there?
        - `a.completeness.errors`: question: Is it \| there?
        - `b.style.naming`: question: Is it \| there?
        - `b.completeness.pagination`: question: Is it \| there?
        - `b.completeness.auth`: question: Is it \| there?
        - `b.quality.descriptions`: question: Is it \| there?

        ## Cost

        | Role | Agent | Calls | Failed | Cached | Time | Input Tokens | Output Tokens | Money |
        | --- | --- | --- | --- | --- | --- | --- | --- | --- |
        | Executor | claude:small | 2 | 0 | 0 | 3s | 2,400 | 60 | $1.00 |
        | Evaluator | gemini | 14 | 0 | 0 | 21s | 16,800 | 420 | $7.00 |
        | Improver | claude | 4 | 0 | 0 | 6s | 4,800 | 120 | $2.00 |
        | **Total** |  | 20 | 0 | 0 | 30s | 24,000 | 600 | $10.00 |

        ## Errors

        None.

        ## Locations

        | What | Path |
        | --- | --- |
        | Artifact | `/p/.ai-factory/evolution/courses-api/artifact.md` |
        | The original's files | `/p/.ai-factory/evolution/courses-api/` |
        | Judged versions | `/p/.skilltune/runs/courses-api-20260218-120000/iterations/iteration-N/artifact.md` |
        | Journal | `/p/.skilltune/runs/courses-api-20260218-120000/history.jsonl` |
        | State | `/p/.skilltune/runs/courses-api-20260218-120000/iteration-state.json` |
        | Calls of agents | `/p/.skilltune/runs/courses-api-20260218-120000/agents/` |
        | This report | `/p/.skilltune/runs/courses-api-20260218-120000/final-report.md` |
        | This report for a browser | `/p/.skilltune/runs/courses-api-20260218-120000/report.html` |
        | This report as data | `/p/.skilltune/runs/courses-api-20260218-120000/report.json` |
        ");
}

#[test]
fn an_end_with_warnings_left_is_no_pass() {
    let report = report(&play(plan(), missing(ONLY_WARNINGS)).run);
    insta::assert_snapshot!(report.lines().nth(2).unwrap(), @"**WARNINGS LEFT**. The run is completed (no_major_issues): it is below the goal of level B by 6.7, and only warnings are left.");
    let distance = report.lines().find(|line| line.starts_with("| Distance")).unwrap();
    insta::assert_snapshot!(distance, @r"| Distance to Success | 6\.7 below, no blocking rule, 6 of 8 rules met |");
}

#[test]
fn words_of_models_break_no_page() {
    let mut hostile = plan();
    (hostile.task.prompt, hostile.task.ideal) = (HOSTILE.into(), HOSTILE.into());
    let mut answer = missing(TO_THE_THRESHOLD);
    let play = play(hostile, |run, step| match (step, answer(run, step)) {
        (Step::Critique { level: Level::B, .. }, _) => failed(FailureKind::OffSchema, HOSTILE),
        (_, Ok(Answer::Criticised(mut issues))) => {
            (issues[0].problem, issues[0].fix_instruction) = (HOSTILE.into(), HOSTILE.into());
            Ok(Answer::Criticised(issues))
        }
        (_, Ok(Answer::Planned(mut steps))) => {
            steps[0].step = HOSTILE.into();
            Ok(Answer::Planned(steps))
        }
        (_, Ok(Answer::Judged(mut results))) => {
            for result in &mut results {
                result.details = HOSTILE.into();
            }
            Ok(Answer::Judged(results))
        }
        (_, Ok(Answer::Prepared(mut checks))) => {
            checks[0].how = checks::pattern(HOSTILE, Times::NEVER);
            checks[1].how = How::Question { text: HOSTILE.into() };
            Ok(Answer::Prepared(checks))
        }
        (_, outcome) => outcome,
    });
    let page = report(&play.run);
    assert!(!page.contains(['\x1b', '\r', '\u{202e}']), "{page:?}");
    let headings: Vec<_> = headings(&page);
    assert_eq!(
        headings,
        [
            "Final Report: courses-api",
            "Summary",
            "Task",
            "Plan",
            "Progression",
            "Rules",
            "Fixes",
            "Checks",
            "Cost",
            "Errors",
            "Locations"
        ]
    );
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let rows: Vec<_> =
        page.lines().filter(|line| line.starts_with("| `a.") || line.starts_with("| `b.")).collect();
    assert!(rows.len() >= 4 && rows.iter().all(|row| bars(row) == 6), "{rows:#?}");
}

/// Returns the headings outside of fences.
fn headings(page: &str) -> Vec<&str> {
    let mut fence = None;
    let mut found = Vec::new();
    for line in page.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open && line.trim_matches('`').is_empty() => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None => found.extend(line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim())),
        }
    }
    found
}

#[test]
fn a_run_at_any_point_has_a_report() {
    let mut play = Play::begin(plan());
    let mut answer = missing(TO_THE_THRESHOLD);
    assert!(report(&play.run).contains("**NOT ENDED**"));
    while play.advance(&mut answer).is_some() {
        assert!(report(&play.run).ends_with('\n'));
    }
}
