use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{Answer, Apply, Choice, Run, Step};
use skilltune_phases::runs::event::FailureKind;

use super::*;
use crate::loops::tune::verdicts;
use crate::loops::tune::world::{Play, claimed, failed, plan, play, scored, tree};

/// Returns the text under the title: what was shown, and the result.
fn lead(run: &Run) -> String {
    let page = final_report(run);
    let lead = page.split("\n## ").next().unwrap();
    lead.lines().skip(2).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn section(run: &Run, title: &str) -> String {
    let page = final_report(run);
    let (_, rest) = page.split_once(&format!("## {title}\n\n")).unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

#[test]
fn what_has_to_be_known_of_the_agents_is_noted_beside_them() {
    let mut plan = plan(&["haiku"], 1);
    plan.roles.of_mut(&Role::EXECUTOR).family = Some("claude".into());
    *plan.roles.of_mut(&Role::EVALUATOR) = plan.roles.of(&Role::EXECUTOR).clone();
    let summary = section(&Play::begin(plan).run, "Summary");
    let (_, after) = summary.split_once("| Agents |").unwrap();
    let note = after.lines().nth(1).unwrap();
    assert_eq!(
        note,
        "| Note | the judge and the executor use the same model family (claude); such a judge tends to be lenient |"
    );
}

#[test]
fn a_run_that_won_is_told_from_what_came_out_to_how_to_undo_it() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 30, 95], &[52, 0, 91]));
    insta::assert_snapshot!(final_report(&play.run), @r"
    # Final Report: haiku

    **Verdict**: the candidate scored higher than the start. Based on 1 scenario, 1 fresh trial of each version on each; the search claimed +45.0.

    Weak evidence: one scenario. Other tasks may show a different result.

    **PASSED**. The champion scored higher than the start and was applied, as you said.

    ## Summary

    | Field | Value |
    | --- | --- |
    | Run | `calm-otter` (tune) |
    | Target Skills | `/p/skills/haiku` |
    | Execution Mode | single |
    | Test Scenarios | Write a \| haiku |
    | Agents | executor claude:small, evaluator gemini, improver claude |
    | Rights of Roles | enforced by the system and the agent, in all roles |
    | Delivery | inline, in the prompt |
    | Iterations | 3 of at most 3 |
    | Accepted, Rejected | 1, 1 |
    | Initial Score | 52.0 |
    | Final Score | 91.0 |
    | Threshold | 90 |
    | Outcome | PASSED |
    | Search Ended | goal reached |
    | Started | 2023-11-14T22:13:20Z |
    | Completed | 2023-11-14T22:13:48Z |

    ## Score Progression

    | Iter | Composite | Clarity | Output | Verdict | Candidate |
    | --- | --- | --- | --- | --- | --- |
    | 1 | 50.0 | 50.0 | 50.0 | baseline | `f24dfd74a6e1` |
    | 2 | 30.0 | 30.0 | 30.0 | dropped | `3b1b95a11ef4` |
    | 3 | 95.0 | 95.0 | 95.0 | kept | `a5b0f9da0dee` |

    **Trend**: 50.0 → 30.0 → 95.0

    ## Final Comparison

    | Version | Part | Fresh Score | Claimed by the Search |
    | --- | --- | --- | --- |
    | `f24dfd74a6e1` | start | 52.0 | 50.0 |
    | `a5b0f9da0dee` | best of the search, newest kept, **champion** | 91.0 | 95.0 |

    | Scenario | Start | Candidate | Difference |
    | --- | --- | --- | --- |
    | task-1 | 52.0 | 91.0 | ↑ +39.0 |

    ## Iteration Details

    ### Iteration 1

    - **Score**: 50.0, kept
    - **Strengths**: It is short.
    - **Top Weaknesses**: SKILL.md:Steps \| unclear; No \<end>.
    - **Changes**: 1, in haiku (wording)
      - Named the file.

    ### Iteration 2

    - **Score**: 30.0, dropped: it scored 20.0 below the best so far
    - **Strengths**: It is short.
    - **Top Weaknesses**: SKILL.md:Steps \| unclear; No \<end>.
    - **Changes**: 1, in haiku (wording)
      - Named the file.

    ### Iteration 3

    - **Score**: 95.0, kept
    - **Strengths**: It is short.
    - **Top Weaknesses**: SKILL.md:Steps \| unclear; No \<end>.
    - **Changes**: 0

    ## Dropped Ideas

    - Round 2, haiku, `3b1b95a11ef4` (draft 1: the output has a name.): it scored 20.0 below the best so far

    ## Remaining Weaknesses

    - SKILL.md:Steps \| unclear
    - No \<end>.

    ## Cost

    | Role | Agent | Calls | Failed | Cached | Time | Input Tokens | Output Tokens | Money |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | Executor | claude:small | 5 | 0 | 0 | 7s | 6,000 | 150 | $2.50 |
    | Evaluator | gemini | 5 | 0 | 0 | 7s | 6,000 | 150 | $2.50 |
    | Improver | claude | 2 | 0 | 0 | 3s | 2,400 | 60 | $1.00 |
    | **Total** |  | 12 | 0 | 0 | 18s | 14,400 | 360 | $6.00 |

    ## Errors

    None.

    ## Artifact Locations

    | What | Path |
    | --- | --- |
    | State | `/p/.skilltune/runs/calm-otter/iteration-state.json` |
    | History | `/p/.skilltune/runs/calm-otter/history.jsonl` |
    | Evaluations | `/p/.skilltune/runs/calm-otter/iterations/iteration-N/iteration-N-eval.md` |
    | Changes | `/p/.skilltune/runs/calm-otter/iterations/iteration-N/iteration-N-changes.md` |
    | Artifacts | `/p/.skilltune/runs/calm-otter/iterations/iteration-N/artifacts/` |
    | Calls of agents | `/p/.skilltune/runs/calm-otter/agents/` |
    | This report | `/p/.skilltune/runs/calm-otter/final-report.md` |
    | This report for a browser | `/p/.skilltune/runs/calm-otter/report.html` |
    | This report as data | `/p/.skilltune/runs/calm-otter/report.json` |
    | Test cases | `/p/.skilltune/runs/calm-otter/junit.xml` |

    ## Restore Original

    The original skill is stored byte for byte. To restore it or another version:

    | To | Run |
    | --- | --- |
    | Restore the skill | `skilltune rollback calm-otter` |
    | Show what the champion changes | `skilltune diff calm-otter` |
    | Apply the champion | `skilltune apply calm-otter` |
    | Copy the original to a folder | `skilltune export calm-otter start DIR` |
    | Copy another candidate to a folder | `skilltune export calm-otter 3b1b95a11ef4 DIR` |
    ");
}

