//! The exact permutation test of two samples without pairs, and the bounds that follow from it.
//!
//! If the fresh trials were as good as the control's except for `c` points, any other trials could as well be called
//! fresh. To call others fresh exchanges some of the fresh for the same number of the control: the difference is then
//! at least as large as the observed one exactly if the mean of the trials given away is at most `c` above the mean of
//! those received. So the lowest `c` that is not rejected is one of these differences of means, sorted.

use super::{Effect, FARTHEST, in_tenths, mean};
use crate::base::draw::Draw;

/// Up to this number of ways to divide the trials are all counted; beyond it, this number is drawn, which is as fair.
const MOST: usize = 20_000;

/// Shares of ways and alphas both have few digits.
const SLACK: f64 = 1e-9;

/// Returns how much better fresh trials are than the control's, with the bounds after this single look.
pub fn unpaired_effect(control: &[f64], fresh: &[f64], alpha: f64) -> Effect {
    let [control, fresh]: [Vec<i32>; 2] =
        [control, fresh].map(|points| points.iter().map(|one| in_tenths(*one)).collect());
    let (lower, upper) = bounds(&control, &fresh, alpha);
    let (lower, upper) = (f64::from(lower.min(upper)) / 10.0, f64::from(upper.max(lower)) / 10.0);
    let points = (mean(&fresh) - mean(&control)).round() / 10.0;
    Effect { points: points.clamp(lower, upper) + 0.0, lower, upper }
}

/// Returns whether this number of trials can show anything.
pub fn can_tell(control: usize, fresh: usize, alpha: f64) -> bool {
    allowed(ways(control + fresh, fresh), alpha).is_some()
}

/// Returns the lowest and the highest centre, in tenths, that are not rejected.
fn bounds(control: &[i32], fresh: &[i32], alpha: f64) -> (i32, i32) {
    let ways = ways(control.len() + fresh.len(), fresh.len());
    let Some(allowed) = allowed(ways, alpha) else { return (-FARTHEST, FARTHEST) };
    let exchanges = if ways <= MOST { all(control, fresh) } else { drawn(control, fresh) };
    // The upper bound is the lower one of the mirrored points.
    let mirrored = exchanges.iter().map(|one| if one.is_finite() { -one } else { *one }).collect();
    (lower_bound(exchanges, allowed), -lower_bound(mirrored, allowed))
}

/// Returns the first exchange after this many rejected ones.
fn lower_bound(mut exchanges: Vec<f64>, rejected: usize) -> i32 {
    let lowest = if rejected < exchanges.len() {
        *exchanges.select_nth_unstable_by(rejected, f64::total_cmp).1
    } else {
        f64::INFINITY
    };
    #[expect(clippy::cast_possible_truncation, reason = "the range is limited first")]
    let tenths = lowest.ceil().clamp(f64::from(-FARTHEST), f64::from(FARTHEST)) as i32;
    tenths
}

/// Returns how many exchanges may give as large a difference if it is unlikely. None if the observed one is already too
/// many.
fn allowed(ways: usize, alpha: f64) -> Option<usize> {
    #[expect(clippy::cast_precision_loss, reason = "at most MOST")]
    let share = alpha * ways.min(MOST) as f64 + SLACK;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most MOST, and not negative"
    )]
    let most = share as usize;
    most.checked_sub(1)
}

/// Returns the number of ways to choose this many of all, or more than `MOST` if there are more.
fn ways(all: usize, chosen: usize) -> usize {
    let mut ways = 1;
    for nth in 0..chosen.min(all - chosen) {
        ways = ways * (all - nth) / (nth + 1);
        if ways > MOST {
            return MOST + 1;
        }
    }
    ways
}

/// Returns the difference that each exchange gives away.
fn all(control: &[i32], fresh: &[i32]) -> Vec<f64> {
    let points: Vec<i32> = control.iter().chain(fresh).copied().collect();
    let mut exchanges = Vec::new();
    let mut chosen: Vec<usize> = (0..fresh.len()).collect();
    loop {
        exchanges.extend(exchange(&points, control.len(), &chosen));
        // The next choice of the same number of places, in their order.
        let is_movable = |&nth: &usize| chosen[nth] + (chosen.len() - nth) < points.len();
        let Some(nth) = (0..chosen.len()).rev().find(is_movable) else { return exchanges };
        let first = chosen[nth] + 1;
        for (further, place) in chosen[nth..].iter_mut().enumerate() {
            *place = first + further;
        }
    }
}

