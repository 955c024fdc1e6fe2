//! A search by drafts whose edits fail: what it edits next, with which improver, and when it gives up.

use std::cell::RefCell;
use std::collections::BTreeSet;

use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::CriterionId;
use skilltune_phases::judging::stop::Reason;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::results::state_file;
use skilltune_phases::loops::tune::{
    Decision, Event, Improver, Outcome, Plan, Run, Search, Step, Tune, Verdict,
};
use skilltune_phases::runs::event::FailureKind;

use crate::drafting::{FACETS, GOOD, Skills, answer, executed, suite};
use crate::drive::assert_fold_is_live;
use crate::turns::with_two;
use crate::world::{Drive, failed, random_answer};

/// The start misses everything and is tried on all scenarios of the search at once.
fn tried_at_once() -> Plan {
    suite(12, 64)
}

/// Plays a search whose improver fails with the kind that `fails` returns.
fn play(plan: Plan, has: usize, fails: impl Fn(&Step) -> Option<FailureKind>) -> (Drive, Skills) {
    let (seed, skills) = (plan.seed, Skills::new(&plan, has));
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match fails(step) {
        Some(kind) => failed(kind),
        None => answer(seed, 0.0, GOOD, &skills, run, step),
    });
    (drive, skills)
}

fn targets(drive: &Drive) -> Vec<BTreeSet<CriterionId>> {
    let targets = drive.decisions().into_iter().filter_map(|one| match one {
        Decision::Target { criteria, .. } => Some(criteria.iter().cloned().collect()),
        _ => None,
    });
    targets.collect()
}

/// Returns the improver of each edit, without retries.
fn asked(drive: &Drive) -> Vec<Improver> {
    let asked = drive.records.iter().filter_map(|record| match &record.event {
        Event::Done(done) if done.attempt == 0 => match done.step {
            Step::Improve { by, .. } => Some(by),
            _ => None,
        },
        _ => None,
    });
    asked.collect()
}

#[test]
fn a_failed_edit_is_followed_by_the_next_faults_and_the_search_goes_on() {
    for kind in [FailureKind::Crashed, FailureKind::OffSchema, FailureKind::Refused, FailureKind::Gate] {
        let first = |step: &Step| matches!(step, Step::Improve { round: 1, failed: 0, .. }).then_some(kind);
        let (drive, skills) = play(tried_at_once(), 0, first);
        let shipment = drive.run.state.shipment.as_ref().unwrap();
        assert_eq!((shipment.verdict, drive.run.state.rounds[0].failed_edits.len()), (Verdict::Won, 1));
        assert_eq!(skills.of(&drive.run, shipment.champion), [true; FACETS], "{kind:?}");
        let targets = targets(&drive);
        assert_eq!((targets[0].len(), targets[1].len()), (6, FACETS - 6), "{targets:?}");
        assert!(targets[0].is_disjoint(&targets[1]), "{targets:?}");
    }
}

#[test]
fn after_as_many_failed_edits_in_a_row_as_are_allowed_the_search_ends_and_says_why() {
    let cases = [(FailureKind::Crashed, Reason::Failed), (FailureKind::Gate, Reason::Refused)];
    for (kind, reason) in cases {
        let (drive, _) =
            play(tried_at_once(), 0, |step| matches!(step, Step::Improve { .. }).then_some(kind));
        let state = &drive.run.state;
        assert_eq!((state.stopped, state.candidates.len()), (Some(reason), 1));
        assert_eq!((state.rounds.len(), state.rounds[0].failed_edits.len()), (1, 3));
        assert_eq!(state.shipment.as_ref().unwrap().verdict, Verdict::Unchallenged);
        assert_eq!(executed(&drive, false), state.rounds[0].scenarios.len(), "no run is spent on it");
        let targets = targets(&drive);
        assert_eq!(targets.iter().map(BTreeSet::len).collect::<Vec<_>>(), [6, 2, 6], "the first ones again");
        assert_eq!(targets[0], targets[2]);
    }
}

