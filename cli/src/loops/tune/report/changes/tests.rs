use skilltune_phases::loops::tune::Step;
use skilltune_phases::runs::event::FailureKind;

use super::*;
use crate::loops::tune::world::{Play, failed, improved, plan, play, scored};

fn report(play: &Play, round: usize) -> String {
    changes(&play.run, &play.run.state.rounds[round - 1], &Diff::default())
}

#[test]
fn an_edit_is_told_with_its_diff_in_a_fence_that_holds() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[50, 95]));
    let files = ["M SKILL.md".to_owned(), "A odd`name.md".to_owned()];
    let unified = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-```\n+````sh\x1b[31m\n";
    let page = changes(&play.run, &play.run.state.rounds[0], &Diff { files: &files, unified });
    insta::assert_snapshot!(page, @r"
        # Iteration 1 Changes

        ## Applied Suggestions

        - [high] Named the file.: `SKILL.md`

        ## Files Modified

        - `M SKILL.md`
        - ``A odd`name.md``

        ## Skipped Suggestions

        - The rest: no such file.

        ## Notes

        - draft 1: the output has a name.
        - Candidate `3b1b95a11ef4`: an edit of haiku (wording) in candidate `f24dfd74a6e1`.

        ## Diff

        `````diff
        --- a/SKILL.md
        +++ b/SKILL.md
        @@ -1 +1 @@
        -```
        +````sh␛[31m
        `````
        ");
}

#[test]
fn the_last_round_has_no_edit_and_says_why() {
    let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[50, 95]));
    insta::assert_snapshot!(report(&play, 2), @r"
        # Iteration 2 Changes

        No edit: the search stopped here: goal reached.
        ");
}

#[test]
fn an_edit_that_came_to_nothing_says_why() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Improve { .. } => failed(FailureKind::Gate, "SKILL.md has no front matter"),
        _ => scored(&[50], &[])(run, step),
    });
    insta::assert_snapshot!(report(&play, 1), @r"
        # Iteration 1 Changes

        No change: the edit of haiku failed. The improver made no valid change: SKILL.md has no front matter

        ## What Failed

        - improving haiku: made no valid change: SKILL.md has no front matter (twice, then gave up)
        ");
}

#[test]
fn a_round_without_a_score_is_measured_again() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Judge { .. } if run.round_number() == 1 => failed(FailureKind::TimedOut, "60 s"),
        _ => scored(&[95], &[])(run, step),
    });
    assert!(report(&play, 1).contains("its candidate is tried again"));
}

#[test]
fn an_edit_that_gives_back_an_older_candidate_keeps_its_own_words() {
    let mut asked = plan(&["haiku"], 1);
    asked.task.rules.max_iterations = 4;
    let play = play(asked, |run, step| match step {
        Step::Improve { base, .. } if *base == run.start() => improved("there"),
        Step::Improve { .. } => improved("haiku"),
        _ => scored(&[50, 58], &[50, 58])(run, step),
    });
    let page = report(&play, 2);
    insta::assert_snapshot!(page.split("## Notes").nth(1).unwrap().trim(), @r"
        - haiku: the output has a name.
        - Candidate `f24dfd74a6e1`: an edit of haiku (wording) in candidate `a343e177d17a`.
        - The edit restored the content of an earlier candidate.

        ## Diff

        None.
        ");
}

#[test]
fn a_round_just_opened_has_a_page_too() {
    let mut play = Play::begin(plan(&["haiku"], 1));
    play.advance(&mut scored(&[], &[])).unwrap();
    assert_eq!(report(&play, 1), "# Iteration 1 Changes\n\nNo edit yet: the round has no score.\n");
}
