use proptest::prelude::*;

use super::*;
use crate::judging::contract::Verdict::{Fail, Partial, Pass, Unverified};
use crate::judging::findings::Finding;
use crate::judging::rubric;

fn findings(contract: &Contract, verdicts: &[Verdict]) -> Findings {
    found(contract, verdicts).collect()
}

fn found<'a>(contract: &'a Contract, verdicts: &'a [Verdict]) -> impl Iterator<Item = Finding<'a>> {
    let pairs = contract.criteria.iter().zip(verdicts);
    pairs.map(|(criterion, &verdict)| Finding { criterion: &criterion.id, verdict, evidence: "quoted" })
}

fn composite(verdicts: &[Verdict]) -> Option<Score> {
    let contract = rubric::tune();
    score(&contract, &findings(&contract, verdicts)).composite
}

/// Gives all verdicts the same value, except in the named dimensions.
fn with(contract: &Contract, rest: Verdict, special: &[(&str, Verdict)]) -> Scored {
    let verdicts: Vec<_> = contract
        .criteria
        .iter()
        .map(|c| {
            special.iter().find(|(id, _)| *id == c.dimension.as_str()).map_or(rest, |(_, verdict)| *verdict)
        })
        .collect();
    score(contract, &findings(contract, &verdicts))
}

#[test]
fn only_finite_numbers_from_0_to_100_are_scores() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 100.1, 1e300] {
        assert_eq!(Score::new(odd), None, "{odd}");
    }
    assert_eq!(Score::new(-0.0), Some(Score::ZERO));
    assert_eq!(Score::new(100.0), Some(Score::FULL));
}

#[test]
fn a_score_is_shown_with_one_decimal_and_a_goal_as_it_was_typed() {
    let shown = |points| Score::new(points).unwrap().to_string();
    let points = [80.0, 83.3, 63.75, 79.96, 0.04, 100.0];
    assert_eq!(points.map(shown), ["80.0", "83.3", "63.8", "80.0", "0.0", "100.0"]);
    let typed = |points| Score::new(points).unwrap().typed();
    assert_eq!([80.0, 85.5].map(typed), ["80", "85.5"]);
    assert_eq!(format!("[{:>5}]", Score::new(72.5).unwrap()), "[ 72.5]");
}

#[test]
fn a_stored_score_outside_the_range_is_refused() {
    assert_eq!(serde_json::from_str::<Score>("72").unwrap(), Score::new(72.0).unwrap());
    assert!(serde_json::from_str::<Score>("101").is_err());
    assert!(serde_json::from_str::<Score>("-1").is_err());
    assert!(serde_json::from_str::<Score>("null").is_err());
    assert!(serde_json::from_str::<Score>("\"80\"").is_err());
}

#[test]
fn all_passes_are_100_all_partials_50_all_fails_0() {
    assert_eq!(composite(&[Pass; 19]), Some(Score::FULL));
    assert_eq!(composite(&[Partial; 19]), Score::new(50.0));
    assert_eq!(composite(&[Fail; 19]), Some(Score::ZERO));
}

#[test]
fn what_nobody_could_verify_is_absent_and_not_50() {
    assert_eq!(composite(&[Unverified; 19]), None);
    assert_eq!(composite(&[]), None);
}

#[test]
fn an_unverified_criterion_leaves_the_mean_of_the_others() {
    let contract = rubric::tune();
    let mut verdicts = [Pass; 19];
    verdicts[0] = Unverified;
    verdicts[1] = Fail;
    let scored = score(&contract, &findings(&contract, &verdicts));
    assert_eq!(scored.dimensions[0].1, Score::new(200.0 / 3.0));
}

#[test]
fn a_dimension_nobody_verified_gives_its_weight_to_the_others() {
    let scored = with(&rubric::tune(), Pass, &[("effectiveness", Unverified), ("clarity", Fail)]);
    assert_eq!(scored.dimensions[3].1, None);
    assert_eq!(scored.composite, Score::new(75.0));
}

#[test]
fn half_of_the_weight_is_enough_for_a_composite_and_less_is_not() {
    let contract = rubric::tune();
    let half = [("completeness", Unverified), ("correctness", Unverified)];
    assert_eq!(with(&contract, Pass, &half).composite, Some(Score::FULL));
    let less = [("completeness", Unverified), ("correctness", Unverified), ("efficiency", Unverified)];
    assert_eq!(with(&contract, Pass, &less).composite, None);
}

#[test]
fn a_contract_with_senseless_weights_has_no_composite() {
    let mut contract = rubric::tune();
    for weight in [0.0, f64::NAN] {
        contract.dimensions.iter_mut().for_each(|dimension| dimension.weight = weight);
        assert_eq!(with(&contract, Pass, &[]).composite, None);
    }
}

#[test]
fn the_mean_of_no_scores_is_none() {
    assert_eq!(mean(&[]), None);
    assert_eq!(mean(&[Score::FULL, Score::ZERO, Score::ZERO]), Score::new(33.3));
    assert_eq!(mean(&[63.75, 63.75].map(|points| Score::new(points).unwrap())), Score::new(63.8));
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(Verdict::ALL.to_vec())
}

fn better(verdict: Verdict) -> Option<Verdict> {
    match verdict {
        Fail => Some(Partial),
        Partial | Unverified => Some(Pass),
        Pass => None,
    }
}

proptest! {
    #[test]
    fn improving_one_verdict_never_lowers_the_score(
        mut verdicts in prop::collection::vec(verdict(), 19), at in 0_usize..19,
    ) {
        let before = composite(&verdicts);
        prop_assume!(better(verdicts[at]).is_some());
        verdicts[at] = better(verdicts[at]).unwrap();
        prop_assert!(composite(&verdicts) >= before);
    }

    #[test]
    fn a_score_lies_between_its_lowest_and_highest_dimension(verdicts in prop::collection::vec(verdict(), 19)) {
        let contract = rubric::tune();
        let scored = score(&contract, &findings(&contract, &verdicts));
        let present: Vec<_> = scored.dimensions.iter().filter_map(|(_, score)| *score).collect();
        if let Some(composite) = scored.composite {
            prop_assert!(composite.points().is_finite());
            prop_assert!(present.iter().min() <= Some(&composite));
            prop_assert!(present.iter().max() >= Some(&composite));
        }
    }

    #[test]
    fn the_order_of_findings_does_not_matter(
        (verdicts, order) in (prop::collection::vec(verdict(), 19), Just((0..19).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let contract = rubric::tune();
        let found: Vec<_> = found(&contract, &verdicts).collect();
        let shuffled = order.into_iter().map(|at| found[at]).collect();
        prop_assert_eq!(score(&contract, &found.iter().copied().collect()), score(&contract, &shuffled));
    }

    #[test]
    fn a_score_survives_its_journal_line(points in 0.0_f64..=100.0) {
        let written = Score::new(points).unwrap();
        let read: Score = serde_json::from_str(&serde_json::to_string(&written).unwrap()).unwrap();
        prop_assert_eq!(written, read);
    }

    #[test]
    fn a_mean_is_never_outside_what_it_is_of(points in prop::collection::vec(0.0_f64..=100.0, 1..20)) {
        let scores: Vec<_> = points.into_iter().filter_map(Score::new).collect();
        let mean = mean(&scores).unwrap();
        let tenths = |score: Option<&Score>| score.unwrap().in_tenths();
        prop_assert!(tenths(scores.iter().min()) <= mean && mean <= tenths(scores.iter().max()));
    }
}
