use super::agents::Product;
use super::world::World;
use super::*;
use crate::contract::Verdict;
use crate::proof::Confidence;

fn played(law: Law, policy: Policy, runs: u32, seeds: u64) -> Vec<Played> {
    (0..seeds).map(|seed| play(&World::new(law, seed), policy, runs, Confidence::P90)).collect()
}

fn row(law: Law, policy: Policy, runs: u32, seeds: u64) -> Row {
    Row::of(&played(law, policy, runs, seeds)).unwrap()
}

#[test]
fn the_same_seeds_give_the_same_and_others_do_not() {
    for policy in Policy::ALL {
        let once = played(Law::default(), policy, 32, 5);
        assert_eq!(once, played(Law::default(), policy, 32, 5), "{}", policy.name());
        assert!(once.iter().any(|one| one.end.to_bits() != once[0].end.to_bits()), "{}", policy.name());
    }
}

#[test]
fn a_useless_improver_ships_no_more_often_than_the_confidence_allows() {
    let useless = Law { fixes: 0.0, breaks: 0.0, ..Law::default() };
    let row = row(useless, Policy::Rounds, 32, 300);
    assert!(row.shipped <= 0.1 + 2.0 * (0.1_f64 * 0.9 / 300.0).sqrt(), "{row:?}");
    assert!((row.quality.mean - row.start).abs() < 1e-9 && row.worse == 0.0, "{row:?}");
}

#[test]
fn a_better_improver_leaves_a_better_skill() {
    for policy in Policy::ALL {
        let quality = |fixes| row(Law { fixes, ..Law::default() }, policy, 64, 60).quality;
        let (poor, good) = (quality(0.1), quality(0.9));
        assert!(good.mean > poor.mean + 2.0 * (good.error + poor.error), "{}", policy.name());
    }
}

#[test]
fn fixes_that_hold_on_one_scenario_are_worth_nothing() {
    let overfitted = Law { overfits: 1.0, breaks: 0.0, ..Law::default() };
    let row = row(overfitted, Policy::Original, 64, 20);
    assert!((row.quality.mean - row.start).abs() < 1e-9, "{row:?}");
    assert!(row.claimed_minus_true.unwrap().mean > 5.0, "it looks better all the same: {row:?}");
}

#[test]
fn whoever_keeps_the_highest_single_score_claims_far_too_much() {
    let excess = row(Law::default(), Policy::KeepBest, 32, 60).claimed_minus_true.unwrap();
    assert!(excess.mean > 20.0, "{excess:?}");
}

#[test]
fn no_policy_spends_more_than_its_budget() {
    for policy in Policy::ALL {
        for (runs, pool) in [(12, 6), (16, 24), (33, 12), (100, 6)] {
            let law = Law { pool, ..Law::default() };
            let most = played(law, policy, runs, 20).iter().map(|one| one.runs).max().unwrap();
            // A winner that falls far on a scenario is tried there again, three times as both versions.
            let is_tested = matches!(policy, Policy::Rounds | Policy::Draft);
            let again = if is_tested { 6 * u32::try_from(pool).unwrap() } else { 0 };
            assert!(most <= runs + again, "{} used {most} of {runs}", policy.name());
        }
    }
}

/// The share of statements that a judge fails, where all facets are shown or none.
fn fails(law: Law, is_shown: bool) -> f64 {
    let world = World::new(law, 1);
    let shown = if is_shown { (0..Law::FACETS).collect() } else { [].into_iter().collect() };
    let product = Product { id: world.start.version(), scenario: 0, shown };
    let verdicts: Vec<Verdict> =
        (0..4000).flat_map(|nth| agents::judge(&world, &product, nth)).map(|(_, one)| one).collect();
    let (failed, all) = verdicts.iter().fold((0.0, 0.0), |(failed, all), one| {
        (failed + if *one == Verdict::Fail { 1.0 } else { 0.0 }, all + 1.0)
    });
    failed / all
}

#[test]
fn a_judge_errs_as_often_as_the_law_says() {
    let exact = Law { noise: 0.0, leniency: 0.0, ..Law::default() };
    assert!((fails(exact, false) - 0.85).abs() < 0.01 && (fails(exact, true) - 0.05).abs() < 0.01);
    let lenient = Law { leniency: 6.0, noise: 8.0, ..exact };
    assert!((fails(lenient, false) - 0.79).abs() < 0.015, "{}", fails(lenient, false));
}

#[test]
fn of_nothing_there_is_no_row() {
    assert_eq!(Row::of(&[]), None);
}
