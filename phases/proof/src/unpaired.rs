//! The exact permutation test of two samples without pairs, and the bounds that follow from it.
//!
//! If the fresh trials were as good as the control's except for `c` points, any other trials could as well be called
//! fresh. Another choice gives as large a difference as the observed one from some `c` on. So the lowest `c` that is not
//! rejected is one of these, sorted.
//!
//! The fresh trials may be of ever newer versions. Then later ones weigh more, and their order is part of the choice: if
//! no version were better than the start, any trials could as well be any others.

use crate::draw::Draw;
use crate::{Effect, FARTHEST, in_tenths};

/// Up to this number of ways to divide the trials are all counted; beyond it, this number is drawn, which is as fair.
const MOST: usize = 20_000;

/// Shares of ways and alphas both have few digits.
const SLACK: f64 = 1e-9;

/// How much each fresh trial counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// All alike.
    Equal,
    /// The last three times as much as the first.
    Rising,
}

impl Weights {
    /// Returns whole numbers in these proportions.
    fn of(self, count: usize) -> Vec<i64> {
        let steps = whole(count.saturating_sub(1));
        let rising = |nth: usize| if steps == 0 { 1 } else { steps + 2 * whole(nth) };
        (0..count).map(|nth| if self == Self::Equal { 1 } else { rising(nth) }).collect()
    }

    /// Returns the mean of fresh trials in points. None if there are none.
    pub fn mean(self, fresh: &[f64]) -> Option<f64> {
        let weights = self.of(fresh.len());
        let sum =
            fresh.iter().zip(&weights).map(|(points, weight)| i64::from(in_tenths(*points)) * weight).sum();
        (!fresh.is_empty()).then(|| quotient(sum, weights.iter().sum()) / 10.0)
    }
}

/// Returns how much better fresh trials are than the control's, with the bounds after this single look.
pub fn unpaired_effect(control: &[f64], fresh: &[f64], weights: Weights, alpha: f64) -> Effect {
    let [control, fresh]: [Vec<i64>; 2] =
        [control, fresh].map(|points| points.iter().map(|one| i64::from(in_tenths(*one))).collect());
    let samples = Samples { weights: weights.of(fresh.len()), control, fresh };
    let (lower, upper) = samples.bounds(weights, alpha);
    let (lower, upper) = (f64::from(lower.min(upper)) / 10.0, f64::from(upper.max(lower)) / 10.0);
    let points = samples.difference().round() / 10.0;
    Effect { points: points.clamp(lower, upper) + 0.0, lower, upper }
}

/// Returns whether this number of trials can show anything.
pub fn can_tell(control: usize, fresh: usize, alpha: f64) -> bool {
    allowed(ways(control + fresh, fresh), alpha).is_some()
}

/// Two samples in tenths of a point, and the weight of each fresh trial.
struct Samples {
    control: Vec<i64>,
    fresh: Vec<i64>,
    weights: Vec<i64>,
}

/// Another choice of fresh trials: it gives as large a difference as the observed one from this quotient on or, if it
/// only reorders them, always or never.
#[derive(Clone, Copy)]
struct Exchange {
    numerator: i64,
    denominator: i64,
}

impl Samples {
    /// Returns the weighted mean of the fresh trials minus the mean of the control's, in tenths.
    fn difference(&self) -> f64 {
        let weighted = self.fresh.iter().zip(&self.weights).map(|(points, weight)| points * weight).sum();
        quotient(weighted, self.weights.iter().sum())
            - quotient(self.control.iter().sum(), whole(self.control.len()))
    }

    /// Returns the lowest and the highest centre, in tenths, that are not rejected.
    fn bounds(&self, weights: Weights, alpha: f64) -> (i32, i32) {
        let ways = match weights {
            Weights::Equal => ways(self.control.len() + self.fresh.len(), self.fresh.len()),
            Weights::Rising => MOST + 1,
        };
        let Some(allowed) = allowed(ways, alpha) else { return (-FARTHEST, FARTHEST) };
        let exchanges = if ways <= MOST { self.all() } else { self.drawn() };
        // The upper bound is the lower one of the mirrored points.
        let mirrored =
            exchanges.iter().map(|one| Exchange { numerator: -one.numerator, ..*one }.from()).collect();
        (
            lower_bound(exchanges.iter().map(|one| one.from()).collect(), allowed),
            -lower_bound(mirrored, allowed),
        )
    }

