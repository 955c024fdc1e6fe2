//! Properties of every history, on which everything else relies.

use proptest::prelude::*;
use proptest::sample::Index;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::results::state_file;
use skilltune_phases::loops::tune::{Apply, Decision, Ending, Plan, Run, Step, Tune};
use skilltune_phases::runs::proposal::Form;

use crate::drive::assert_fold_is_live;
use crate::pairs::{
    assert_any_order_ends_the_same, assert_ceilings_change_nothing, assert_ends_the_same,
    assert_outages_change_nothing,
};
use crate::world::{Drive, demanding, plan, random_answer, random_answer_at};

pub(crate) fn any_plan() -> impl Strategy<Value = Plan> {
    let apply = prop_oneof![
        Just(Apply::Auto),
        Just(Apply::Unattended),
        Just(Apply::Ask),
        Just(Apply::Never),
        Just(Apply::Propose(Form::Branch))
    ];
    let demands = (any::<bool>(), 0_usize..=7);
    (1_usize..=3, 1_usize..=8, any::<u64>(), 1_u32..=8, 1_u32..=2, apply, demands).prop_map(
        |(members, scenarios, seed, rounds, confirm, apply, (demands, held_out))| {
            let mut plan = plan(members, scenarios);
            if demands {
                plan = demanding(plan);
            }
            for scenario in plan.task.scenarios.iter_mut().skip(1).take(held_out) {
                scenario.held_out = true;
            }
            plan.seed = seed;
            plan.task.rules.max_iterations = rounds;
            plan.task.rules.confirm = confirm;
            plan.task.apply = apply;
            plan
        },
    )
}

proptest! {
    #[test]
    fn the_fold_of_every_prefix_is_the_live_state(plan in any_plan(), world: u64, order in vec_of_picks()) {
        assert_fold_is_live(plan, order, state_file::text, |run, step| random_answer(world, run, step));
    }

    #[test]
    fn the_same_answers_give_the_same_run_in_any_order_at_any_number_of_jobs(
        plan in any_plan(), world: u64, jobs in 2_usize..9, order in vec_of_picks(),
    ) {
        let [alone, crowded] =
            assert_any_order_ends_the_same(&plan, (jobs, order), |run, step| random_answer(world, run, step));
        prop_assert_eq!(alone.run.outcome(), crowded.run.outcome());
    }

    #[test]
    fn a_run_ends_through_outages_as_it_would_have_without_any(
        plan in any_plan(), world: u64, weather: u64, jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        let answer = |run: &Run, step: &Step, own| random_answer_at(world, run, step, own);
        let [calm, stormy] = assert_outages_change_nothing(&plan, weather, (jobs, order), answer);
        prop_assert_eq!(calm.run.ledger.total().ms, stormy.run.ledger.total().ms);
    }

    #[test]
    fn a_run_goes_on_from_every_ceiling_to_the_end_that_it_would_have_had_without_one(
        plan in any_plan(), world: u64, ceilings in any_ceilings(), jobs in 1_usize..5, order in vec_of_picks(),
    ) {
        let answer = |run: &Run, step: &Step| random_answer(world, run, step);
        let [free, bounded] = assert_ceilings_change_nothing(&plan, ceilings, (jobs, order), answer);
        prop_assert_eq!(&free.run.ledger, &bounded.run.ledger);
    }

    #[test]
    fn a_run_taken_up_at_any_record_ends_as_it_would_have(plan in any_plan(), world: u64, cut: Index) {
        assert_ends_the_same(plan, cut, |run, step| random_answer(world, run, step));
    }

    #[test]
    fn every_run_ends_and_ships_only_what_beat_the_start(plan in any_plan(), world: u64) {
        let mut drive = Drive::start(plan);
        drive.finish(3, |_| 0, |run, step| random_answer(world, run, step));
        let run = &drive.run;
        prop_assert!(run.state.closed.is_some() && run.state.stopped.is_some());
        let most = Tune::most_calls(&run.plan);
        for (role, account) in run.ledger.iter() {
            prop_assert!(u64::from(account.calls) <= *most.of(role), "{}", role);
        }
        prop_assert!(run.round_number() <= run.plan.task.rules.max_iterations);
        if run.state.closed == Some(Ending::Applied) {
            prop_assert!(run.final_score() > run.initial_score());
        }
        let decisions = drive.decisions();
        let promotions = decisions.into_iter().filter(|decision| matches!(decision, Decision::Ship(_)));
        prop_assert_eq!(promotions.count(), 1);
    }
}

pub(crate) fn any_ceilings() -> impl Strategy<Value = Ceilings> {
    let some = prop::option::weighted::<std::ops::Range<u32>>;
    (some(0.5, 0..20), some(0.5, 0..2000), some(0.5, 0..20), some(0.5, 0..2)).prop_map(
        |(usd, tokens, calls, minutes)| Ceilings {
            usd: usd.map(|usd| f64::from(usd) / 2.0),
            tokens: tokens.map(Into::into),
            calls: calls.map(Into::into),
            minutes: minutes.map(Into::into),
            ..Ceilings::default()
        },
    )
}

pub(crate) fn vec_of_picks() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..16, 1..40)
}
