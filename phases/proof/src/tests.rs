use proptest::prelude::*;

use super::*;

/// Tries all flips, one by one.
fn share_of_flips_as_high(tenths: &[i32], centre: i32) -> f64 {
    let gaps: Vec<i32> = tenths.iter().map(|tenths| tenths - centre).collect();
    let seen: i32 = gaps.iter().sum();
    let all = 1_u32 << gaps.len();
    let flipped = |flips: u32| -> i32 {
        (0..).zip(&gaps).map(|(nth, gap)| if flips >> nth & 1 == 1 { -gap } else { *gap }).sum()
    };
    let as_high = (0..all).filter(|flips| flipped(*flips) >= seen).count();
    f64::from(u32::try_from(as_high).unwrap()) / f64::from(all)
}

fn at_one_look(differences: &[f64], alpha: f64) -> Effect {
    effect(&[InterimAnalysis { pairs: differences.len(), alpha }], &[differences.to_vec()])
}

fn places(pairs: usize, confidence: Confidence) -> Vec<(usize, f64)> {
    let rounded = |interim: InterimAnalysis| (interim.pairs, (interim.alpha * 1000.0).round() / 1000.0);
    interim_analyses(pairs, confidence).into_iter().map(rounded).collect()
}

proptest! {
    #[test]
    fn the_test_counts_every_flip(
        tenths in prop::collection::vec(prop_oneof![-30..30_i32, -1000..=1000], 1..12),
        centre in -50..50_i32,
        alpha in 0.01..0.4_f64,
    ) {
        let rejected = share_of_flips_as_high(&tenths, centre) <= alpha;
        prop_assert_eq!(flip::rejects(&tenths, centre, alpha), rejected);
    }

    #[test]
    fn the_lower_bound_is_the_lowest_centre_that_is_not_rejected(
        tenths in prop::collection::vec(-1000..=1000_i32, 1..40),
        alpha in prop_oneof![Just(0.0), 0.01..0.4_f64],
        centre in -FARTHEST..=FARTHEST,
    ) {
        let lowest = flip::lower_bound(&tenths, alpha);
        for centre in [lowest - 1, lowest, centre].into_iter().filter(|centre| *centre >= -FARTHEST) {
            prop_assert_eq!(flip::rejects(&tenths, centre, alpha), centre < lowest);
        }
    }

    #[test]
    fn a_challenger_wins_exactly_when_no_gain_is_rejected_and_the_start_by_the_same_rule(
        tenths in prop::collection::vec(prop_oneof![-3..=3_i32, -400..=600], 0..14),
        alpha in 0.01..0.3_f64,
    ) {
        let points: Vec<f64> = tenths.iter().map(|tenths| f64::from(*tenths) / 10.0).collect();
        let mirrored: Vec<f64> = points.iter().map(|points| -points).collect();
        let (one, other) = (at_one_look(&points, alpha), at_one_look(&mirrored, alpha));
        prop_assert_eq!(one.conclusion() == Conclusion::Win, flip::rejects(&tenths, 0, alpha));
        prop_assert_eq!(one.conclusion() == Conclusion::Win, other.conclusion() == Conclusion::Loss);
        prop_assert!(-100.0 <= one.lower && one.lower <= one.points);
        prop_assert!(one.points <= one.upper && one.upper <= 100.0);
    }
}

#[test]
fn fewer_pairs_than_the_fewest_can_never_win() {
    for confidence in Confidence::ALL {
        let fewest = confidence.fewest_pairs();
        for pairs in 0..fewest {
            assert_eq!(interim_analyses(pairs, confidence), []);
            let best = at_one_look(&vec![100.0; pairs], confidence.alpha());
            assert_eq!(
                (best.lower, best.conclusion()),
                (-100.0, Conclusion::Open),
                "{pairs} at {confidence}"
            );
        }
        for pairs in fewest..=200 {
            let last = *interim_analyses(pairs, confidence).last().unwrap();
            assert_eq!(last.pairs, pairs);
            assert_eq!(at_one_look(&vec![0.1; pairs], last.alpha).conclusion(), Conclusion::Win);
        }
    }
}

#[test]
fn the_looks_share_one_chance_of_error_and_every_look_can_win() {
    for confidence in Confidence::ALL {
        for pairs in 0..=200 {
            let planned = interim_analyses(pairs, confidence);
            let spent: f64 = planned.iter().map(|interim| interim.alpha).sum();
            assert!(planned.is_empty() || (spent - confidence.alpha()).abs() < 1e-9, "{planned:?}");
            assert!(planned.is_sorted_by(|one, next| one.pairs < next.pairs), "{planned:?}");
            for interim in planned {
                assert!(flip::rejects(&vec![1; interim.pairs], 0, interim.alpha), "{interim:?}");
            }
        }
    }
}

#[test]
fn few_pairs_are_looked_at_once_and_many_three_times() {
    assert_eq!(places(5, Confidence::P90), [(5, 0.1)]);
    // Three pairs cannot win at 0.04, five at 0.02, nor four at 0.02: the next look has their share.
    assert_eq!(places(6, Confidence::P90), [(6, 0.1)]);
    assert_eq!(places(11, Confidence::P95), [(11, 0.05)]);
    assert_eq!(places(10, Confidence::P90), [(5, 0.04), (10, 0.06)]);
    assert_eq!(places(12, Confidence::P90), [(8, 0.04), (12, 0.06)]);
    assert_eq!(places(24, Confidence::P90), [(8, 0.02), (16, 0.02), (24, 0.06)]);
    assert_eq!(places(200, Confidence::P80), [(66, 0.04), (133, 0.04), (200, 0.12)]);
}