/// Returns the same for exchanges that are drawn. One that exchanges nothing counts as the lowest.
fn drawn(control: &[i32], fresh: &[i32]) -> Vec<f64> {
    let points: Vec<i32> = control.iter().chain(fresh).copied().collect();
    let (mut draw, mut places) = (Draw::new(0, 0), (0..points.len()).collect::<Vec<usize>>());
    let mut exchanged = || {
        draw.shuffle(&mut places);
        exchange(&points, control.len(), &places[..fresh.len()]).unwrap_or(f64::NEG_INFINITY)
    };
    (1..MOST).map(|_| exchanged()).collect()
}

/// Returns the mean of the fresh trials not chosen minus the mean of the chosen control trials, which are as many.
fn exchange(points: &[i32], control: usize, chosen: &[usize]) -> Option<f64> {
    // Fresh trials that are chosen again count in both sums.
    let chosen_points: i32 = chosen.iter().map(|place| points[*place]).sum();
    let difference = points[control..].iter().sum::<i32>() - chosen_points;
    let exchanged: i32 = chosen.iter().map(|place| i32::from(*place < control)).sum();
    // A single division keeps a whole number of tenths whole.
    (exchanged > 0).then(|| f64::from(difference) / f64::from(exchanged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::proof::Conclusion;

    #[test]
    fn four_against_four_are_one_way_in_seventy() {
        let effect = unpaired_effect(&[10.0, 20.0, 30.0, 40.0], &[50.0, 60.0, 70.0, 80.0], 1.0 / 70.0);
        assert_eq!((effect.conclusion(), effect.points), (Conclusion::Win, 40.0));
        assert!(!can_tell(4, 4, 1.0 / 71.0) && can_tell(4, 4, 1.0 / 70.0));
        let same = unpaired_effect(&[10.0, 20.0, 30.0, 40.0], &[50.0, 60.0, 70.0, 35.0], 1.0 / 70.0);
        assert_eq!(same.conclusion(), Conclusion::Open, "one more way gives as much");
    }

    /// Follows the definition: every way to divide the shifted trials, and its difference.
    fn is_rejected(control: &[f64], fresh: &[f64], centre: f64, alpha: f64) -> bool {
        let points: Vec<f64> = control.iter().copied().chain(fresh.iter().map(|one| one - centre)).collect();
        let sum = |ways: u32| {
            (0..points.len()).filter(|nth| ways >> nth & 1 == 1).map(|nth| points[nth]).sum::<f64>()
        };
        let seen: f64 = fresh.iter().map(|one| one - centre).sum();
        let ways = (0..1_u32 << points.len()).filter(|ways| ways.count_ones() as usize == fresh.len());
        let (mut all, mut as_much) = (0.0, 0.0);
        for ways in ways {
            all += 1.0;
            as_much += f64::from(u8::from(sum(ways) >= seen - 1e-6));
        }
        as_much / all <= alpha + 1e-9
    }

    #[test]
    fn the_bound_is_the_lowest_centre_that_the_test_does_not_reject() {
        let mut draw = Draw::new(5, 0);
        for _ in 0..40 {
            let mut some =
                |count: usize| (0..count).map(|_| (draw.share() * 1000.0).round() / 10.0).collect::<Vec<_>>();
            let (control, fresh) = (some(5), some(4));
            let lower = unpaired_effect(&control, &fresh, 0.1).lower;
            assert!(!is_rejected(&control, &fresh, lower, 0.1), "{control:?} {fresh:?} {lower}");
            assert!(is_rejected(&control, &fresh, lower - 0.1, 0.1), "{control:?} {fresh:?} {lower}");
        }
    }

    #[test]
    fn what_is_the_same_wins_no_more_often_than_it_may() {
        let mut draw = Draw::new(6, 0);
        for (control, fresh) in [(4, 4), (7, 5), (8, 16)] {
            let mut some = |count: usize| (0..count).map(|_| 50.0 + 20.0 * draw.normal()).collect::<Vec<_>>();
            let wins = (0..400).filter(|_| {
                unpaired_effect(&some(control), &some(fresh), 0.1).conclusion() == Conclusion::Win
            });
            let wins = wins.count();
            assert!((15..=60).contains(&wins), "{wins} of 400 with {control} and {fresh}");
        }
    }

    #[test]
    fn a_whole_number_of_tenths_is_not_rounded_up() {
        for (given, got) in (0..400).flat_map(|given| (0..given).map(move |got| (given, got))) {
            let exchanged = exchange(&[got, 0, 0, given, 0, 0], 3, &[0, 1, 2]).unwrap();
            if (given - got) % 3 == 0 {
                assert_eq!(exchanged.to_bits(), f64::from((given - got) / 3).to_bits(), "{given} {got}");
            }
        }
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        assert_eq!(unpaired_effect(&[], &[], 0.1).conclusion(), Conclusion::Open);
        assert_eq!(unpaired_effect(&[1.0; 4], &[], 0.1).conclusion(), Conclusion::Open);
    }
}