    /// Returns every other choice of the same number of trials.
    fn all(&self) -> Vec<Exchange> {
        let (points, fresh) = (self.points(), self.fresh.len());
        let mut exchanges = Vec::new();
        // The observed choice is the last one, and the only one that exchanges nothing.
        let mut chosen: Vec<usize> = (0..fresh).collect();
        loop {
            exchanges.extend(Some(self.exchange(&points, &chosen)).filter(|one| one.denominator > 0));
            // The next choice of the same number of places, in their order.
            let is_movable = |&nth: &usize| chosen[nth] + (fresh - nth) < points.len();
            let Some(nth) = (0..fresh).rev().find(is_movable) else { return exchanges };
            let first = chosen[nth] + 1;
            for (further, place) in chosen[nth..].iter_mut().enumerate() {
                *place = first + further;
            }
        }
    }

    /// Returns choices that are drawn. One that exchanges and reorders nothing is as large from the lowest centre on.
    fn drawn(&self) -> Vec<Exchange> {
        let points = self.points();
        let (mut draw, mut places) = (Draw::new(0, 0), (0..points.len()).collect::<Vec<usize>>());
        let drawn = (1..MOST).map(|_| {
            draw.shuffle(&mut places);
            self.exchange(&points, &places[..self.fresh.len()])
        });
        drawn.collect()
    }

    fn points(&self) -> Vec<i64> {
        self.control.iter().chain(&self.fresh).copied().collect()
    }

    /// Compares the observed choice with another one, which gives each place of a fresh trial one of all trials.
    fn exchange(&self, points: &[i64], chosen: &[usize]) -> Exchange {
        let (control, weight) = (whole(self.control.len()), self.weights.iter().sum::<i64>());
        let (mut lost, mut lost_weighted, mut exchanged, mut exchanged_weight) = (0, 0, 0, 0);
        for ((place, own), weight) in chosen.iter().zip(&self.fresh).zip(&self.weights) {
            lost += own - points[*place];
            lost_weighted += weight * (own - points[*place]);
            if *place < self.control.len() {
                exchanged += 1;
                exchanged_weight += weight;
            }
        }
        // Whole numbers and a single division keep a whole number of tenths whole.
        Exchange {
            numerator: control * lost_weighted + weight * lost,
            denominator: control * exchanged_weight + weight * exchanged,
        }
    }
}

impl Exchange {
    /// Returns the centre from which on it gives as large a difference as the observed choice.
    fn from(self) -> f64 {
        match self.denominator {
            0 if self.numerator > 0 => f64::INFINITY,
            0 => f64::NEG_INFINITY,
            denominator => quotient(self.numerator, denominator),
        }
    }
}

/// Returns the first centre after this many rejected ones.
fn lower_bound(mut centres: Vec<f64>, rejected: usize) -> i32 {
    let lowest = if rejected < centres.len() {
        *centres.select_nth_unstable_by(rejected, f64::total_cmp).1
    } else {
        f64::INFINITY
    };
    #[expect(clippy::cast_possible_truncation, reason = "the range is limited first")]
    let tenths = lowest.ceil().clamp(f64::from(-FARTHEST), f64::from(FARTHEST)) as i32;
    tenths
}

/// Returns how many choices may give as large a difference if it is unlikely. None if the observed one is already too
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

