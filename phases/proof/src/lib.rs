//! The statistics of a final comparison: whether a challenger is better than the start, by how much, and how sure that
//! is.
//!
//! The unit is the pair: one scenario, tried with both versions; its difference is challenger minus start, in points.
//! The test is exact: if the versions were equal, each difference could as well have the other sign, and all signs are
//! counted. So a useless challenger wins no more often than the confidence allows, however scores scatter. The bounds
//! assume a little more: that differences scatter alike on both sides of the true change. Near 0 or 100 they do not,
//! quite.
//!
//! The looks at the pairs are fixed in advance and share one chance of error, so early looks do not add to it.

pub mod draw;
mod flip;
pub mod power;
mod unpaired;

use std::str::FromStr;
use std::{fmt, iter};

use serde::{Deserialize, Serialize};

use crate::draw::Draw;

pub use unpaired::{Weights, can_tell, unpaired_effect};

/// The required confidence of a final comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub enum Confidence {
    P80,
    #[default]
    P90,
    P95,
}

#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("confidence must be 0.8, 0.9 or 0.95")]
pub struct NotAConfidence;

impl Confidence {
    pub const ALL: [Self; 3] = [Self::P80, Self::P90, Self::P95];

    /// Returns among how many useless challengers one may win.
    pub fn one_in(self) -> u32 {
        match self {
            Self::P80 => 5,
            Self::P90 => 10,
            Self::P95 => 20,
        }
    }

    /// Returns how often a useless challenger may win.
    pub fn alpha(self) -> f64 {
        match self {
            Self::P80 => 0.2,
            Self::P90 => 0.1,
            Self::P95 => 0.05,
        }
    }

    pub fn percent(self) -> u8 {
        match self {
            Self::P80 => 80,
            Self::P90 => 90,
            Self::P95 => 95,
        }
    }

    /// Returns the minimum number of pairs. With fewer, even a perfect challenger cannot win.
    pub fn fewest_pairs(self) -> usize {
        match self {
            Self::P80 => 3,
            Self::P90 => 4,
            Self::P95 => 5,
        }
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        Self::from(confidence.percent()) / 100.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = NotAConfidence;

    fn try_from(number: f64) -> Result<Self, NotAConfidence> {
        let same = |confidence: &Self| (f64::from(*confidence) - number).abs() < 1e-9;
        Self::ALL.into_iter().find(same).ok_or(NotAConfidence)
    }
}

impl FromStr for Confidence {
    type Err = NotAConfidence;

    fn from_str(text: &str) -> Result<Self, NotAConfidence> {
        text.parse::<f64>().map_err(|_| NotAConfidence)?.try_into()
    }
}

impl fmt::Display for Confidence {
    /// Writes the number as a person types it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f64::from(*self).fmt(f)
    }
}

/// One planned look at the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterimAnalysis {
    /// The number of pairs at this look.
    pub pairs: usize,
    /// This look's share of the chance of error.
    pub alpha: f64,
}

/// Returns the looks at a comparison of this number of pairs; none if so few pairs cannot show anything.
///
/// Each look has a share of the chance of error, so that all of them together stay within it. Up to 5 pairs there is
/// too little to share. From 12 on, thirds with most of the share kept for the end find as much in simulations as two
/// looks do, with fewer runs if the change is clear. A look that cannot win with its few pairs is left out, and the
/// next one has its share.
pub fn interim_analyses(pairs: usize, confidence: Confidence) -> Vec<InterimAnalysis> {
    interim_analyses_within(pairs, confidence.alpha())
}

/// Returns the looks at a comparison that has only this chance of error.
pub fn interim_analyses_within(pairs: usize, alpha: f64) -> Vec<InterimAnalysis> {
    let places: &[(usize, f64)] = match pairs {
        ..6 => &[(pairs, 1.0)],
        6..12 => &[(pairs / 2, 0.4), (pairs, 0.6)],
        12.. => &[(pairs / 3, 0.2), (pairs * 2 / 3, 0.2), (pairs, 0.6)],
    };
    let (mut planned, mut saved) = (Vec::new(), 0.0);
    for &(pairs, share) in places {
        let alpha = saved + share * alpha;
        // The clearest case: every pair is better.
        if flip::rejects(&vec![1; pairs], 0, alpha) {
            planned.push(InterimAnalysis { pairs, alpha });
            saved = 0.0;
        } else {
            saved = alpha;
        }
    }
    planned
}

