//! The moves of the search: what is kept, what is dropped, where the next edit starts.

use skilltune_phases::loops::tune::{Edit, RoundResult, Step};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::skills::target::Place;

use crate::world::{Drive, failed, improved, judged, nth, plan, ran, well};

#[test]
fn a_draft_far_below_the_best_is_dropped_and_the_best_is_the_base_again() {
    let scores = [60, 45, 70, 61, 80];
    let mut bases = Vec::new();
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Judge { candidate, .. } => {
            let nth = nth(run, *candidate);
            judged(run, scores[nth], &[])
        }
        Step::Improve { base, round, .. } => {
            bases.push(nth(run, *base));
            improved(&format!("draft {round}"))
        }
        _ => well(run, step, 0),
    });
    assert_eq!(bases, [0, 0, 2, 3]);
    let kept: Vec<_> =
        drive.run.state.rounds.iter().map(|round| round.result == Some(RoundResult::Kept)).collect();
    assert_eq!(kept, [true, false, true, true, true]);
    assert_eq!((drive.run.accepted(), drive.run.rejected()), (3, 1));
}

#[test]
fn a_draft_that_no_gate_lets_through_is_tried_once_more_and_then_dropped() {
    let mut asked = 0;
    let mut drive = Drive::start(plan(1, 1));
    drive.finish_alone(|run, step| match step {
        Step::Improve { round: 1, .. } => {
            asked += 1;
            assert_eq!(run.last_failure(step).is_some(), asked == 2);
            failed(FailureKind::Gate)
        }
        _ => well(run, step, 60),
    });
    let run = &drive.run;
    assert_eq!(asked, 2);
    assert!(matches!(run.state.rounds[0].edit, Some(Edit::Nothing { .. })));
    assert_eq!((run.state.rounds[1].candidate, run.rejected()), (run.start(), 1));
    assert!(!run.state.rounds[0].failed(), "an idea that came to nothing is no failed round");
}

#[test]
fn the_same_content_is_measured_once() {
    let mut runs = 0;
    let mut drive = Drive::start(plan(1, 2));
    drive.finish(
        2,
        |_| 0,
        |run, step| match step {
            Step::Exercise { skill, trial, .. } => {
                runs += usize::from(trial.ordinal == 0);
                ran(&skill.to_string())
            }
            Step::Improve { .. } => failed(FailureKind::Gate),
            _ => well(run, step, 60),
        },
    );
    assert_eq!((drive.run.state.rounds.len(), runs), (3, 2));
}

/// Runs a chain of three with these member scores, and returns the member that each round edited.
fn focus(members: [usize; 3], mut whole: impl FnMut(usize) -> usize) -> (Drive, Vec<usize>) {
    let mut focus = Vec::new();
    let mut plan = plan(3, 1);
    plan.task.rules.stall.window = 9;
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Exercise { skill, input, .. } => ran(&format!("{skill} on {input:?}")),
        Step::Judge { candidate, .. } => {
            let nth = nth(run, *candidate);
            judged(run, whole(nth), &members)
        }
        Step::Improve { member, round, .. } => {
            focus.push(member.0);
            improved(&format!("draft {round}"))
        }
        _ => well(run, step, 0),
    });
    (drive, focus)
}

#[test]
fn the_weakest_member_of_a_chain_is_worked_on() {
    let (drive, focus) = focus([70, 40, 90], |nth| 50 + 5 * nth);
    assert_eq!(focus, [1, 1, 1, 1]);
    assert_eq!(drive.run.state.focus, Some(Place(1)));
}

#[test]
fn after_two_drops_at_one_member_the_next_weakest_is_worked_on() {
    let mut plan_scores = [60, 40, 41, 65, 70].into_iter();
    let mut scores = std::collections::HashMap::new();
    let (_, focus) =
        focus([70, 40, 90], |nth| *scores.entry(nth).or_insert_with(|| plan_scores.next().unwrap_or(70)));
    assert_eq!(focus[..3], [1, 1, 0]);
}

#[test]
fn an_unchanged_upstream_member_with_unchanged_input_is_not_run_again() {
    let mut runs = Vec::new();
    let mut drive = Drive::start(plan(3, 1));
    drive.finish_alone(|run, step| match step {
        Step::Exercise { skill, input, member, trial, .. } => {
            if trial.ordinal == 0 {
                runs.push((run.round_number(), member.0));
            }
            ran(&format!("{skill} on {input:?}"))
        }
        Step::Judge { .. } => judged(run, 50 + 5 * run.round_number() as usize, &[90, 40, 90]),
        _ => well(run, step, 0),
    });
    assert_eq!(runs[..5], [(1, 0), (1, 1), (1, 2), (2, 1), (2, 2)]);
}

#[test]
fn a_member_that_fails_stops_its_followers_of_that_round() {
    let mut ran_members = Vec::new();
    let mut drive = Drive::start(plan(3, 1));
    drive.finish_alone(|_, step| match step {
        Step::Exercise { member, .. } if member.0 == 1 => failed(FailureKind::Crashed),
        Step::Exercise { member, skill, .. } => {
            ran_members.push(member.0);
            ran(&skill.to_string())
        }
        _ => unreachable!("nothing follows a member that failed"),
    });
    assert_eq!(ran_members, [0]);
    assert_eq!(drive.run.state.rounds.len(), 3);
}