/// Returns 0 for nothing divided by nothing.
#[expect(clippy::cast_precision_loss, reason = "sums of some thousand scores are far below 2^52")]
fn quotient(sum: i64, count: i64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conclusion;

    #[test]
    fn four_against_four_are_one_way_in_seventy() {
        let effect =
            unpaired_effect(&[10.0, 20.0, 30.0, 40.0], &[50.0, 60.0, 70.0, 80.0], Weights::Equal, 1.0 / 70.0);
        assert_eq!((effect.conclusion(), effect.points), (Conclusion::Win, 40.0));
        assert!(!can_tell(4, 4, 1.0 / 71.0) && can_tell(4, 4, 1.0 / 70.0));
        let same =
            unpaired_effect(&[10.0, 20.0, 30.0, 40.0], &[50.0, 60.0, 70.0, 35.0], Weights::Equal, 1.0 / 70.0);
        assert_eq!(same.conclusion(), Conclusion::Open, "one more way gives as much");
    }

    /// Follows the definition: every order of the shifted trials, and its difference.
    fn is_rejected(control: &[f64], fresh: &[f64], weights: Weights, centre: f64, alpha: f64) -> bool {
        let mut points: Vec<f64> =
            fresh.iter().map(|one| one - centre).chain(control.iter().copied()).collect();
        let weights: Vec<f64> =
            weights.of(fresh.len()).iter().map(|one| f64::from(i32::try_from(*one).unwrap())).collect();
        let mean = |points: &[f64]| points.iter().sum::<f64>() / points.iter().map(|_| 1.0).sum::<f64>();
        let difference = |points: &[f64]| {
            let (fresh, control) = points.split_at(weights.len());
            let weighted: f64 = fresh.iter().zip(&weights).map(|(points, weight)| points * weight).sum();
            weighted / weights.iter().sum::<f64>() - mean(control)
        };
        let seen = difference(&points);
        let (mut all, mut as_much) = (0.0, 0.0);
        each_order(&mut points, 0, &mut |points| {
            all += 1.0;
            as_much += f64::from(u8::from(difference(points) >= seen - 1e-6));
        });
        as_much / all <= alpha + 1e-9
    }

    fn each_order(points: &mut [f64], from: usize, each: &mut impl FnMut(&[f64])) {
        if from == points.len() {
            return each(points);
        }
        for nth in from..points.len() {
            points.swap(from, nth);
            each_order(points, from + 1, each);
            points.swap(from, nth);
        }
    }

    #[test]
    fn the_bound_is_the_lowest_centre_that_the_test_does_not_reject() {
        let mut draw = Draw::new(5, 0);
        for _ in 0..10 {
            let mut some =
                |count: usize| (0..count).map(|_| (draw.share() * 1000.0).round() / 10.0).collect::<Vec<_>>();
            let (control, fresh) = (some(4), some(4));
            let rejects = |centre| is_rejected(&control, &fresh, Weights::Equal, centre, 0.1);
            let lower = unpaired_effect(&control, &fresh, Weights::Equal, 0.1).lower;
            assert!(!rejects(lower) && rejects(lower - 0.1), "{control:?} {fresh:?} {lower}");
        }
    }

    #[test]
    fn with_rising_weights_the_drawn_orders_are_close_to_all() {
        let mut draw = Draw::new(5, 0);
        for _ in 0..6 {
            let mut some =
                |count: usize| (0..count).map(|_| (draw.share() * 1000.0).round() / 10.0).collect::<Vec<_>>();
            let (control, fresh) = (some(4), some(4));
            let rejects = |centre, alpha| is_rejected(&control, &fresh, Weights::Rising, centre, alpha);
            let lower = unpaired_effect(&control, &fresh, Weights::Rising, 0.1).lower;
            assert!(!rejects(lower, 0.09) && rejects(lower - 0.1, 0.11), "{control:?} {fresh:?} {lower}");
        }
    }

    #[test]
    fn the_last_fresh_trial_weighs_three_times_as_much_as_the_first() {
        assert_eq!((Weights::Rising.of(5), Weights::Rising.of(1)), (vec![4, 6, 8, 10, 12], vec![1]));
        let control = [50.0; 4];
        let of = |fresh: &[f64]| unpaired_effect(&control, fresh, Weights::Rising, 0.1).points;
        let (late, early) = (of(&[50.0, 50.0, 50.0, 90.0]), of(&[90.0, 50.0, 50.0, 50.0]));
        assert_eq!((late, early), (15.0, 5.0));
    }

    #[test]
    fn what_is_the_same_wins_no_more_often_than_it_may() {
        let mut draw = Draw::new(6, 0);
        for (control, fresh, weights) in
            [(4, 4, Weights::Equal), (7, 5, Weights::Equal), (8, 16, Weights::Equal), (4, 6, Weights::Rising)]
        {
            let mut some = |count: usize| (0..count).map(|_| 50.0 + 20.0 * draw.normal()).collect::<Vec<_>>();
            let wins = (0..400).filter(|_| {
                let effect = unpaired_effect(&some(control), &some(fresh), weights, 0.1);
                effect.conclusion() == Conclusion::Win
            });
            let wins = wins.count();
            assert!((15..=60).contains(&wins), "{wins} of 400 with {control} and {fresh}");
        }
    }

    #[test]
    fn a_whole_number_of_tenths_is_not_rounded_up() {
        for (given, got) in (0..400).flat_map(|given| (0..given).map(move |got| (given, got))) {
            let samples = Samples { control: vec![got, 0, 0], fresh: vec![given, 0, 0], weights: vec![1; 3] };
            let centre = samples.exchange(&samples.points(), &[0, 1, 2]).from();
            if (given - got) % 3 == 0 {
                let whole = f64::from(i32::try_from((given - got) / 3).unwrap());
                assert_eq!(centre.to_bits(), whole.to_bits(), "{given} {got}");
            }
        }
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        assert_eq!(unpaired_effect(&[], &[], Weights::Equal, 0.1).conclusion(), Conclusion::Open);
        assert_eq!(unpaired_effect(&[1.0; 4], &[], Weights::Rising, 0.1).conclusion(), Conclusion::Open);
    }
}