#[test]
fn the_bounds_decide() {
    let four = [12.0, 8.0, 30.0, 5.0];
    assert_eq!(at_one_look(&four, 0.1), Effect { points: 13.8, lower: 5.0, upper: 30.0 });
    let concluded = |differences: &[f64]| at_one_look(differences, 0.1).conclusion();
    assert_eq!(concluded(&four), Conclusion::Win);
    assert_eq!(concluded(&four.map(|points| -points)), Conclusion::Loss);
    assert_eq!(concluded(&[0.0; 4]), Conclusion::Tie);
    assert_eq!(concluded(&[1.0, -2.0, 4.9, -5.0]), Conclusion::Tie);
    assert_eq!(concluded(&[1.0, -2.0, 5.1, -5.0]), Conclusion::Open);
    assert_eq!(concluded(&[0.0; 3]), Conclusion::Open);
}

#[test]
fn nothing_seen_is_open_and_still_a_pair_of_numbers() {
    let nothing = Effect { points: 0.0, lower: -100.0, upper: 100.0 };
    assert_eq!(at_one_look(&[], 0.1), nothing);
    assert_eq!(effect(&[], &[]), nothing);
    assert_eq!(effect(&[], &[vec![30.0]]), Effect { points: 30.0, ..nothing });
    assert_eq!(nothing.conclusion(), Conclusion::Open);
    assert_eq!(at_one_look(&[40.0, 20.0], 0.0), Effect { points: 30.0, ..nothing });
}

#[test]
fn a_look_with_missing_pairs_keeps_its_alpha() {
    let plan = interim_analyses(5, Confidence::P90);
    let of = |pairs: usize| effect(&plan, &[vec![20.0; pairs]]).conclusion();
    assert_eq!([5, 4, 3].map(of), [Conclusion::Win, Conclusion::Win, Conclusion::Open]);
}

#[test]
fn after_an_earlier_look_the_claim_makes_up_for_having_looked() {
    let plan = interim_analyses(12, Confidence::P90);
    let all = [9.0, 12.0, -8.0, 20.0, 3.0, 15.0, -2.0, 7.0, 30.0, 11.0, 18.0, 16.0];
    let last = [InterimAnalysis { pairs: 12, alpha: plan[1].alpha }];
    let one = effect(&last, &[all.to_vec()]);
    let several = effect(&plan, &[all[..8].to_vec(), all.to_vec()]);
    assert_eq!((several.lower, several.upper), (one.lower, one.upper));
    assert_eq!((one.points, several.points), (10.9, 7.0));
}

#[test]
fn an_extension_decides_by_all_trials_and_its_claim_makes_up_for_the_look_before() {
    let trials = [[40.0, 20.0], [0.0, 30.0], [35.0, 10.0], [-5.0, 25.0], [30.0, 10.0], [10.0, 5.0]];
    let means = trials.map(|pair| f64::midpoint(pair[0], pair[1]));
    let look = EarlierLook { analysis: InterimAnalysis { pairs: 6, alpha: 0.05 }, trials: 1 };
    assert_eq!(at_one_look(&trials.map(|pair| pair[0]), 0.05).conclusion(), Conclusion::Open);
    let trials = trials.map(|pair| pair.to_vec());
    let (plain, fair) =
        (extended_effect(0.05, &means, &trials, &[]), extended_effect(0.05, &means, &trials, &[look]));
    assert_eq!(plain, at_one_look(&means, 0.05));
    assert_eq!((fair.lower, fair.upper), (plain.lower, plain.upper));
    assert_eq!(fair.conclusion(), Conclusion::Win);
    assert!(fair.points < plain.points, "{fair:?} {plain:?}");
}

#[test]
fn differences_below_a_tenth_are_none() {
    for tiny in [0.04, -0.04] {
        let effect = at_one_look(&[tiny; 10], 0.1);
        assert_eq!(serde_json::to_string(&effect).unwrap(), r#"{"points":0.0,"lower":0.0,"upper":0.0}"#);
    }
    // The mean is between two tenths, and so would both bounds be.
    let between = [0.1, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(at_one_look(&between, 0.1), Effect { points: 0.1, lower: 0.1, upper: 0.1 });
    let mirrored = between.map(|points: f64| -points);
    assert_eq!(at_one_look(&mirrored, 0.1), Effect { points: -0.1, lower: -0.1, upper: -0.1 });
}

#[test]
fn confidence_is_one_of_three_numbers() {
    for (text, confidence) in [("0.8", Confidence::P80), ("0.9", Confidence::P90), ("0.95", Confidence::P95)]
    {
        assert_eq!(text.parse(), Ok(confidence));
        assert_eq!(confidence.to_string(), text);
        assert_eq!(serde_json::to_string(&confidence).unwrap(), text);
        assert_eq!(serde_json::from_str::<Confidence>(text).unwrap(), confidence);
        assert!((1.0 - f64::from(confidence) - confidence.alpha()).abs() < 1e-9);
    }
    for bad in ["", "0.99", "90", "nan", "high"] {
        assert_eq!(bad.parse::<Confidence>(), Err(NotAConfidence), "{bad}");
    }
}

/// Checks the example in `docs/verdicts.md`.
#[test]
fn the_example_of_the_documentation_is_right() {
    let shown = |differences: [f64; 4]| {
        let effect = effect(&interim_analyses(4, Confidence::P90), &[differences.to_vec()]);
        (effect.points, effect.lower, effect.upper, effect.conclusion())
    };
    assert_eq!(shown([20.0, 35.0, 10.0, 5.0]), (17.5, 5.0, 35.0, Conclusion::Win));
    assert_eq!(shown([20.0, 35.0, 10.0, -5.0]), (15.0, -5.0, 35.0, Conclusion::Open));
}