#[test]
fn a_chain_that_lost_says_so_and_tells_each_member() {
    let play = play(plan(&["plan", "write"], 2), scored(&[50, 60, 70], &[50, 40, 50]));
    insta::assert_snapshot!(lead(&play.run), @r"
    **Verdict**: the candidate did not score higher than the start. Based on 2 scenarios, 1 fresh trial of each version on each; the search claimed +20.0.
    Weak evidence: 2 scenarios. The difference may be chance.
    **MAX ITERATIONS**. No candidate beat the start; the skill is unchanged.
    ");
    insta::assert_snapshot!(section(&play.run, "Chain Score Progression"), @r"
        | Iter | plan | write |
        | --- | --- | --- |
        | 1 | 50.0 | 49.0 |
        | 2 | 60.0 | 59.0 |
        | 3 | 70.0 | 69.0 |
        ");
    insta::assert_snapshot!(section(&play.run, "Final Comparison"), @r"
    | Version | Part | Fresh Score | Claimed by the Search |
    | --- | --- | --- | --- |
    | `f89c40c18249` | start, **champion** | 50.0 | 50.0 |
    | `4ee29a21b366` | best of the search, newest kept | 50.0 | 70.0 |

    | Scenario | Start | Candidate | Difference |
    | --- | --- | --- | --- |
    | task-2 | 50.0 | 50.0 | = +0.0 |
    | task-1 | 50.0 | 50.0 | = +0.0 |
    ");
    assert!(section(&play.run, "Summary").contains("| Chain Order | plan -> write |"));
    assert!(section(&play.run, "Summary").contains("| Test Scenarios | 2 scenarios: task-1, task-2 |"));
}

#[test]
fn a_start_that_reaches_the_goal_is_unchallenged() {
    let play = play(plan(&["haiku"], 1), scored(&[95], &[]));
    insta::assert_snapshot!(lead(&play.run), @r"
    **Verdict**: none, the search made no candidate. Based on no fresh trials.
    Weak evidence: one scenario. Other tasks may show a different result.
    **PASSED**. No improvement found; the skill is unchanged.
    ");
    insta::assert_snapshot!(section(&play.run, "Final Comparison"), @r"
    | Version | Part | Fresh Score | Claimed by the Search |
    | --- | --- | --- | --- |
    | `f24dfd74a6e1` | start, best of the search, newest kept, **champion** | - | 95.0 |
    ");
}

#[test]
fn a_comparison_that_could_not_be_judged_is_indecisive_and_says_what_failed() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Judge { trial, .. } if trial.ordinal > 0 => failed(FailureKind::OffSchema, "no JSON"),
        _ => scored(&[50, 95], &[])(run, step),
    });
    insta::assert_snapshot!(lead(&play.run), @r"
    **Verdict**: INDECISIVE, too few trials could be judged. Based on no fresh trials; the search claimed +45.0.
    Weak evidence: one scenario. Other tasks may show a different result.
    **FAILED**. The result could not be judged; the skill is unchanged.
    ");
    insta::assert_snapshot!(section(&play.run, "Final Comparison"), @r"
    | Version | Part | Fresh Score | Claimed by the Search |
    | --- | --- | --- | --- |
    | `f24dfd74a6e1` | start, **champion** | - | 50.0 |
    | `3b1b95a11ef4` | best of the search, newest kept | - | 95.0 |

    Failures:

    - judging task-1 for 3b1b95a11ef4: returned an invalid answer: no JSON (twice, then gave up)
    - judging task-1 for f24dfd74a6e1: returned an invalid answer: no JSON (twice, then gave up)
    ");
}

#[test]
fn a_persons_edit_is_a_conflict() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Promote { .. } => Ok(Answer::Conflict { found: vec![tree("theirs")] }),
        _ => scored(&[50, 95], &[50, 95])(run, step),
    });
    insta::assert_snapshot!(lead(&play.run), @r"
    **Verdict**: the candidate scored higher than the start. Based on 1 scenario, 1 fresh trial of each version on each; the search claimed +45.0.
    Weak evidence: one scenario. Other tasks may show a different result.
    **CONFLICT**. Someone edited the skill during the run, so the champion was not applied; it is kept in the store.
    ");
}

#[test]
fn when_all_has_failed_the_errors_are_told_and_nothing_is_made_up() {
    let play = play(plan(&["haiku"], 1), |_, _| failed(FailureKind::Crashed, "60 s\x1b[2J"));
    insta::assert_snapshot!(lead(&play.run), @r"
    **Verdict**: INDECISIVE, too few trials could be judged. Based on no fresh trials.
    **FAILED**. The result could not be judged; the skill is unchanged.
    ");
    insta::assert_snapshot!(section(&play.run, "Score Progression"), @r#"
    | Iter | Composite | Clarity | Output | Verdict | Candidate |
    | --- | --- | --- | --- | --- | --- |
    | 1 | - | - | - | incomplete | `f24dfd74a6e1` |
    | 2 | - | - | - | incomplete | `f24dfd74a6e1` |
    | 3 | - | - | - | incomplete | `f24dfd74a6e1` |

    **Trend**: no score yet
    "#);
    let errors = section(&play.run, "Errors");
    insta::assert_snapshot!(errors.lines().next().unwrap(), @r#"- 2023-11-14T22:13:22Z, round 1: running haiku on task-1: exited with an error: 60 s␛\[2J"#);
    assert_eq!(errors.lines().count(), 6);
}

#[test]
fn claimed_scores_are_marked_and_a_kept_champion_is_no_part_of_the_target() {
    let mut asked = plan(&["haiku"], 1);
    asked.task.apply = Apply::Ask;
    let play = play(asked, |run, step| match step {
        Step::Judge { candidate, .. } => claimed(run, if *candidate == run.start() { 50 } else { 95 }),
        Step::Ask(_) => Ok(Answer::Chosen(Choice::Keep)),
        _ => scored(&[], &[])(run, step),
    });
    insta::assert_snapshot!(lead(&play.run), @r"
    **Verdict**: the candidate scored higher than the start. Based on 1 scenario, 1 fresh trial of each version on each; the search claimed +45.0.
    Weak evidence: one scenario. Other tasks may show a different result.
    **PASSED**. The champion scored higher than the start but was not applied, as you asked; the skill is unchanged.
    ");
    assert!(section(&play.run, "Score Progression").contains("| 95.0 | 95.0 | 95.0 | kept, claimed |"));
}

#[test]
fn how_little_is_shown_depends_on_the_scenarios() {
    let caution = |scenarios: usize, held_out: bool| {
        let mut plan = plan(&["haiku"], scenarios);
        plan.task.scenarios.iter_mut().skip(1).for_each(|scenario| scenario.held_out = held_out);
        verdicts::caution(&play(plan, scored(&[50, 95], &[50, 95])).run)
    };
    insta::assert_snapshot!(caution(1, false).unwrap(), @"Weak evidence: one scenario. Other tasks may show a different result.");
    insta::assert_snapshot!(caution(3, false).unwrap(), @"Weak evidence: 3 scenarios. The difference may be chance.");
    insta::assert_snapshot!(caution(6, false).unwrap(), @"Weaker evidence: compared on the scenarios of the search, which favour its best candidate.");
    assert_eq!(caution(6, true), None);
    let mut plan = plan(&["haiku"], 6);
    plan.task.scenarios.iter_mut().skip(1).for_each(|scenario| scenario.held_out = true);
    plan.task.held_out_uses = 11;
    let run = play(plan, scored(&[50, 95], &[50, 95])).run;
    insta::assert_snapshot!(verdicts::held_out_reuse(&run).unwrap(), @"These held-out scenarios have decided 12 times; expect about 1.2 false wins. Replace the held-out scenarios with new ones.");
}

#[test]
fn an_idea_that_a_gate_stopped_is_among_the_dropped_ones() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Improve { .. } => failed(FailureKind::Gate, "nothing was changed"),
        _ => scored(&[50], &[])(run, step),
    });
    insta::assert_snapshot!(section(&play.run, "Dropped Ideas"), @r"
        - Round 1, haiku: nothing was changed
        - Round 2, haiku: nothing was changed
        ");
}

#[test]
fn a_run_at_any_point_has_all_its_pages() {
    let mut play = Play::begin(plan(&["plan", "write"], 2));
    let mut answer = scored(&[50, 60, 70], &[50, 60, 70]);
    insta::assert_snapshot!(lead(&play.run), @"**NOT ENDED**. The run has not ended; `skilltune resume` continues it.");
    while play.advance(&mut answer).is_some() {
        assert!(final_report(&play.run).ends_with('\n'));
        for round in &play.run.state.rounds {
            assert!(crate::loops::tune::report::evaluation(&play.run, round).ends_with('\n'));
            assert!(
                crate::loops::tune::report::changes(
                    &play.run,
                    round,
                    &crate::loops::tune::report::changes::Diff::default()
                )
                .ends_with('\n')
            );
        }
    }
}
