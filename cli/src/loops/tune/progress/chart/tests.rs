use skilltune_phases::loops::tune::Step;
use skilltune_phases::runs::event::FailureKind;

use super::*;
use crate::loops::tune::world::{Play, failed, plan, play, points, scored};
use crate::text::width::columns;

fn drawn(play: &Play, width: usize, letters: Letters) -> String {
    let Some(Chart { rows, goal }) = chart(&play.run, width, letters) else { return String::new() };
    let row = |line: VerdictLine| format!("{}{}{}", line.before, line.verdict.word(), line.after);
    rows.into_iter().map(row).chain(goal).collect::<Vec<_>>().join("\n")
}

fn three() -> Play {
    play(plan(&["haiku"], 1), scored(&[50, 30, 95], &[52, 0, 91]))
}

/// Plays as many rounds as scores, without an end before them.
fn long(scores: &[u32]) -> Play {
    let mut plan = plan(&["haiku"], 1);
    plan.task.rules.max_iterations = u32::try_from(scores.len()).unwrap();
    plan.task.rules.threshold = Score::FULL;
    plan.task.rules.stall.gain = 0.0;
    plan.task.rules.stall.window = scores.len();
    play(plan, scored(scores, &vec![50; scores.len()]))
}

#[test]
fn bars_stand_beside_the_mark_of_the_goal_at_every_width() {
    insta::assert_snapshot!(drawn(&three(), 100, Letters::Blocks), @r"
        round 1  ████████████████████                │      50.0   baseline
        round 2  ████████████                        │      30.0   dropped
        round 3  ██████████████████████████████████████     95.0   kept
                                                     goal 90
        ");
    insta::assert_snapshot!(drawn(&three(), 40, Letters::Blocks), @r"
        1  ████████▌       │   50.0   baseline
        2  █████           │   30.0   dropped
        3  ████████████████▏   95.0   kept
                           goal 90
        ");
    assert_eq!(drawn(&three(), 80, Letters::Blocks), drawn(&three(), 100, Letters::Blocks));
}

#[test]
fn a_terminal_of_plain_letters_gets_plain_letters() {
    let plain = drawn(&three(), 80, Letters::Plain);
    insta::assert_snapshot!(plain, @r"
        round 1  ####################                |      50.0   baseline
        round 2  ############                        |      30.0   dropped
        round 3  ######################################     95.0   kept
                                                     goal 90
        ");
    assert!(plain.is_ascii());
}

#[test]
fn one_score_is_no_picture_and_neither_is_a_sliver() {
    assert_eq!(drawn(&play(plan(&["haiku"], 1), scored(&[95], &[])), 80, Letters::Blocks), "");
    assert_eq!(drawn(&three(), 20, Letters::Blocks), "");
}

#[test]
fn a_round_without_a_score_has_no_bar() {
    let play = play(plan(&["haiku"], 1), |run, step| match step {
        Step::Exercise { .. } if run.round_number() == 2 => failed(FailureKind::Crashed, "exit 1"),
        _ => scored(&[50, 60, 70], &[50, 60, 70])(run, step),
    });
    let drawn = drawn(&play, 80, Letters::Plain);
    let second = drawn.lines().nth(1).unwrap();
    assert!(second.starts_with("round 2        ") && second.ends_with("|      -      incomplete"), "{drawn}");
}

#[test]
fn of_many_rounds_the_baseline_and_the_newest_are_drawn() {
    let scores: Vec<u32> = (1..=30).collect();
    let drawn = drawn(&long(&scores), 80, Letters::Plain);
    let rounds: Vec<&str> = drawn.lines().filter_map(|line| line.strip_prefix("round ")?.get(..2)).collect();
    let newest = (20..=30).map(|round| round.to_string());
    assert_eq!(rounds, std::iter::once("1 ".to_owned()).chain(newest).collect::<Vec<_>>());
}

#[test]
fn no_bar_below_the_goal_touches_its_mark_and_no_row_is_too_wide() {
    for letters in [Letters::Blocks, Letters::Plain] {
        for width in [31, 40, 60, 80, 100, 65_535] {
            for threshold in 0..=100 {
                let mut play = three();
                std::sync::Arc::make_mut(&mut play.run.plan).task.rules.threshold = points(threshold);
                let frame = Frame::of(&play.run, width, letters).unwrap();
                for score in [0, 1, 79, 80, 99, 100] {
                    let bar = frame.bar(Some(points(score)));
                    let goal = usize::from(frame.goal);
                    let marked = bar.chars().nth(goal).is_some_and(|c| matches!(c, '│' | '|'));
                    assert!(score >= threshold || marked, "{score} of {threshold}: {bar}");
                    assert_eq!(columns(&bar), usize::from(frame.track) + 1);
                }
                let lines = drawn(&play, width, letters);
                assert!(lines.lines().all(|line| columns(line) <= width), "{width}:\n{lines}");
            }
        }
    }
}