#[test]
fn a_draft_between_failed_edits_begins_the_count_anew() {
    let mut plan = tried_at_once();
    plan.task.rules.max_errors = 2;
    // Every second edit fails, starting with the first.
    let edits: RefCell<Vec<(u32, usize)>> = RefCell::default();
    let (drive, _) = play(plan, 0, |step| {
        let Step::Improve { round, failed, .. } = *step else { return None };
        let mut edits = edits.borrow_mut();
        if !edits.contains(&(round, failed)) {
            edits.push((round, failed));
        }
        let nth = edits.iter().position(|edit| *edit == (round, failed)).unwrap();
        (nth % 2 == 0).then_some(FailureKind::Crashed)
    });
    assert_eq!(drive.run.state.stopped, Some(Reason::Finished));
    assert!(drive.run.state.rounds.iter().map(|round| round.failed_edits.len()).sum::<usize>() >= 2);
}

/// All faults are in one set; the trial of another scenario brings the next one.
#[test]
fn where_a_trial_names_no_other_faults_another_scenario_is_tried_before_the_same_ones_are_edited_again() {
    let mut plan = suite(18, 48);
    plan.task.rules.max_errors = 4;
    let (drive, _) =
        play(plan, 4, |step| matches!(step, Step::Improve { .. }).then_some(FailureKind::Crashed));
    let state = &drive.run.state;
    let searched = drive.run.plan.task.scenarios.iter().filter(|one| !one.held_out).count();
    let failed: Vec<usize> = state.rounds.iter().map(|round| round.failed_edits.len()).collect();
    assert_eq!((failed[0], failed.iter().sum::<usize>()), (1, 4), "{failed:?}");
    assert_eq!(executed(&drive, false), searched, "the start is tried on each scenario once");
    let last = state.rounds.last().unwrap();
    assert_eq!(last.failed_edits.len(), 3, "what earlier rounds have named is edited again: {failed:?}");
    assert_eq!(last.aims().count(), last.targets.as_ref().unwrap().len());
    assert_eq!(state.stopped, Some(Reason::Failed));
}

#[test]
fn of_two_improvers_the_other_one_edits_the_same_faults_first() {
    let fails = |step: &Step| matches!(step, Step::Improve { .. }).then_some(FailureKind::OffSchema);
    let mut plan = with_two(tried_at_once());
    plan.task.rules.max_errors = 4;
    let (drive, _) = play(plan, 0, fails);
    let (first, second) = (Improver::First, Improver::Second);
    assert_eq!(asked(&drive), [first, second, first, second]);
    let targets = targets(&drive);
    assert_eq!((&targets[0], &targets[2]), (&targets[1], &targets[3]));
    assert!(targets[0].is_disjoint(&targets[2]), "{targets:?}");
}

/// Half of the edits fail.
fn unlucky(world: u64, run: &Run, step: &Step) -> Outcome {
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    let roll = key.iter().fold(world, |sum, byte| sum * 31 % 1009 + u64::from(*byte));
    match step {
        Step::Improve { .. } if roll % 2 == 0 => {
            failed(if roll % 4 == 0 { FailureKind::Gate } else { FailureKind::Crashed })
        }
        _ => random_answer(world, run, step),
    }
}

#[test]
fn the_fold_of_every_prefix_is_the_live_state_however_edits_fail() {
    for world in 0..12 {
        let mut plan = suite(9, 30);
        if world % 2 == 0 {
            plan = with_two(plan);
        }
        plan.task.rules.search = Search::Draft { runs: 30, drawn: world % 3 == 0, tests: 0 };
        assert_fold_is_live(plan, vec![3, 1, 2], state_file::text, |run, step| unlucky(world, run, step));
    }
}

#[test]
fn no_search_makes_more_calls_than_were_named_however_edits_fail() {
    let mut failed = 0;
    for world in 0..30 {
        let mut plan = suite(12, 40);
        plan.draft_with(40, world % 2 == 0);
        let mut drive = Drive::start(plan);
        drive.finish_alone(|run, step| unlucky(world, run, step));
        failed += drive.run.state.rounds.iter().map(|round| round.failed_edits.len()).sum::<usize>();
        let most = Tune::most_calls(&drive.run.plan);
        for role in [Role::EXECUTOR, Role::EVALUATOR, Role::IMPROVER] {
            let made = u64::from(drive.run.ledger.of(&role).calls);
            assert!(made <= *most.of(&role), "world {world}: {made} of {most:?}");
        }
    }
    assert!(failed > 60, "{failed} edits failed");
}
