//! Computes what a comparison could show before it is made: how much trials of the same skill scatter, and the smallest
//! change that it would find.

use serde::{Deserialize, Serialize};

use crate::draw::Draw;
use crate::{Confidence, InterimAnalysis, Weights, flip, in_tenths, interim_analyses, unpaired_effect};

/// The differences between trials of one skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Mean score of the scenarios.
    pub mean: f64,
    /// Standard deviation of a trial within its scenario, in points, over all scenarios.
    pub deviation: f64,
    /// The number of independent differences between trials.
    pub freedom: usize,
    /// With a chance of 75 %, the true deviation is below this.
    pub upper: f64,
    /// The indexes of scenarios in which every trial has 0 points: perhaps nothing can pass them.
    pub always_zero: Vec<usize>,
    /// Scenarios in which every trial has 100 points: no change can be better there.
    pub always_full: Vec<usize>,
    /// Scenarios whose trials differ by `FLICKER` points or more.
    pub flickering: Vec<usize>,
}

/// Half of the scale: the same skill passes and fails.
pub const FLICKER: f64 = 50.0;

/// Computes the noise from the scores of each scenario's trials. Returns None if no scenario has two.
pub fn noise(scores: &[Vec<f64>]) -> Option<Noise> {
    let tried: Vec<(usize, Sample)> =
        scores.iter().enumerate().filter_map(|(place, scores)| Some((place, Sample::of(scores)?))).collect();
    let freedom: usize = tried.iter().map(|(_, sample)| sample.count - 1).sum();
    if freedom == 0 {
        return None;
    }
    let places = |wanted: &dyn Fn(&Sample) -> bool| {
        tried.iter().filter(|(_, sample)| wanted(sample)).map(|(place, _)| *place).collect()
    };
    let squares: f64 = tried.iter().map(|(_, sample)| sample.squares).sum();
    let means: f64 = tried.iter().map(|(_, sample)| sample.mean).sum();
    let deviation = (squares / number(freedom)).sqrt();
    Some(Noise {
        mean: means / number(tried.len()),
        deviation,
        freedom,
        upper: deviation * upper_limit(number(freedom)),
        always_zero: places(&|sample| sample.best <= 0.0),
        always_full: places(&|sample| sample.worst >= 100.0),
        flickering: places(&|sample| sample.best - sample.worst >= FLICKER),
    })
}

/// Returns the standard deviation of these trials, whichever scenarios they are of. None if there are fewer than two.
pub fn deviation(scores: &[f64]) -> Option<f64> {
    let sample = Sample::of(scores).filter(|sample| sample.count > 1)?;
    Some((sample.squares / number(sample.count - 1)).sqrt())
}

/// The trials of one scenario.
struct Sample {
    count: usize,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
    worst: f64,
    best: f64,
}

impl Sample {
    fn of(scores: &[f64]) -> Option<Self> {
        let first = *scores.first()?;
        let mean = scores.iter().sum::<f64>() / number(scores.len());
        Some(Self {
            count: scores.len(),
            mean,
            squares: scores.iter().map(|score| (score - mean).powi(2)).sum(),
            worst: scores.iter().copied().fold(first, f64::min),
            best: scores.iter().copied().fold(first, f64::max),
        })
    }
}

/// Returns the factor from a deviation to its upper limit of 75 %: by the lower quartile of chi-square, after Wilson
/// and Hilferty.
fn upper_limit(freedom: f64) -> f64 {
    const LOWER_QUARTILE: f64 = -0.674_489_75;
    let step = 2.0 / (9.0 * freedom);
    (1.0 - step + LOWER_QUARTILE * step.sqrt()).powf(-1.5)
}

#[expect(clippy::cast_precision_loss, reason = "counts of scenarios and trials are small")]
fn number(count: usize) -> f64 {
    count as f64
}

/// The scatter of a pair's difference around a change.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    /// Standard deviation of a trial within its scenario, in points.
    trial: f64,
    /// The variation of the change between scenarios, as a share of the change.
    spread: f64,
}

/// The assumed variation of an unmeasured change between scenarios, as a share of it.
const SPREAD: f64 = 0.5;

