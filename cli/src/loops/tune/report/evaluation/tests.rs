use skilltune_phases::loops::tune::Step;
use skilltune_phases::runs::event::FailureKind;

use super::*;
use crate::loops::tune::world::{Play, claimed, failed, plan, play, ran, scored};

fn first(play: &Play) -> String {
    evaluation(&play.run, &play.run.state.rounds[0])
}

#[test]
fn a_single_skill_is_told_with_verdicts_and_their_evidence() {
    let play = play(plan(&["haiku"], 1), scored(&[95], &[]));
    insta::assert_snapshot!(first(&play), @r"
        # Iteration 1 Evaluation

        **Composite Score**: 95.0/100  
        **The evaluator's own number**: 85.0/100 (not used for any decision)  
        **Date**: 2023-11-14T22:13:24Z  
        **Candidate**: `f24dfd74a6e1`

        ## Dimension Scores

        | Dimension | Score | Weight | Feedback |
        | --- | --- | --- | --- |
        | Clarity | 95.0 | 0.50 | 1 passed, 1 failed; not met: `clarity.words` |
        | Output | 95.0 | 0.50 | 1 partial; not met: `output.done` |

        ## Strengths

        - It is short.

        ## Weaknesses

        - SKILL.md:Steps \| unclear
        - No \<end>.

        ## Improvement Suggestions

        ### 1. [high] Name the \`output\` file.

        - **Target**: `SKILL.md`
        - **Rationale**: Readers guess.

        ````
        ```sh
        write haiku.md
        ```
        ````

        ## Verdicts and Evidence

        ### task-1: 95.0/100

        - **pass** `clarity.steps`: Are there steps?
          ````text
          1. Read the input.
          ```
          quoted
          ```
          ````
        - **fail** `clarity.words`: Is it plain?
        - **partial** `output.done`: Is it done?
          ```text
          haiku.md has | two lines␛[31m
          ```
        ");
}

#[test]
fn a_chain_has_a_score_a_member_and_findings_of_each() {
    let play = play(plan(&["plan", "write"], 1), scored(&[95], &[]));
    let page = first(&play);
    let (_, chain) = page.split_once("## Chain Scores").unwrap();
    insta::assert_snapshot!(chain.split("## Strengths").next().unwrap().trim(), @r"
        | Skill | Score | Chain Position |
        | --- | --- | --- |
        | plan | 95.0 | 1 |
        | write | 94.0 | 2 |
        ");
    assert!(page.contains("**write**: 94.0/100"));
}

#[test]
fn numbers_without_evidence_are_marked_as_claimed() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Judge { .. } => claimed(run, 95),
        Step::Exercise { .. } => ran("x"),
        _ => unreachable!("the start reaches the goal"),
    });
    let page = first(&play);
    insta::assert_snapshot!(page.split("## Strengths").next().unwrap().trim(), @r"
        # Iteration 1 Evaluation

        **Composite Score**: 95.0/100 (claimed: numbers without evidence)  
        **The evaluator's own number**: 85.0/100 (not used for any decision)  
        **Date**: 2023-11-14T22:13:24Z  
        **Candidate**: `f24dfd74a6e1`

        ## Dimension Scores

        | Dimension | Score | Weight | Feedback |
        | --- | --- | --- | --- |
        | Clarity | 95.0 | 0.50 | claimed without evidence |
        | Output | 95.0 | 0.50 | claimed without evidence |
        ");
    assert!(page.contains("### task-1: 95.0/100 (claimed)\n\nThe evaluator gave only numbers"));
}

#[test]
fn what_could_not_be_judged_is_incomplete_and_says_why() {
    let play = play(plan(&["haiku"], 2), |run, step| match step {
        Step::Exercise { trial, .. } if trial.scenario == 1 => {
            failed(FailureKind::Crashed, "exit 1\n<b>bad</b>")
        }
        Step::Judge { .. } if run.attempts(step) == 0 => failed(FailureKind::OffSchema, "no JSON"),
        _ => scored(&[50], &[])(run, step),
    });
    let page = first(&play);
    insta::assert_snapshot!(page.split("## Dimension").next().unwrap().trim(), @r"
        # Iteration 1 Evaluation

        **Composite Score**: incomplete (1 of 2 scenarios judged)  
        **The evaluator's own number**: 85.0/100 (not used for any decision)  
        **Date**: 2023-11-14T22:13:27Z  
        **Candidate**: `f24dfd74a6e1`
        ");
    insta::assert_snapshot!(page.split("## What Failed").nth(1).unwrap().trim(), @r"
        - running haiku on task-2: exited with an error: exit 1 \<b>bad\</b> (twice, then gave up)
        - judging task-1: returned an invalid answer: no JSON (once, then succeeded)
        ");
}

#[test]
fn a_round_is_not_told_by_what_a_later_one_found_of_the_same_candidate() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Judge { .. } if run.round_number() == 1 => failed(FailureKind::TimedOut, "60 s"),
        _ => scored(&[95], &[])(run, step),
    });
    assert!(first(&play).contains("## Strengths\n\nNone."));
    assert!(first(&play).contains("Nothing was judged."));
    assert!(evaluation(&play.run, &play.run.state.rounds[1]).contains("95.0/100"));
}

#[test]
fn a_round_just_opened_has_a_page_too() {
    let mut play = Play::begin(plan(&["haiku"], 1));
    play.advance(&mut scored(&[], &[])).unwrap();
    insta::assert_snapshot!(first(&play), @r"
        # Iteration 1 Evaluation

        **Composite Score**: no score yet  
        **Date**: 2023-11-14T22:13:21Z  
        **Candidate**: `f24dfd74a6e1`

        ## Strengths

        None.

        ## Weaknesses

        None.

        ## Improvement Suggestions

        None.

        ## Verdicts and Evidence

        Nothing was judged.
        ");
}
