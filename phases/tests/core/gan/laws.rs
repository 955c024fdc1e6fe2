//! Properties of every history of `gan`.

use proptest::prelude::*;
use proptest::sample::Index;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::gan::course::{Ending, Who};
use skilltune_phases::loops::gan::rules::Rules;
use skilltune_phases::loops::gan::{Answer, Event, Gan, Level, Plan, Run, Step, projection};

use super::world::{Drive, Outcome, at, into_folder, points, random_answer, random_answer_at, with_browser};
use crate::drive::assert_fold_is_live;
use crate::laws::{any_ceilings, vec_of_picks};
use crate::pairs::{
    assert_any_order_ends_the_same, assert_ceilings_change_nothing, assert_ends_the_same,
    assert_goes_on_later, assert_outages_change_nothing,
};

fn any_plan() -> impl Strategy<Value = Plan> {
    let levels = prop::sample::select(vec![
        (Level::Minimal, false),
        (Level::Standard, false),
        (Level::Standard, true),
        (Level::Thorough, true),
    ]);
    let counts = (1_u32..=6, 1_u32..=4, 1_u32..=3, 0_usize..=3, 0_u32..=2);
    let scores = (60_u32..=100, 0_u32..=30, 0_u32..=100);
    let places = (any::<bool>(), any::<bool>());
    (levels, any::<u64>(), counts, scores, prop::option::weighted(0.3, 1_u32..=3), places).prop_map(
        |((level, is_negotiated), seed, counts, (threshold, gain, cap), strict, (is_seen, is_taken))| {
            let mut plan = at(level, is_negotiated);
            let (max_rounds, escalate_after, standstill, negotiation_rounds, retries) = counts;
            let rules = Rules {
                threshold: points(threshold),
                gain: points(gain),
                cap: points(cap),
                strict: strict.is_some(),
                strict_rounds: strict.unwrap_or(2),
                max_rounds: max_rounds.max(strict.unwrap_or(1)),
                escalate_after,
                standstill,
                negotiation_rounds,
                ..plan.task.rules
            };
            plan.task.rules = rules.checked().expect("such rules can be kept");
            (plan.task.retries, plan.seed) = (retries, seed);
            plan = if is_seen { with_browser(plan) } else { plan };
            if is_taken { into_folder(plan) } else { plan }
        },
    )
}

/// Raises the ceiling of calls, because a person can ask for more rounds.
fn with_persons(plan: Plan) -> Plan {
    Plan { ceilings: Ceilings { calls: Some(10_000), ..Ceilings::default() }, ..plan }
}

/// Renders the run as the original's files.
fn files(run: &Run) -> Vec<String> {
    let sprints = run.state.sprints.iter().map(|sprint| projection::sprint(run, sprint));
    let rounds = (1..).zip(&run.state.course.rounds);
    let reports = rounds.map(|(number, round)| projection::report(run, number, round));
    std::iter::once(projection::state(run)).chain(sprints).chain(reports).collect()
}

/// Answers the same, but with no person for questions.
fn unattended(seed: u64, run: &Run, step: &Step) -> Outcome {
    match step {
        Step::Ask { hold, .. } => Ok(Answer::Chosen { choice: run.unattended(*hold), by: Who::Default }),
        _ => random_answer(seed, run, step),
    }
}