impl Noise {
    /// Returns the scatter of an unmeasured change, with the upper limit of the noise.
    pub fn scatter(&self) -> Scatter {
        Scatter { trial: self.upper, spread: SPREAD }
    }
}

impl Scatter {
    /// Returns the scatter of a change measured on these pairs, each with this number of trials a side. None if there
    /// is one pair or no change.
    ///
    /// With known noise of the trials, the rest is the variation of the change between scenarios. With one trial a side
    /// the two cannot be separated, and the variation is assumed to be `SPREAD`. Both are estimates without a margin:
    /// in simulations a margin made the comparison larger than necessary.
    pub fn of_pairs(differences: &[f64], change: f64, noise: Option<&Noise>, trials: u32) -> Option<Self> {
        let sample = Sample::of(differences).filter(|sample| sample.count > 1 && in_tenths(change) != 0)?;
        let pair = sample.squares / number(sample.count - 1);
        let (trial, between) = if let Some(noise) = noise {
            (noise.deviation, (pair - 2.0 * noise.deviation.powi(2) / f64::from(trials.max(1))).max(0.0))
        } else {
            let between = (SPREAD * change).powi(2).min(pair);
            (((pair - between) / 2.0).sqrt(), between)
        };
        Some(Self { trial, spread: between.sqrt() / change.abs() })
    }

    /// Returns the scatter of two samples that are not pairs, as if all of it were between trials of one scenario. For
    /// pairs, that is rather too large. Returns `None` if no sample has two scores.
    pub fn of_samples(one: &[f64], other: &[f64]) -> Option<Self> {
        let samples = [Sample::of(one)?, Sample::of(other)?];
        let freedom: usize = samples.iter().map(|sample| sample.count - 1).sum();
        let squares: f64 = samples.iter().map(|sample| sample.squares).sum();
        (freedom > 0).then(|| Self { trial: (squares / number(freedom)).sqrt(), spread: 0.0 })
    }
}

/// The size of a comparison: its pairs, and each pair's trials a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub pairs: usize,
    pub trials: u32,
    pub confidence: Confidence,
}

/// The smallest size with which a comparison finds a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Needed {
    pub points: f64,
    /// The number of pairs with the current trials. None if `MOST_PAIRS` are not enough.
    pub pairs: Option<usize>,
    /// The number of trials with the current pairs. None if `MOST_TRIALS` are not enough.
    pub trials: Option<u32>,
}

/// The limit of a request for more pairs.
pub const MOST_PAIRS: usize = 48;
pub const MOST_TRIALS: u32 = 10;

/// Returns the size that finds a change of this number of points in four of five cases.
pub fn needed(points: f64, scatter: Scatter, now: Size, seed: u64) -> Needed {
    let with_pairs = |pairs| is_visible(points, scatter, Size { pairs, ..now }, seed);
    let as_u32 = |trials: usize| u32::try_from(trials).unwrap_or(u32::MAX);
    let with_trials = |trials| is_visible(points, scatter, Size { trials: as_u32(trials), ..now }, seed);
    let fewest = (now.pairs + 1).max(now.confidence.fewest_pairs());
    let trials = first(now.trials as usize + 1, MOST_TRIALS as usize, with_trials);
    Needed { points, pairs: first(fewest, MOST_PAIRS, with_pairs), trials: trials.map(as_u32) }
}