/// A mean difference in points, with two one-sided bounds, all in whole tenths.
///
/// After several looks `points` is not the plain mean: it corrects for the early looks (see `fair_mean`). A win at an
/// early look is still above the truth on average; the average of all comparisons is not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub points: f64,
    pub lower: f64,
    pub upper: f64,
}

/// The conclusion from an effect's bounds alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// Better: the lower bound is above 0.
    Win,
    /// Worse: the upper bound is below 0.
    Loss,
    /// No difference that matters: both bounds are near 0.
    Tie,
    /// Not decided.
    Open,
}

/// The largest difference, in points, that does not matter.
pub const NEGLIGIBLE: f64 = 5.0;

/// Returns the effect seen in the looks so far; `differences` has those of all pairs at each look. The order of
/// the pairs is drawn, not chosen, and a comparison ends at the first look that is not open.
///
/// Each bound comes from inverting the test of the last look, so that a challenger wins exactly when the test rejects
/// "no better". If pairs are missing, a look keeps its alpha; a look beyond the plan has none, finds no bound and is
/// open.
pub fn effect(planned: &[InterimAnalysis], differences: &[Vec<f64>]) -> Effect {
    let alphas = planned.iter().map(|interim| interim.alpha).chain(iter::repeat(0.0));
    let mut made: Vec<Observed> =
        differences.iter().zip(alphas).map(|(points, alpha)| Observed::new(points, alpha)).collect();
    let last = made.pop().unwrap_or_else(|| Observed::new(&[], 0.0));
    bounded(&last, fair_mean(&made, &last.tenths))
}

/// One look at pairs before their comparison was extended, and the trials of each version that a pair had by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierLook {
    pub analysis: InterimAnalysis,
    pub trials: usize,
}

/// Returns the effect seen in the one look of an extended comparison. `differences` has those of the pairs, `trials`
/// those of each pair's trials.
pub fn extended_effect(
    alpha: f64,
    differences: &[f64],
    trials: &[Vec<f64>],
    earlier: &[EarlierLook],
) -> Effect {
    let last = Observed::new(differences, alpha);
    let fair = fair_mean_of_trials(earlier, trials).unwrap_or_else(|| mean(&last.tenths));
    bounded(&last, fair)
}

/// Adds the bounds of the last look to a mean in tenths.
fn bounded(last: &Observed, fair_mean: f64) -> Effect {
    let mirrored: Vec<i32> = last.tenths.iter().map(|tenths| -tenths).collect();
    let mut lower = flip::lower_bound(&last.tenths, last.alpha);
    let mut upper = -flip::lower_bound(&mirrored, last.alpha);
    // Both bounds may reach a mean between two tenths from either side: the tenth farther from 0 is used.
    if lower > upper {
        (lower, upper) = if mean(&last.tenths) > 0.0 { (lower, lower) } else { (upper, upper) };
    }
    let [lower, upper] = [lower, upper].map(|tenths| f64::from(tenths) / 10.0);
    let points = fair_mean.round() / 10.0;
    // Adding 0 turns -0 into 0.
    Effect { points: points.clamp(lower, upper) + 0.0, lower, upper }
}

impl Effect {
    pub fn conclusion(&self) -> Conclusion {
        if self.lower > 0.0 {
            Conclusion::Win
        } else if self.upper < 0.0 {
            Conclusion::Loss
        } else if self.lower >= -NEGLIGIBLE && self.upper <= NEGLIGIBLE {
            Conclusion::Tie
        } else {
            Conclusion::Open
        }
    }
}

/// The differences at a look.
struct Observed {
    tenths: Vec<i32>,
    alpha: f64,
}

impl Observed {
    fn new(points: &[f64], alpha: f64) -> Self {
        Self { tenths: points.iter().map(|points| in_tenths(*points)).collect(), alpha }
    }

    /// Returns the differences that this look would have had in this order.
    fn in_order<'a>(&self, order: &'a [i32]) -> &'a [i32] {
        &order[..self.tenths.len().min(order.len())]
    }
}

/// The largest difference of two scores, in tenths of a point.
const FARTHEST: i32 = 1000;

