//! Repeated trials of one version, to show what its suite can detect.

use skilltune_phases::base::ending::Class;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::aims::calibrate::{self, Calibration, Visible};
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::results::{state_file, trials};
use skilltune_phases::loops::tune::{Aim, Outcome, Plan, Run, Step, Tune};
use skilltune_phases::runs::event::FailureKind;

use crate::drive::{assert_fold_is_live, picker};
use crate::world::{Drive, failed, judged, plan, random_answer, well};

/// Plans twelve scenarios, of which the last five are held out.
fn of(trials: u32) -> Plan {
    let mut plan = plan(1, 12);
    plan.task.aim = Aim::Calibrate { trials };
    for scenario in &mut plan.task.scenarios[7..] {
        scenario.held_out = true;
    }
    plan
}

/// The first two scenarios have constant scores, the third flips, the others vary a little.
fn wavering(run: &Run, step: &Step) -> Outcome {
    let Step::Judge { trial, .. } = step else { return well(run, step, 0) };
    let is_odd = trial.ordinal % 2 == 1;
    let score = match (trial.scenario, is_odd) {
        (0, _) | (2, true) => 0,
        (1, _) | (2, false) => 100,
        (_, false) => 48,
        (_, true) => 52,
    };
    judged(run, score, &[])
}

fn finished(plan: Plan, answer: impl Fn(&Run, &Step) -> Outcome) -> (Drive, Calibration) {
    let mut drive = Drive::start(plan);
    drive.finish_alone(answer);
    let shown = calibrate::of(&drive.run).expect("it calibrates");
    (drive, shown)
}

fn visible(plan: Plan, answer: impl Fn(&Run, &Step) -> Outcome) -> Visible {
    finished(plan, answer).1.visible.expect("it is at its end")
}

#[test]
fn all_scenarios_are_tried_with_the_skill_as_it_is_and_nothing_else_is_asked_for() {
    let (mut scenarios, mut others) = (Vec::new(), Vec::new());
    let mut drive = Drive::start(of(3));
    drive.finish_alone(|run, step| {
        match step {
            Step::Exercise { skill, trial, .. } => {
                assert_eq!(*skill, run.state.candidates[0].trees[0]);
                scenarios.push(trial.scenario);
            }
            Step::Judge { .. } => {}
            other => others.push(other.clone()),
        }
        wavering(run, step)
    });
    scenarios.sort_unstable();
    let each: Vec<usize> = (0..12).flat_map(|scenario| [scenario; 3]).collect();
    assert_eq!((scenarios, others), (each, Vec::new()));
    let run = &drive.run;
    assert_eq!(
        (run.class(), run.outcome(), run.state.candidates.len()),
        (Class::Reached, RunOutcome::Exercised, 1)
    );
    assert_eq!(trials::judged_trials(run).len(), 36, "they show what a suite asks of the skill");
}

#[test]
fn what_its_trials_show_is_told_of_the_search_that_may_follow() {
    let shown = visible(of(4), wavering);
    let noise = shown.noise.expect("each scenario has four trials");
    assert_eq!((noise.always_zero, noise.always_full, noise.flickering), (vec![0], vec![1], vec![2]));
    assert!(noise.deviation > 10.0 && noise.upper > noise.deviation, "{}", noise.deviation);
    assert_eq!((shown.comparison.pairs, shown.comparison.trials), (5, 1));
    let smallest = shown.comparison.smallest.expect("it is below the headroom");
    let better = shown.better.expect("half of it would matter");
    assert!((better.points - smallest / 2.0).abs() < 1e-9 && smallest < shown.comparison.headroom);
    assert!(better.pairs.is_some_and(|pairs| pairs > 5) && better.trials.is_some_and(|trials| trials > 1));
}

#[test]
fn without_noise_the_finest_change_is_visible_and_nothing_is_to_be_added() {
    let shown = visible(of(2), |run, step| match step {
        Step::Judge { .. } => judged(run, 50, &[]),
        _ => well(run, step, 0),
    });
    assert!(shown.comparison.smallest.is_some_and(|points| points < calibrate::FINEST), "{shown:?}");
    assert_eq!(shown.better, None);
}

#[test]
fn too_few_scenarios_show_nothing_and_say_how_many_would() {
    let mut plan = of(2);
    plan.task.scenarios.truncate(3);
    let shown = visible(plan, |run, step| match step {
        Step::Judge { trial, .. } => judged(run, 45 + 10 * (trial.ordinal as usize % 2), &[]),
        _ => well(run, step, 0),
    });
    assert_eq!((shown.comparison.pairs, shown.comparison.smallest), (0, None));
    let better = shown.better.unwrap();
    assert!(
        better.pairs.is_some_and(|pairs| (4..10).contains(&pairs)) && better.trials.is_none(),
        "{better:?}"
    );
}

#[test]
fn a_search_is_priced_by_the_calls_of_the_run() {
    let (drive, shown) = finished(of(2), wavering);
    let mut search = drive.run.plan.as_ref().clone();
    search.task.aim = Aim::Improve;
    let most: u64 = Tune::most_calls(&search).values().sum();
    let calls: u64 = shown.search.calls.values().sum();
    let dollars = f64::from(u32::try_from(calls).unwrap()) / 2.0;
    assert_eq!(most, 2 * calls, "each may be tried twice");
    assert!(shown.search.calls.of(&Role::IMPROVER) > &0);
    // Each call costs half a dollar and a second.
    assert_eq!((shown.search.usd, shown.search.ms), (Some(dollars), Some(1000 * calls)));
    let nothing = calibrate::of(&Drive::start(of(2)).run).unwrap();
    assert_eq!((nothing.visible, nothing.search.usd, nothing.search.ms), (None, None, None));
    assert_eq!(calibrate::of(&Drive::start(plan(1, 1)).run), None);
}

#[test]
fn a_run_that_could_judge_too_little_says_so() {
    let (drive, shown) = finished(of(2), |run, step| match step {
        Step::Judge { trial, .. } if trial.scenario < 4 => failed(FailureKind::OffSchema),
        _ => wavering(run, step),
    });
    assert_eq!(drive.run.class(), Class::Unjudged);
    assert_eq!(shown.scores.iter().filter(|scores| scores.is_empty()).count(), 4);
}

#[test]
fn the_same_answers_show_the_same_in_any_order_and_the_fold_is_the_live_state() {
    for world in 0..10 {
        let answer = |run: &Run, step: &Step| random_answer(world, run, step);
        let mut alone = Drive::start(of(2));
        alone.finish_alone(answer);
        let mut crowded = Drive::start(of(2));
        crowded.finish(4, picker(vec![3, 1, 2]), answer);
        assert_eq!(alone.decisions(), crowded.decisions());
        assert_eq!(calibrate::of(&alone.run), calibrate::of(&crowded.run));
        assert_fold_is_live(of(2), vec![2, 0, 1], state_file::text, answer);
    }
}