/// Returns the first number from which the condition is always true.
fn first(from: usize, to: usize, is_so: impl Fn(usize) -> bool) -> Option<usize> {
    if from > to || !is_so(to) {
        return None;
    }
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_so(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// The number of simulated comparisons.
const SIMULATED: u64 = 1000;

/// The number of wins that make a change visible.
const NEEDED: usize = 800;

/// The number of other results.
const MAY_MISS: usize = 200;

/// The number of steps per deviation of a pair: fine enough not to change any chance, and quick.
const STEPS: f64 = 25.0;

/// Returns the smallest improvement, in points, that such a comparison finds in four of five cases. None if it is more
/// than `headroom`, the points left up to 100.
///
/// The comparison itself is simulated.
pub fn smallest_visible(scatter: Scatter, of: Size, headroom: f64, seed: u64) -> Option<f64> {
    let world = World::new(scatter, of, seed);
    // A comparison that finds a change also finds a larger one, so only undecided comparisons are tried again.
    let mut undecided: Vec<u64> = (0..SIMULATED).collect();
    let (mut too_small, mut enough) = (0, in_tenths(headroom));
    undecided.retain(|nth| world.is_seen(*nth, enough));
    if undecided.len() < NEEDED {
        return None;
    }
    let mut found = 0;
    while enough - too_small > 1 {
        let middle = i32::midpoint(too_small, enough);
        let (won, missed): (Vec<u64>, Vec<u64>) =
            undecided.iter().partition(|nth| world.is_seen(**nth, middle));
        if found + won.len() >= NEEDED {
            (enough, undecided) = (middle, won);
        } else {
            (too_small, undecided) = (middle, missed);
            found += won.len();
        }
    }
    Some(f64::from(enough) / 10.0)
}

/// A comparison of separate samples: the start's first trials with fresh ones of another version on other scenarios.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    pub control: usize,
    pub fresh: usize,
    pub weights: Weights,
    pub alpha: f64,
}

/// Enough for the fifth that finds least: each exact test takes thousands of steps.
const FEW_SIMULATED: u64 = 200;

/// Returns the same for separate samples, of which each trial deviates by this from the mean of all scenarios.
pub fn smallest_between(deviation: f64, of: Samples, headroom: f64, seed: u64) -> Option<f64> {
    // The change itself varies between scenarios by a share of it, so the second pass knows its size.
    let first = missed_by_a_fifth(deviation, 0.0, of, seed);
    let smallest = missed_by_a_fifth(deviation, SPREAD * first, of, seed);
    // Adding zero takes the sign from a zero.
    (smallest <= headroom).then(|| (smallest.max(0.0) * 10.0).ceil() / 10.0 + 0.0)
}

/// Returns the change that four of five comparisons find: a change moves every bound by itself.
fn missed_by_a_fifth(deviation: f64, spread: f64, of: Samples, seed: u64) -> f64 {
    let lower = |nth| {
        let mut draw = Draw::new(seed, nth);
        let mut some =
            |count, deviation: f64| (0..count).map(|_| deviation * draw.normal()).collect::<Vec<_>>();
        let control = some(of.control, deviation);
        unpaired_effect(&control, &some(of.fresh, deviation.hypot(spread)), of.weights, of.alpha).lower
    };
    let mut lower: Vec<f64> = (0..FEW_SIMULATED).map(lower).collect();
    lower.sort_by(f64::total_cmp);
    -lower[lower.len() / 5]
}

/// Returns whether such a comparison finds a change of this number of points in four of five cases.
fn is_visible(points: f64, scatter: Scatter, of: Size, seed: u64) -> bool {
    let (world, tenths) = (World::new(scatter, of, seed), in_tenths(points));
    let (mut found, mut missed) = (0, 0);
    // Stops as soon as the result is certain.
    for nth in 0..SIMULATED {
        if found == NEEDED || missed > MAY_MISS {
            break;
        }
        *(if world.is_seen(nth, tenths) { &mut found } else { &mut missed }) += 1;
    }
    found == NEEDED
}

/// A possible result of a comparison.
struct World {
    pairs: usize,
    interim_analyses: Vec<InterimAnalysis>,
    /// The deviation of a pair's difference without a change.
    deviation: f64,
    spread: f64,
    seed: u64,
}

impl World {
    fn new(scatter: Scatter, of: Size, seed: u64) -> Self {
        let deviation = scatter.trial * (2.0 / f64::from(of.trials.max(1))).sqrt();
        let interim_analyses = interim_analyses(of.pairs, of.confidence);
        Self { pairs: of.pairs, interim_analyses, deviation, spread: scatter.spread, seed }
    }

    /// Returns whether the `nth` comparison finds a change of this number of tenths.
    fn is_seen(&self, nth: u64, tenths: i32) -> bool {
        let step = (self.deviation * 10.0 / STEPS).max(1.0);
        let mut draw = Draw::new(self.seed, nth);
        let mut difference = || {
            let change = f64::from(tenths) * (1.0 + self.spread * draw.normal());
            let noise = self.deviation * 10.0 * draw.normal();
            in_tenths((change + noise) / step / 10.0)
        };
        let differences: Vec<i32> = (0..self.pairs).map(|_| difference()).collect();
        self.interim_analyses
            .iter()
            .any(|interim| flip::rejects(&differences[..interim.pairs], 0, interim.alpha))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 0.01
    }

    fn scatter(trial: f64) -> Scatter {
        Scatter { trial, spread: SPREAD }
    }

    const TEN: Size = Size { pairs: 10, trials: 3, confidence: Confidence::P90 };

    fn visible(upper: f64, pairs: usize, trials: u32, confidence: Confidence) -> Option<f64> {
        smallest_visible(scatter(upper), Size { pairs, trials, confidence }, 80.0, 7)
    }

    #[test]
    fn trials_are_compared_within_their_scenario_only() {
        let noise = noise(&[vec![10.0, 20.0], vec![80.0, 90.0, 100.0], vec![40.0], vec![]]).unwrap();
        // Squares of 50 and 200, with one and two degrees of freedom.
        assert!(near(noise.deviation, (250.0_f64 / 3.0).sqrt()), "{noise:?}");
        assert_eq!(noise.freedom, 3);
        assert!(near(noise.mean, (15.0 + 90.0 + 40.0) / 3.0), "{noise:?}");
        assert!(noise.always_zero.is_empty() && noise.always_full.is_empty() && noise.flickering.is_empty());
    }

    #[test]
    fn without_a_second_trial_nothing_is_known_of_the_noise() {
        assert_eq!(noise(&[]), None);
        assert_eq!(noise(&[vec![10.0], vec![90.0], vec![]]), None);
    }

    #[test]
    fn dead_and_flickering_scenarios_are_named_by_their_places() {
        let scores =
            [vec![0.0, 0.0], vec![100.0, 100.0], vec![30.0, 80.0], vec![30.0, 79.0], vec![0.0, 100.0]];
        let noise = noise(&scores).unwrap();
        assert_eq!(noise.always_zero, [0]);
        assert_eq!(noise.always_full, [1]);
        assert_eq!(noise.flickering, [2, 4]);
    }

    #[test]
    fn the_upper_limit_follows_chi_square() {
        // Lower quartiles from a table: 1.9226 for 4, 15.4518 for 20, 90.1332 for 100.
        for (freedom, quartile) in [(4.0, 1.9226), (20.0, 15.4518), (100.0, 90.1332_f64)] {
            let factor = (freedom / quartile).sqrt();
            assert!(near(upper_limit(freedom), factor), "{freedom}: {} {factor}", upper_limit(freedom));
        }
    }

    #[test]
    fn more_pairs_more_trials_and_less_noise_show_a_smaller_change() {
        let at = |upper, pairs, trials| visible(upper, pairs, trials, Confidence::P90).unwrap();
        assert!(at(15.0, 5, 3) > at(15.0, 10, 3));
        assert!(at(15.0, 10, 1) > at(15.0, 10, 3));
        assert!(at(15.0, 10, 3) > at(8.0, 10, 3));
        assert!(at(15.0, 10, 3) < visible(15.0, 10, 3, Confidence::P95).unwrap());
        assert!(near(at(15.0, 10, 3), at(15.0, 10, 3)));
    }

    #[test]
    fn what_is_visible_is_at_least_the_smallest_that_is() {
        let smallest = visible(15.0, 10, 3, Confidence::P90).unwrap();
        let is_visible = |points| is_visible(points, scatter(15.0), TEN, 7);
        assert!(is_visible(smallest) && is_visible(80.0) && !is_visible(smallest / 2.0));
    }

    #[test]
    fn what_is_needed_is_the_least_that_is_enough() {
        let needed = needed(9.0, scatter(15.0), TEN, 7);
        let is_enough = |size| is_visible(9.0, scatter(15.0), size, 7);
        let (pairs, trials) = (needed.pairs.unwrap(), needed.trials.unwrap());
        assert!(pairs > 10 && trials > 3 && !is_enough(TEN), "{needed:?}");
        assert!(is_enough(Size { pairs, ..TEN }) && is_enough(Size { trials, ..TEN }));
        assert!(
            !is_enough(Size { pairs: pairs - 1, ..TEN }) && !is_enough(Size { trials: trials - 1, ..TEN })
        );
        let none = Needed { points: 0.5, pairs: None, trials: None };
        assert_eq!(super::needed(0.5, scatter(15.0), TEN, 7), none);
    }

    #[test]
    fn the_scatter_of_pairs_is_divided_between_trials_and_scenarios() {
        let differences = [5.0, 15.0, 25.0, 35.0];
        let of =
            |noise: Option<&Noise>, trials| Scatter::of_pairs(&differences, 20.0, noise, trials).unwrap();
        // A variance of 500/3: without a second trial, 100 of it is the assumed variation of a change of 20.
        let unknown = of(None, 1);
        assert!(near(unknown.spread, 0.5) && near(unknown.trial, (200.0_f64 / 6.0).sqrt()), "{unknown:?}");
        let noise = |by: f64| noise(&[vec![50.0 - by, 50.0 + by]]);
        // Two trials of deviation 6 a side explain 36 of the variance.
        let known = of(noise(6.0 / 2.0_f64.sqrt()).as_ref(), 2);
        assert!(
            near(known.trial, 6.0) && near(known.spread, (500.0_f64 / 3.0 - 36.0).sqrt() / 20.0),
            "{known:?}"
        );
        assert!(near(of(noise(40.0).as_ref(), 2).spread, 0.0), "trials explain all of it");
        assert!(Scatter::of_pairs(&differences, 0.04, None, 1).is_none());
        assert!(Scatter::of_pairs(&differences[..1], 5.0, None, 1).is_none());
    }

    #[test]
    fn all_scatter_of_separate_samples_counts_as_that_of_trials() {
        // Squares of 200 and 50, with two degrees of freedom and one.
        let scatter = Scatter::of_samples(&[10.0, 20.0, 30.0], &[80.0, 90.0]).unwrap();
        assert!(near(scatter.trial, (250.0_f64 / 3.0).sqrt()) && near(scatter.spread, 0.0), "{scatter:?}");
        assert!(Scatter::of_samples(&[10.0], &[80.0]).is_none());
        assert!(Scatter::of_samples(&[], &[80.0, 90.0]).is_none());
    }

    #[test]
    fn four_of_five_separate_samples_find_the_smallest_change_between_them() {
        let of = Samples { control: 8, fresh: 7, weights: Weights::Equal, alpha: 0.1 };
        let smallest = smallest_between(20.0, of, 100.0, 7).unwrap();
        let wins = (1000..1200).filter(|nth| {
            let mut draw = Draw::new(7, *nth);
            let control: Vec<f64> = (0..of.control).map(|_| 20.0 * draw.normal()).collect();
            let mut fresh = || smallest * (1.0 + SPREAD * draw.normal()) + 20.0 * draw.normal();
            let fresh: Vec<f64> = (0..of.fresh).map(|_| fresh()).collect();
            unpaired_effect(&control, &fresh, of.weights, of.alpha).lower > 0.0
        });
        let wins = wins.count();
        assert!((140..=180).contains(&wins), "{wins} of 200 with {smallest}");
        let more = Samples { fresh: 9, ..of };
        assert!(smallest_between(20.0, more, 100.0, 7).unwrap() < smallest);
        assert_eq!(smallest_between(20.0, of, smallest - 1.0, 7), None);
        let none = smallest_between(0.0, of, 100.0, 7).map(f64::to_bits);
        assert_eq!(none, Some(0), "without noise it is zero, and not minus zero");
    }

    #[test]
    fn what_is_above_the_headroom_or_can_never_win_is_not_visible() {
        assert_eq!(visible(60.0, 5, 1, Confidence::P90), None);
        assert_eq!(visible(1.0, 3, 1, Confidence::P90), None);
        assert_eq!(smallest_visible(scatter(1.0), TEN, 0.0, 7), None);
        let headroom = |points| smallest_visible(scatter(15.0), TEN, points, 7);
        let smallest = headroom(80.0).unwrap();
        assert_eq!(headroom(smallest), Some(smallest));
        assert_eq!(headroom(smallest - 0.1), None);
    }
}
