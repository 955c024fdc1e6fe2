//! Properties of every history of `reflex`.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use proptest::sample::Index;
use skilltune_phases::judging::stop::Stall;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::verdict::no_major_issues;
use skilltune_phases::loops::reflex::{
    Answer, Decision, Event, Judged, Plan, Reason, Reflex, Run, Step, projection,
};
use skilltune_phases::suites::checks::RunThem;

use super::world::{Drive, plan, prompt, random_answer, random_answer_at};
use crate::drive::{assert_fold_is_live, picker};
use crate::laws::{any_ceilings, vec_of_picks};
use crate::pairs::{
    assert_ceilings_change_nothing, assert_ends_the_same, assert_goes_on_later, assert_outages_change_nothing,
};

fn any_plan() -> impl Strategy<Value = Plan> {
    let template = prop::sample::select(Template::ALL.to_vec());
    let commands = prop::sample::select(vec![RunThem::Always, RunThem::Ask, RunThem::Never]);
    let stall = (1_usize..=6, 0_u8..=5, any::<bool>());
    let limits = (0_u32..=9, 0_u32..=3, 0_u32..=2);
    let seconds = prop::option::weighted(0.2, 5_u64..60);
    (template, any::<u64>(), limits, stall, seconds, commands).prop_map(
        |(template, seed, limits, (window, gain, reaching), seconds, commands)| {
            let mut plan = plan(template);
            let rules = &mut plan.task.rules;
            (rules.max_iterations, rules.settle, rules.retries) = limits;
            rules.stall = Stall { window, gain: gain.into(), reaching };
            rules.max_seconds = seconds;
            (plan.seed, plan.task.commands.run) = (seed, commands);
            plan
        },
    )
}

/// Renders the run as the original's files.
fn files(run: &Run) -> [String; 3] {
    [projection::run_file(run), projection::history(run), projection::current(run).unwrap_or_default()]
}