/// Rounds to the tenths that people see. Whole numbers can be counted exactly.
#[expect(clippy::cast_possible_truncation, reason = "the range is limited first")]
fn in_tenths(points: f64) -> i32 {
    let farthest = f64::from(FARTHEST);
    (points * 10.0).round().clamp(-farthest, farthest) as i32
}

/// Returns the mean, or 0 for an empty slice.
fn mean(tenths: &[i32]) -> f64 {
    let sum: f64 = tenths.iter().map(|tenths| f64::from(*tenths)).sum();
    let count: f64 = tenths.iter().map(|_| 1.0).sum();
    if tenths.is_empty() { 0.0 } else { sum / count }
}

/// Returns the mean at the first look, averaged over the orders of the pairs in which no earlier look decides.
///
/// A comparison that may end early ends too often at a lucky moment: its plain means are too high on average if the
/// challenger is better. The pairs of the first look were not selected by any result, so their mean is fair, and so is
/// its average over all orders in which the pairs could have come. In simulations it is as close to the truth as the
/// plain mean, without bias.
fn fair_mean(earlier: &[Observed], tenths: &[i32]) -> f64 {
    let Some(first) = earlier.iter().find(|one| !one.tenths.is_empty()) else {
        return mean(tenths);
    };
    let first_mean = |order: &[i32]| {
        let is_decided = earlier.iter().any(|one| decides(one.in_order(order), one.alpha));
        (!is_decided).then(|| mean(first.in_order(order)))
    };
    mean_over_orders(mean(&first.tenths), tenths, |_, _| {}, first_mean)
}

/// Returns the same if the earlier looks saw fewer trials of each pair: it averages over the orders of the pairs and of
/// each pair's trials. Returns `None` if there was no earlier look.
fn fair_mean_of_trials(earlier: &[EarlierLook], trials: &[Vec<f64>]) -> Option<f64> {
    let first = earlier.first()?;
    let first_mean = |order: &[Vec<f64>]| {
        let is_decided = earlier.iter().any(|one| decides(&one.in_order(order), one.analysis.alpha));
        (!is_decided).then(|| mean(&first.in_order(order)))
    };
    let shuffle = |pair: &mut Vec<f64>, draw: &mut Draw| draw.shuffle(pair);
    Some(mean_over_orders(mean(&first.in_order(trials)), trials, shuffle, first_mean))
}

impl EarlierLook {
    /// Returns the differences that this look would have had in this order.
    fn in_order(&self, order: &[Vec<f64>]) -> Vec<i32> {
        let first = |pair: &Vec<f64>| {
            let points = &pair[..self.trials.min(pair.len())];
            let count: f64 = points.iter().map(|_| 1.0).sum();
            (!points.is_empty()).then(|| in_tenths(points.iter().sum::<f64>() / count))
        };
        order.iter().take(self.analysis.pairs).filter_map(first).collect()
    }
}

/// Averages the mean at the first look over the real order, which gave `real`, and drawn ones. `first_mean` returns
/// `None` for an order in which an earlier look decides.
fn mean_over_orders<T: Clone>(
    real: f64,
    pairs: &[T],
    shuffle_pair: impl Fn(&mut T, &mut Draw),
    first_mean: impl Fn(&[T]) -> Option<f64>,
) -> f64 {
    let (mut draw, mut order) = (Draw::new(0, 0), pairs.to_vec());
    let (mut sum, mut possible) = (real, 1.0);
    for _ in 0..orders(pairs.len()) {
        draw.shuffle(&mut order);
        for pair in &mut order {
            shuffle_pair(pair, &mut draw);
        }
        if let Some(mean) = first_mean(&order) {
            sum += mean;
            possible += 1.0;
        }
    }
    sum / possible
}

/// Returns how many orders to try. Fewer are as fair; with more pairs they differ less.
fn orders(pairs: usize) -> usize {
    (2400 / pairs.max(1)).clamp(10, 100)
}

/// Returns whether a look at these differences decides the comparison.
fn decides(tenths: &[i32], alpha: f64) -> bool {
    let mirrored: Vec<i32> = tenths.iter().map(|tenths| -tenths).collect();
    let rejects = |centre| [tenths, &mirrored].map(|tenths| flip::rejects(tenths, centre, alpha));
    let beyond_negligible = in_tenths(-NEGLIGIBLE) - 1;
    rejects(0).contains(&true) || rejects(beyond_negligible) == [true, true]
}

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
