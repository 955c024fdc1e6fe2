use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::compare::panel;
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{Decision, Improver, Trial, Tune};
use skilltune_worlds::tier::{sample, stride};

use super::agents::Product;
use super::play::Play;
use super::workshop::Workshop;
use super::world::World;
use super::*;

fn played(law: Law, policy: Policy, runs: u32, seeds: usize) -> Vec<Played> {
    (0..seeds as u64).map(|seed| play(&World::new(law, seed), policy, runs, Confidence::P90)).collect()
}

fn row(law: Law, policy: Policy, runs: u32, seeds: usize) -> Row {
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
fn with_an_improver_that_does_harm_a_search_ends_long_before_its_budget() {
    let harmful = Law { fixes: 0.3, breaks: 0.5, ..Law::default() };
    let row = row(harmful, Policy::Draft, 64, 40);
    assert!(row.used < 40.0 && row.quality.mean > row.start - 1.0, "{row:?}");
}

#[test]
fn a_better_improver_leaves_a_better_skill() {
    for policy in sample(Policy::ALL, 2) {
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
            let most = played(law, policy, runs, 20 / stride(4)).iter().map(|one| one.runs).max().unwrap();
            // If a winner scores much lower on a scenario, both versions are tried there three more times.
            let is_tested = matches!(policy, Policy::Rounds | Policy::Draft);
            let again = if is_tested { 6 * u32::try_from(pool).unwrap() } else { 0 };
            assert!(most <= runs + again, "{} used {most} of {runs}", policy.name());
        }
    }
}