proptest! {
    #[test]
    fn the_fold_of_every_prefix_is_the_live_state_and_tells_the_same_files(
        plan in any_plan(), world: u64, order in vec_of_picks(),
    ) {
        assert_fold_is_live(plan, order, files, |run, step| random_answer(world, run, step));
    }

    #[test]
    fn the_same_answers_give_the_same_run_and_the_same_prompts_in_any_order_at_any_number_of_jobs(
        plan in any_plan(), world: u64, jobs in 2_usize..9, order in vec_of_picks(),
    ) {
        let mut prompts: [HashMap<(Step, u32), String>; 2] = Default::default();
        let [first, second] = &mut prompts;
        let played = |drive: &mut Drive, jobs, order, prompts: &mut HashMap<_, _>| {
            drive.finish(jobs, picker(order), |run, step| {
                prompts.insert((step.clone(), run.attempts(step)), prompt(run, step));
                random_answer(world, run, step)
            });
        };
        let (mut alone, mut crowded) = (Drive::start(plan.clone()), Drive::start(plan));
        played(&mut alone, 1, vec![0], first);
        played(&mut crowded, jobs, order, second);
        prop_assert_eq!(alone.decisions(), crowded.decisions());
        prop_assert_eq!(alone.run.result(), crowded.run.result());
        prop_assert_eq!(files(&alone.run)[0].len(), files(&crowded.run)[0].len());
        prop_assert!(prompts[0] == prompts[1], "a prompt tells of the order of arrival");
    }

    #[test]
    fn a_run_goes_on_from_every_ceiling_to_the_end_that_it_would_have_had_without_one(
        mut plan in any_plan(), world: u64, ceilings in any_ceilings(), jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        // The time of a phase depends on how many of its calls fit below a ceiling at once.
        plan.task.rules.max_seconds = None;
        let answer = |run: &Run, step: &Step| random_answer(world, run, step);
        let [free, bounded] = assert_ceilings_change_nothing(&plan, ceilings, (jobs, order), answer);
        prop_assert_eq!(&free.run.ledger, &bounded.run.ledger);
    }

    #[test]
    fn a_run_ends_through_outages_as_it_would_have_without_any(
        mut plan in any_plan(), world: u64, weather: u64, jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        // A pause takes time.
        plan.task.rules.max_seconds = None;
        let answer = |run: &Run, step: &Step, own| random_answer_at(world, run, step, own);
        let [calm, stormy] = assert_outages_change_nothing(&plan, weather, (jobs, order), answer);
        prop_assert_eq!(calm.run.state.story.len(), stormy.run.state.story.len());
    }

    #[test]
    fn a_run_taken_up_at_any_record_ends_as_it_would_have(
        plan in any_plan(), world: u64, cut: Index,
    ) {
        let whole = assert_ends_the_same(plan, cut, |run, step| random_answer(world, run, step));
        // Apart from time, nothing depends on when the run was resumed.
        if whole.run.plan.task.rules.max_seconds.is_none() {
            assert_goes_on_later(&whole, cut, |run, step| random_answer(world, run, step));
        }
    }

    #[test]
    fn every_run_ends_within_its_calls_and_leaves_its_best(plan in any_plan(), world: u64, jobs in 1_usize..4) {
        let mut drive = Drive::start(plan);
        drive.finish(jobs, |_| 0, |run, step| random_answer(world, run, step));
        let run = &drive.run;
        let reason = run.state.stop.as_ref().map(|stop| stop.reason);
        prop_assert!(run.closed_at.is_some() && reason.is_some());
        let most = Reflex::most_calls(&run.plan);
        for (role, account) in run.ledger.iter() {
            prop_assert!(u64::from(account.calls) <= *most.of(role), "{}", role);
        }
        prop_assert!(run.state.iteration <= run.plan.task.rules.max_iterations.max(1));

        let best = run.best();
        prop_assert_eq!(run.result(), best.map(|best| &best.artifact).or(run.state.artifact.as_ref()));
        let is_sound = best.is_some_and(|best| {
            best.evaluation.level == Level::B && no_major_issues(&run.plan.task.criteria, &best.evaluation)
        });
        let has_passed = best.is_some_and(|best| best.evaluation.level == Level::B && best.evaluation.passed);
        prop_assert_eq!(reason == Some(Reason::ThresholdReached), has_passed);
        // A sound result is accepted even if a limit is reached; only a failed phase takes precedence.
        let is_taken = matches!(reason, Some(Reason::ThresholdReached | Reason::NoMajorIssues));
        prop_assert_eq!(is_taken, is_sound && reason != Some(Reason::PhaseError), "{:?}", reason);
    }

    #[test]
    fn what_is_written_is_judged_before_it_is_rewritten_and_the_worse_is_dropped(plan in any_plan(), world: u64) {
        let mut drive = Drive::start(plan);
        drive.finish(2, |_| 0, |run, step| random_answer(world, run, step));
        let (mut is_judged, mut current) = (true, None);
        for decision in drive.decisions() {
            match decision {
                // A refinement that changes nothing leaves the judged text.
                Decision::Refined(artifact) if current == Some(&artifact.hash) => prop_assert!(is_judged),
                Decision::Produced { artifact, .. } | Decision::Refined(artifact) => {
                    prop_assert!(is_judged);
                    (is_judged, current) = (false, Some(&artifact.hash));
                }
                Decision::Evaluated(_) => is_judged = true,
                Decision::Drop { hash, best } => {
                    prop_assert_ne!(hash, best);
                    current = Some(best);
                }
                _ => {}
            }
        }
        let judged = &drive.run.state.judged;
        let rank = |judged: &Judged| {
            (no_major_issues(&drive.run.plan.task.criteria, &judged.evaluation), judged.evaluation.score)
        };
        // The search never continues from the last one, nor from one that has passed.
        for (at, last) in judged.iter().enumerate().take(judged.len().saturating_sub(1)) {
            let of_level = |other: &&Judged| other.evaluation.level == last.evaluation.level;
            let was_better = judged[..at].iter().filter(of_level).any(|other| rank(other) > rank(last));
            prop_assert_eq!(last.dropped, was_better && !last.evaluation.passed);
        }
    }

    #[test]
    fn checks_are_prepared_once_a_level_and_frozen_and_nobody_is_asked_twice(plan in any_plan(), world: u64) {
        let mut drive = Drive::start(plan);
        drive.finish(2, |_| 0, |run, step| random_answer(world, run, step));
        let prepared = |level: Level| {
            let is_it = |event: &Event| match event {
                Event::Done(done) => {
                    done.step == Step::Prepare { level } && matches!(done.outcome, Ok(Answer::Prepared(_)))
                }
                _ => false,
            };
            drive.records.iter().filter(|record| is_it(&record.event)).count()
        };
        prop_assert!(Level::ALL.into_iter().all(|level| prepared(level) <= 1));
        let mut frozen = Vec::new();
        let mut fold = Run::begin(&drive.records[0]).unwrap();
        for record in &drive.records[1..] {
            fold.apply(record);
            prop_assert!(fold.state.checks.starts_with(&frozen));
            frozen.clone_from(&fold.state.checks);
        }
    }
}

#[test]
fn the_worlds_of_these_laws_know_every_ending_but_a_persons() {
    let mut known = HashSet::new();
    for world in 0..600_u32 {
        let mut plan = plan(Template::ALL[world as usize % 4]);
        let rules = &mut plan.task.rules;
        (rules.max_iterations, rules.stall.window, rules.settle) =
            (1 + world % 9, 1 + world as usize % 5, world % 3);
        rules.max_seconds = (world % 6 == 0).then_some(12);
        let mut drive = Drive::start(plan);
        drive.finish_alone(|run, step| random_answer(world.into(), run, step));
        known.extend(drive.run.state.stop.map(|stop| stop.reason));
    }
    let unknown = Reason::ALL.into_iter().filter(|reason| !known.contains(reason));
    assert_eq!(unknown.collect::<Vec<_>>(), [Reason::UserStop]);
}
