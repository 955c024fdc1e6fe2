//! An agent that changed while a run was paused: results from before and after are never compared.

use std::collections::HashSet;

use proptest::prelude::*;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{
    Answer, Decision, Outcome, RoundResult, Run, Step, Trial, Tune, Verdict,
};

use crate::drive::{picker, recast, reread};
use crate::laws::vec_of_picks;
use crate::world::{Drive, improved, judged, nth, plan, points, ran, random_answer};

fn trial(step: &Step) -> Option<Trial> {
    match step {
        Step::Exercise { trial, .. } | Step::Judge { trial, .. } => Some(*trial),
        _ => None,
    }
}

/// Scores by candidate and era. Drafts are named after their rounds.
fn answer(run: &Run, step: &Step, score: impl Fn(usize, u32) -> usize) -> Outcome {
    match step {
        Step::Exercise { skill, trial, .. } => ran(&format!("{skill} {trial:?}")),
        Step::Judge { candidate, trial, .. } => judged(run, score(nth(run, *candidate), trial.era), &[]),
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        _ => Ok(Answer::Promoted),
    }
}

/// Answers one step after the other until the run satisfies the condition.
fn go_until(drive: &mut Drive, score: impl Fn(usize, u32) -> usize, is_there: impl Fn(&Run) -> bool) {
    while !is_there(&drive.run) {
        let step = drive.due(1).pop().expect("it does not end before that");
        let outcome = answer(&drive.run, &step, &score);
        drive.done(step, outcome);
    }
}

fn go_to_the_end(drive: &mut Drive, score: impl Fn(usize, u32) -> usize) {
    drive.finish_alone(|run, step| answer(run, step, &score));
}

#[test]
fn a_round_that_is_half_measured_is_measured_anew_as_a_whole() {
    for role in [Role::EXECUTOR, Role::EVALUATOR] {
        let score = |_: usize, era: u32| if era == 0 { 90 } else { 40 };
        let mut drive = Drive::start(plan(1, 3));
        go_until(&mut drive, score, |run| run.state.measure.settled() == 2);
        recast(&mut drive, &role);
        assert_eq!(drive.run.state.measure.settled(), 0);
        let eras: Vec<u32> = drive.due(9).iter().filter_map(trial).map(|trial| trial.era).collect();
        assert_eq!(eras, [1; 3]);
        go_until(&mut drive, score, |run| {
            run.state.rounds[0].measured.is_some() || run.state.measure.is_settled()
        });
        drive.due(1);
        assert_eq!(drive.run.state.rounds[0].score(), Some(points(40.0)), "{role:?}");
    }
}

#[test]
fn another_improver_changes_no_measurement() {
    let mut drive = Drive::start(plan(1, 3));
    go_until(&mut drive, |_, _| 50, |run| run.state.measure.settled() == 2);
    let before = drive.run.state.clone();
    recast(&mut drive, &Role::IMPROVER);
    assert_eq!(drive.run.state, before);
    assert_eq!(drive.run.recasts[0].parts, ["program /a"]);
}

#[test]
fn a_draft_is_neither_dropped_nor_praised_for_the_score_of_another_judge() {
    // The new judge gives fifty points less, and scores each draft a little better than the one before it.
    let score = |nth: usize, era: u32| if era == 0 { 80 } else { 30 + 2 * nth };
    let mut drive = Drive::start(plan(1, 2));
    go_until(&mut drive, score, |run| {
        run.state.rounds.len() == 1 && run.state.rounds[0].edit.is_some() || run.state.measure.is_settled()
    });
    drive.due(1);
    recast(&mut drive, &Role::EVALUATOR);
    go_to_the_end(&mut drive, score);
    let run = &drive.run;
    let results: Vec<_> = run.state.rounds.iter().map(|round| (round.era, round.result.clone())).collect();
    assert!(results.len() > 2 && results[1..].iter().all(|(era, _)| *era == 1), "{results:?}");
    assert!(results.iter().all(|(_, result)| *result == Some(RoundResult::Kept)), "{results:?}");
    let shipment = run.state.shipment.as_ref().unwrap();
    assert_eq!(shipment.verdict, Verdict::Won, "all were tried afresh, and the best draft beat the start");
    assert_eq!(run.initial_score(), Some(points(30.0)), "the start's old score is not beside it");
}

#[test]
fn the_final_comparison_begins_anew_and_no_pair_has_a_trial_of_before() {
    let score = |nth: usize, era: u32| [[50, 70, 65], [50, 60, 80]][era as usize][nth.min(2)];
    let mut plan = plan(1, 2);
    plan.task.rules.max_iterations = 3;
    let mut drive = Drive::start(plan);
    go_until(&mut drive, score, |run| {
        run.state.measure.contestants.len() == 2 && run.state.measure.settled() == 3
    });
    recast(&mut drive, &Role::EXECUTOR);
    assert_eq!(drive.run.state.measure.settled(), 0);
    go_to_the_end(&mut drive, score);
    let compared =
        drive.decisions().into_iter().filter(|decision| matches!(decision, Decision::Compare { .. }));
    assert_eq!(compared.count(), 1, "the same contestants");
    let shipment = drive.run.state.shipment.as_ref().unwrap();
    let scores: Vec<_> = shipment.scores.iter().map(|(_, score)| score.unwrap().points()).collect();
    assert_eq!(scores, [50.0, 60.0], "not one of the era before");
}

proptest! {
    #[test]
    fn with_changes_anywhere_the_fold_is_the_live_state_and_no_comparison_mixes_eras(
        members in 1_usize..=2, scenarios in 1_usize..=6, confirm in 1_u32..=2, world: u64,
        order in vec_of_picks(), changes in prop::collection::btree_map(1_usize..60, 0_usize..3, 0..4),
    ) {
        let mut plan = plan(members, scenarios);
        plan.task.rules.confirm = confirm;
        let mut live = Drive::start(plan);
        let mut fold = Run::begin(&reread(&live.records[0])).unwrap();
        let (mut folded, mut turn) = (1, 0);
        let mut pick = picker(order);
        loop {
            turn += 1;
            if let Some(role) = changes.get(&turn).filter(|_| live.run.state.shipment.is_none()) {
                recast(&mut live, &Tune::ROLES[*role].role);
            }
            let steps = live.due(4);
            for record in &live.records[folded..] {
                fold.apply(&reread(record));
            }
            folded = live.records.len();
            prop_assert_eq!(&fold, &live.run);
            let eras: HashSet<u32> = steps.iter().filter_map(trial).map(|trial| trial.era).collect();
            prop_assert!(eras.iter().all(|era| *era == live.run.state.era), "{:?}", steps);
            if steps.is_empty() {
                break;
            }
            let step = steps[pick(steps.len())].clone();
            let outcome = random_answer(world, &live.run, &step);
            live.done(step, outcome);
        }
        prop_assert!(live.run.state.closed.is_some());
    }
}