/// Returns the share of statements that a judge fails, if all facets are shown or none.
fn fails(law: Law, is_shown: bool) -> f64 {
    let world = World::new(law, 1);
    let shown = if is_shown { (0..Law::FACETS).collect() } else { [].into_iter().collect() };
    let product = Product { id: world.start[0].version(), scenario: 0, shown };
    let verdicts: Vec<Verdict> = (0..4000)
        .flat_map(|nth| agents::judge(&world, std::slice::from_ref(&product), nth))
        .map(|(_, one)| one)
        .collect();
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

fn missed(trial: TrialResult) -> Vec<CriterionId> {
    trial.statements.into_iter().filter(|one| !one.is_met).map(|one| one.id).collect()
}

#[test]
fn a_rival_is_answered_as_our_own_search_is() {
    let mut improved = 0;
    for seed in 0..20 {
        let world = World::new(Law::default(), seed);
        let mut rival = Rival::new(World::new(Law::default(), seed), 32, Confidence::P90);
        let mut workshop = Workshop::of(&world);
        let mut play = Play::begin(
            &world,
            &mut workshop,
            Policy::Original,
            Policy::Original.plan(&world, 32, Confidence::P90),
        );
        while play.run.state.rounds.len() < 2 && play.go_on() {}
        let round = &play.run.state.rounds[0];
        let mut failures: Vec<CriterionId> = Vec::new();
        // Our own improver gets the scenarios in their order.
        for scenario in (0..rival.scenarios()).filter(|one| round.scenarios.contains(one)) {
            let trial = Trial { scenario, ordinal: SEARCH, era: round.era };
            let ours = &panel::judgement(&play.run, round.candidate, trial).unwrap().whole;
            let theirs = rival.attempt(0, scenario).unwrap();
            assert_eq!(ours.scored.composite.map(Score::points), Some(theirs.score));
            let failed = ours.findings.iter().filter(|one| one.verdict == Verdict::Fail);
            let failed: Vec<CriterionId> = failed.map(|one| one.criterion.clone()).collect();
            assert_eq!(missed(theirs), failed);
            failures.extend(failed);
        }
        assert_eq!(usize::try_from(rival.runs()).unwrap(), round.scenarios.len());
        let Some(next) = play.run.state.rounds.get(1) else { continue };
        let tree = play.run.candidate(next.candidate).unwrap().trees[0];
        let version = rival.improve(0, &failures).unwrap();
        let ours = world.truth(std::slice::from_ref(workshop.skill(tree).unwrap()));
        assert_eq!(rival.truth(version).map(f64::to_bits), Some(ours.to_bits()), "seed {seed}");
        improved += 1;
    }
    assert!(improved > 10, "only {improved} had two rounds");
}

#[test]
fn a_trial_that_a_rival_makes_again_is_a_fresh_one() {
    let mut rival = Rival::new(World::new(Law::default(), 1), 32, Confidence::P90);
    let trials: Vec<_> = (0..20).map(|_| rival.attempt(0, 0).unwrap()).collect();
    assert!(trials.iter().any(|one| *one != trials[0]));
    assert_eq!(rival.runs(), 20);
    let beyond = rival.scenarios();
    assert_eq!((rival.attempt(1, 0), rival.attempt(0, beyond), rival.improve(1, &[])), (None, None, None));
}

/// Returns a version that was improved after one trial on each of these scenarios.
fn found(rival: &mut Rival, scenarios: &[usize]) -> usize {
    scenarios.iter().fold(0, |version, scenario| {
        let missed = missed(rival.attempt(version, *scenario).unwrap());
        rival.improve(version, &missed).unwrap()
    })
}

#[test]
fn what_a_rival_has_found_is_confirmed_where_it_is_better() {
    let confirmed = |law, seeds: u64| {
        let is_confirmed = |seed: &u64| {
            let mut rival = Rival::new(World::new(law, *seed), 128, Confidence::P90);
            let searched = rival.searched();
            let version = found(&mut rival, &searched);
            let (before, gain) = (rival.runs(), rival.confirm(version));
            assert!(rival.runs() > before);
            gain.is_some()
        };
        (0..seeds).filter(is_confirmed).count()
    };
    let perfect = Law { fixes: 1.0, breaks: 0.0, ..Law::default() };
    let useless = Law { fixes: 0.0, breaks: 0.0, ..Law::default() };
    let (good, same) = (confirmed(perfect, 40), confirmed(useless, 200));
    assert!(good >= 34 && same <= 30, "{good} of 40 and {same} of 200");
}

#[test]
fn what_is_held_out_confirms_nothing_to_a_rival_that_has_tried_it() {
    let perfect = Law { fixes: 1.0, breaks: 0.0, start: 0, ..Law::default() };
    let confirms = |scenarios: fn(&Rival) -> Vec<usize>| {
        let mut rival = Rival::new(World::new(perfect, 1), 128, Confidence::P90);
        let scenarios = scenarios(&rival);
        let version = found(&mut rival, &scenarios);
        rival.confirm(version).is_some()
    };
    assert!(confirms(Rival::searched) && !confirms(|rival| (0..rival.scenarios()).collect()));
}

#[test]
fn a_search_by_drafts_makes_about_the_calls_that_are_expected_of_it() {
    const SEEDS: u32 = 20;
    for (pool, runs) in sample([(8, 48), (24, 48), (12, 128), (24, 128)], 2) {
        let law = Law { pool, ..Law::default() };
        let plan = Policy::Draft.plan(&World::new(law, 0), runs, Confidence::P90);
        let expected = Tune::expected_calls(&plan).unwrap();
        let (mut executed, mut edited) = (0, 0);
        for seed in 0..SEEDS {
            let world = World::new(law, seed.into());
            let (played, decisions) = play_and_tell(&world, Policy::Draft, runs, Confidence::P90);
            let edits = decisions.iter().filter(|made| matches!(made, Decision::Draft(_))).count();
            assert!(edits as u64 <= *expected.most.of(&Role::IMPROVER), "{edits} of {expected:?}");
            executed += u64::from(played.runs);
            edited += edits as u64;
        }
        let is_about = |all: u64, role: &Role| {
            let (likely, mean) = (expected.likely.of(role), all / u64::from(SEEDS));
            mean.abs_diff(*likely) * 5 <= *likely
        };
        assert!(is_about(executed, &Role::EXECUTOR), "{pool}, {runs}: {executed} and {expected:?}");
        assert!(is_about(edited, &Role::IMPROVER), "{pool}, {runs}: {edited} and {expected:?}");
    }
}

#[test]
fn of_two_improvers_neither_makes_more_edits_than_are_expected_of_it() {
    let law = Law { second_fixes: Some(0.0), ..Law::default() };
    let world = World::new(law, 0);
    let expected = Tune::expected_calls(&Policy::Draft.plan(&world, 48, Confidence::P90)).unwrap();
    let (_, decisions) = play_and_tell(&world, Policy::Draft, 48, Confidence::P90);
    for by in Improver::ALL {
        let turns = decisions.iter().filter(|made| matches!(made, Decision::Turn(one) if *one == by)).count();
        let (most, likely) = (*expected.most.of(&by.role()), *expected.likely.of(&by.role()));
        assert!(turns > 0 && turns as u64 <= most && likely <= most, "{turns} of {expected:?}");
    }
}

const BROKEN: Law = Law { members: 3, broken: 1, start: 8, pool: 12, ..Law::DEFAULT };

#[test]
fn a_broken_member_is_found_more_often_than_by_the_lowest_score_and_more_is_gained() {
    let rows = Policy::OF_CHAIN.map(|policy| row(BROKEN, policy, 64, 100));
    let [draft, lowest] = rows.each_ref().map(|row| row.broken_first.unwrap());
    assert!(draft > 0.8 && draft > lowest + 0.1, "{draft} and {lowest}");
    let [draft, lowest] = rows.map(|row| row.quality);
    assert!(draft.mean > lowest.mean + 2.0 * (draft.error + lowest.error), "{draft:?} {lowest:?}");
}

#[test]
fn a_judge_who_names_the_member_at_fault_more_often_helps_to_find_it() {
    let first = |names| row(Law { names, ..BROKEN }, Policy::Draft, 64, 60).broken_first.unwrap();
    let (seldom, always) = (first(0.0), first(1.0));
    assert!(always > 0.9 && always > seldom, "{always} and {seldom}");
}

#[test]
fn no_search_of_a_chain_makes_more_runs_than_its_budget() {
    for policy in Policy::NAMED {
        let most = played(BROKEN, policy, 96, 10 / stride(5)).iter().map(|one| one.runs).max().unwrap();
        // If a winner scores much lower on a scenario, both versions of each member are tried there three more times.
        assert!(most <= 96 + 3 * 6 * 12, "{} used {most}", policy.name());
    }
}

#[test]
fn what_a_member_shows_reaches_the_end_only_if_the_others_hand_it_on() {
    let at_end = Law { members: 3, start: 12, at_end: 1.0, shows: 1.0, ..Law::DEFAULT };
    let truth = |hands_on| {
        let world = World::new(Law { hands_on, ..at_end }, 1);
        assert_eq!(world.start.len(), 3);
        world.truth(&world.start)
    };
    let (all, none) = (truth(1.0), truth(0.0));
    assert!((all - 100.0).abs() < 1e-9 && none > 0.0 && none < 60.0, "the last one's own are left: {none}");
}
