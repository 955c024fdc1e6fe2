use std::path::Path;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::gan::{Answer, Step};
use skilltune_phases::runs::event::FailureKind;
use skilltune_worlds::drive::failed_as;
use skilltune_worlds::gan::{Drive, answer, into_folder, nothing, plan, play_with, rising};
use skilltune_worlds::reflex::pages::HOSTILE;

use super::*;
use crate::report::page::page;

fn report(run: &Run) -> String {
    page(run, &Objects::at(Path::new("/p/.skilltune/objects")))
}

/// The first artifact misses a criterion that must pass, the second misses nothing.
fn passing(nth: usize, id: &str) -> bool {
    nth > 0 || id == "a.quick"
}

#[test]
fn a_report_has_the_result_the_course_and_the_evidence() {
    let drive =
        play_with(into_folder(plan()), &passing, |run, step| match (step, answer(run, step, &passing)) {
            (Step::Build { sprint: 1, .. }, _) if run.attempts(step) == 0 => {
                Some(failed_as(FailureKind::TimedOut, "after 9 s"))
            }
            (Step::Build { sprint: 2, .. }, Ok(Answer::Built { artifact, mut notes })) => {
                notes.notes = "It | runs now.".into();
                Some(Ok(Answer::Built { artifact, notes }))
            }
            _ => None,
        });
    insta::assert_snapshot!(report(&drive.run), @r"
    # Final Report: pump

    **PASSED**. Passed with 100 (75 needed).

    ## Summary

    | Field | Value |
    | --- | --- |
    | Run | `pump-20261121-213000` (gan) |
    | Brief | `brief.md` |
    | Judged By | profile test; passes from 75, 5 rounds at most |
    | Agents | world in all roles |
    | Rights of Roles | not enforced, in all roles |
    | Started | 2023-11-14T22:13:20Z |
    | Completed | 2023-11-14T22:13:37Z |

    ## Progression

    | Round | Score | Met | Verdict | Blocked By |
    | --- | --- | --- | --- | --- |
    | 1 | 43.8 | 37.5 % | not passed | a.runs must pass, but failed; the score is 43.8, but must reach 75 |
    | 2 | 100 | 100 % | passed |  |

    ## Criteria

    Verdicts on round 2: score 100, 100 % met; a 100, b 100.

    | Criterion | Gate | Verdict | By | Evidence | Fix |
    | --- | --- | --- | --- | --- | --- |
    | `a.runs` | must pass | passed | the evaluator | index.html: seen |  |
    | `a.quick` |  | passed | the evaluator | index.html: seen |  |
    | `b.clear` |  | passed | the evaluator | index.html: seen |  |
    | `b.quiet` |  | passed | the evaluator | index.html: seen |  |

    ### Levels

    The level follows from the criteria. What the evaluator cites is shown but not counted.

    | Dimension | Level | Cited by the Evaluator | Reason |
    | --- | --- | --- | --- |
    | a | 100 | 75 | most of it is there |
    | b | 100 | 75 | most of it is there |

    ## The Builder's Notes

    - round 2: It \| runs now.

    ## Cost

    | Role | Agent | Calls | Failed | Cached | Time | Input Tokens | Output Tokens | Money |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | Builder | world | 3 | 1 | 0 | 3s | 300 | 30 | $1.50 |
    | Evaluator | world | 2 | 0 | 0 | 2s | 200 | 20 | $1.00 |
    | **Total** |  | 5 | 1 | 0 | 5s | 500 | 50 | $2.50 |

    ## Errors

    - 2023-11-14T22:13:23Z, round 1: building, round 1: timed out: after 9 s

    ## Locations

    | What | Path |
    | --- | --- |
    | Result | `/project/site` |
    | Rounds: artifact, screens, changes, evaluation | `/project/.skilltune/runs/pump-20261121-213000/iterations/iteration-N/` |
    | Sprints and the contract | `/project/.skilltune/runs/pump-20261121-213000/sprints/sprint-N.json` |
    | Journal | `/project/.skilltune/runs/pump-20261121-213000/history.jsonl` |
    | State | `/project/.skilltune/runs/pump-20261121-213000/iteration-state.json` |
    | Calls of agents | `/project/.skilltune/runs/pump-20261121-213000/agents/` |
    | This report | `/project/.skilltune/runs/pump-20261121-213000/final-report.md` |
    | This report for a browser | `/project/.skilltune/runs/pump-20261121-213000/report.html` |
    | This report as data | `/project/.skilltune/runs/pump-20261121-213000/report.json` |
    ");
}

/// Returns the head and a section of a report.
fn head_and(run: &Run, section: &str) -> String {
    let page = report(run);
    let head = page.lines().nth(2).unwrap();
    let (_, rest) = page.split_once(&format!("## {section}\n\n")).unwrap();
    format!("{head}\n\n{}", rest.split("\n\n").next().unwrap())
}

#[test]
fn a_run_without_a_pass_names_what_kept_each_round_from_passing() {
    let stalled = play_with(into_folder(plan()), &nothing, |_, _| None).run;
    insta::assert_snapshot!(head_and(&stalled, "Questions"), @"
    **STALLED**. Not passed with 25 (75 needed): 2 rounds in a row gained less than 5 points. The best round is kept.

    - after round 3, no gain: end, by default
    ");
    let out_of_rounds = play_with(into_folder(plan()), &rising, |_, _| None).run;
    insta::assert_snapshot!(head_and(&out_of_rounds, "Progression"), @"
    **MAX ROUNDS**. Not passed with 62.5 (75 needed): 5 rounds built, and none passed. The best round is kept.

    | Round | Score | Met | Verdict | Blocked By |
    | --- | --- | --- | --- | --- |
    | 1 | 25 | 0 % | not passed | a.runs must pass, but failed; the score is 25, but must reach 75 |
    | 2 | 43.8 | 37.5 % | not passed | a.runs must pass, but failed; the score is 43.8, but must reach 75 |
    | 3 | 50 | 50 % | not passed | a.runs must pass, but failed; the score is 50, but must reach 75 |
    | 4 | 62.5 | 62.5 % | not passed | a.runs must pass, but failed; the score is 62.5, but must reach 75 |
    | 5 | 62.5 | 62.5 % | not passed | a.runs must pass, but failed; the score is 62.5, but must reach 75 |
    ");
}

#[test]
fn words_of_models_break_no_page() {
    let mut hostile = into_folder(plan());
    (hostile.task.name, hostile.task.profile, hostile.task.brief.file) =
        (HOSTILE.into(), HOSTILE.into(), HOSTILE.into());
    let drive = play_with(hostile, &nothing, |run, step| match (step, answer(run, step, &nothing)) {
        (Step::Build { .. }, _) if run.attempts(step) == 0 => {
            Some(failed_as(FailureKind::OffSchema, HOSTILE))
        }
        (_, Ok(Answer::Built { artifact, mut notes })) => {
            notes.notes = HOSTILE.into();
            Some(Ok(Answer::Built { artifact, notes }))
        }
        (_, Ok(Answer::Judged(mut verdicts))) => {
            for finding in &mut verdicts.findings {
                (finding.evidence, finding.fix) = (HOSTILE.into(), Some(HOSTILE.into()));
            }
            Some(Ok(Answer::Judged(verdicts)))
        }
        _ => None,
    });
    let page = report(&drive.run);
    assert!(!page.contains(['\x1b', '\r', '\u{202e}']), "{page:?}");
    let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    insta::assert_snapshot!(headings.join("\n"), @"
    Summary
    Progression
    Criteria
    Questions
    The Builder's Notes
    Cost
    Errors
    Locations
    ");
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() >= 4 && rows.iter().all(|row| bars(row) == 7), "{rows:#?}");
}

#[test]
fn a_run_at_any_point_has_a_report() {
    let mut drive = Drive::start(into_folder(plan()));
    assert!(report(&drive.run).contains("**NOT ENDED**. The run has not ended"), "{}", report(&drive.run));
    while drive.advance(&mut |run, step| answer(run, step, &passing)).is_some() {
        assert!(report(&drive.run).ends_with('\n'));
    }
    assert!(report(&drive.run).contains("**PASSED**"));
}