proptest! {
    #[test]
    fn the_fold_of_every_prefix_is_the_live_state_and_tells_the_same_files(
        plan in any_plan(), world: u64, order in vec_of_picks(),
    ) {
        assert_fold_is_live(plan, order, files, |run, step| random_answer(world, run, step));
    }

    #[test]
    fn the_same_answers_give_the_same_run_in_any_order_at_any_number_of_jobs(
        plan in any_plan(), world: u64, jobs in 2_usize..9, order in vec_of_picks(),
    ) {
        let plan = with_persons(plan);
        let [alone, crowded] =
            assert_any_order_ends_the_same(&plan, (jobs, order), |run, step| random_answer(world, run, step));
        prop_assert_eq!(alone.run.result(), crowded.run.result());
    }

    #[test]
    fn a_run_goes_on_from_every_ceiling_to_the_end_that_it_would_have_had_without_one(
        plan in any_plan(), world: u64, ceilings in any_ceilings(), jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        assert_ceilings_change_nothing(&plan, ceilings, (jobs, order), |run, step| unattended(world, run, step));
    }

    #[test]
    fn a_run_ends_through_outages_as_it_would_have_without_any(
        plan in any_plan(), world: u64, weather: u64, jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        let answer = |run: &Run, step: &Step, own| random_answer_at(world, run, step, own);
        assert_outages_change_nothing(&with_persons(plan), weather, (jobs, order), answer);
    }

    #[test]
    fn a_run_taken_up_at_any_record_ends_as_it_would_have(plan in any_plan(), world: u64, cut: Index) {
        let whole = assert_ends_the_same(with_persons(plan), cut, |run, step| random_answer(world, run, step));
        assert_goes_on_later(&whole, cut, |run, step| random_answer(world, run, step));
    }

    #[test]
    fn an_unattended_run_ends_within_its_rounds_and_its_calls(
        plan in any_plan(), world: u64, jobs in 1_usize..4,
    ) {
        let mut drive = Drive::start(plan);
        drive.finish(jobs, |_| 0, |run, step| unattended(world, run, step));
        let run = &drive.run;
        let end = run.state.end.as_ref().map(|end| end.ending);
        prop_assert!(run.closed_at.is_some() && end.is_some());
        let most = Gan::most_calls(&run.plan);
        for (role, account) in run.ledger.iter() {
            prop_assert!(u64::from(account.calls) <= *most.of(role), "{}", role);
        }
        prop_assert!(run.state.sprints.len() <= run.plan.task.rules.max_rounds as usize);
        let is_one_of_ours = matches!(end, Some(Ending::Reached | Ending::Kept(_) | Ending::Failed));
        prop_assert!(is_one_of_ours, "{:?}", end);
        let last = run.state.course.rounds.last();
        let has_passed = last.is_some_and(|round| run.blocks(round).is_empty());
        prop_assert_eq!(end == Some(Ending::Reached), has_passed && end != Some(Ending::Failed));
        let is_promoted = end == Some(Ending::Reached) && run.plan.task.into.is_some();
        prop_assert_eq!(run.handed_over().is_some(), is_promoted);
    }

    #[test]
    fn only_the_best_judged_artifact_is_promoted(plan in any_plan(), world: u64) {
        let mut drive = Drive::start(with_persons(plan));
        drive.finish_alone(|run, step| random_answer(world, run, step));
        let run = &drive.run;
        let promotes = |event: &Event| match event {
            Event::Done(done) => match done.step {
                Step::Promote { artifact } => Some(artifact),
                _ => None,
            },
            _ => None,
        };
        let promoted: Vec<_> = drive.records.iter().filter_map(|record| promotes(&record.event)).collect();
        prop_assert!(promoted.len() <= 1);
        if let [artifact] = promoted[..] {
            prop_assert!(run.plan.task.into.is_some());
            prop_assert_eq!(run.best().map(|best| best.artifact), Some(artifact));
            let end = run.state.end.as_ref().map(|end| end.ending);
            prop_assert!(matches!(end, Some(Ending::Reached | Ending::Forced | Ending::Accepted)), "{:?}", end);
        }
    }
}

#[test]
fn the_worlds_of_these_laws_know_every_ending() {
    let mut known = std::collections::HashSet::new();
    for world in 0..300_u32 {
        let mut plan = at(Level::Thorough, world % 2 == 0);
        let rules = &mut plan.task.rules;
        (rules.max_rounds, rules.escalate_after, rules.standstill) =
            (1 + world % 5, 1 + world % 4, 1 + world % 3);
        let mut drive = Drive::start(with_persons(plan));
        drive.finish_alone(|run, step| random_answer(world.into(), run, step));
        known.extend(drive.run.state.end.map(|end| format!("{:?}", end.ending)));
    }
    let mut known: Vec<_> = known.into_iter().collect();
    known.sort();
    insta::assert_snapshot!(known.join(", "), @"Aborted, Accepted, Failed, Forced, Kept(Exhausted), Kept(Stagnation), Reached");
}
