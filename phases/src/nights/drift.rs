//! Detects an unchanged skill that works worse than before: agents and models change under the same name.
//!
//! Each night tries the skill again on some of its scenarios, and compares with earlier trials of the same scenarios.
//! One bad night is weak evidence. So a running sum (CUSUM) adds up how far each night was below the known trials, less
//! an allowance: chance brings the sum back to 0, a fall makes it grow. If the sum passes its limit, the night tries
//! the same scenarios once more, and counts only if these trials are low as well: one such night is `watch`, three days
//! of them are `drift`.
//!
//! Each night that ends with the sum at 0 adds its trials to the known ones. The trials of a doubted night join them
//! only when the doubt is over, so a fall does not become the new normal during the investigation.
//!
//! If the agents or the skill change, another series begins, and `change` compares the two.

pub mod change;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::base::name::Name;
use crate::judging::score::Score;

/// One trial of a scenario, by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub scenario: Name,
    pub score: Score,
}

/// By how many points trials are below the known trials of their scenarios, and the standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fall {
    pub points: f64,
    pub error: f64,
}

/// The trials of one version of a skill with one suite, one agent, one version of the agent and one model. If any of
/// these changes, a new series begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The usual standard deviation of trials of the same scenario, in points.
    deviation: f64,
    known: Trials,
    doubted: Trials,
    sum: f64,
    /// The days of the doubt on which the second trials were low too.
    confirmed: BTreeSet<Date>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftLevel {
    Steady,
    Watch,
    Drift,
}

/// The distance below the known trials, in standard errors, that a night may have without adding to the sum. This value
/// is best for a fall of 2.5 standard errors. A smaller fall is often missed.
const ALLOWANCE: f64 = 1.25;
/// Above this sum the night is doubted, and its scenarios are tried again.
const LIMIT: f64 = 2.0;
/// The second trials of a night are low if they are below the known trials by more than this.
const LOW: f64 = 1.0;
/// An unlimited sum would outlast a recovery by weeks.
const MOST: f64 = 2.0 * LIMIT;
/// The most that one night adds or subtracts.
const FARTHEST: f64 = 4.0;
const DAYS_OF_DRIFT: usize = 3;
/// Chance exceeds this many standard errors in 5 of 100 cases. It is more than the 1.645 of a normal value, because the
/// deviation of trials is only estimated (`night/tests` measures it).
const SURE: f64 = 1.75;

/// The deviation of trials without a calibration.
const USUAL_DEVIATION: f64 = 10.0;
/// The weight of the initial deviation: as much as this many trials, each with another one of its scenario.
const AS_IF: f64 = 4.0;

impl Series {
    /// Creates a series from the known trials, and the standard deviation found by a calibration, if any.
    pub fn new(known: &[Trial], deviation: Option<f64>) -> Self {
        Self::at(Trials::of(known), deviation.unwrap_or(USUAL_DEVIATION))
    }

    fn at(known: Trials, deviation: f64) -> Self {
        Self {
            deviation: deviation.clamp(1.0, 100.0),
            known,
            doubted: Trials::default(),
            sum: 0.0,
            confirmed: BTreeSet::new(),
        }
    }

    /// Returns the series that its successor is compared with. In a confirmed fall these are the fallen trials alone,
    /// so that the fall is not blamed on what changed after it.
    #[must_use]
    pub fn just_before(&self) -> Self {
        if self.confirmed.is_empty() {
            return self.clone();
        }
        Self::at(self.doubted.clone(), self.variance().sqrt())
    }

    /// Returns the series from before a confirmed fall, and the first day of the fall; None without one.
    pub fn before_fall(&self) -> Option<(Self, Date)> {
        let first = *self.confirmed.first()?;
        Some((Self::at(self.known.clone(), self.variance().sqrt()), first))
    }

    /// Adds trials to the known ones.
    pub fn learn(&mut self, tried: &[Trial]) {
        self.known.join(&Trials::of(tried));
    }

    /// Adds the trials of a night. Returns whether the night is doubted, so that its scenarios must be tried once more.
    #[must_use]
    pub fn night(&mut self, tried: &[Trial]) -> bool {
        self.add(tried);
        self.settle();
        self.sum > LIMIT
    }

    /// Adds the second trials of a doubted night.
    pub fn again(&mut self, day: Date, tried: &[Trial]) {
        let fall = self.add(tried);
        if fall > LOW {
            self.confirmed.insert(day);
        }
        self.settle();
    }

    pub fn drift_level(&self) -> DriftLevel {
        match self.confirmed.len() {
            0 => DriftLevel::Steady,
            DAYS_OF_DRIFT.. => DriftLevel::Drift,
            _ => DriftLevel::Watch,
        }
    }

    /// Returns the number of days on which a fall was confirmed.
    pub fn days(&self) -> usize {
        self.confirmed.len()
    }

    /// Returns the mean of the known trials.
    pub fn mean(&self) -> Option<f64> {
        self.known.mean()
    }

    /// Returns the bounds of the mean that these trials have if the skill is unchanged, with a confidence of 90 %; None
    /// if no trials of one of their scenarios are known.
    pub fn expected(&self, tried: &[Trial]) -> Option<(f64, f64)> {
        let tried = Trials::of(tried);
        let is_known = tried.0.keys().all(|scenario| self.known.0.contains_key(scenario));
        let (lower, upper) = self.fall_to(&tried).filter(|_| is_known)?.bounds();
        let mean = tried.mean()?;
        Some((mean + lower, mean + upper))
    }

    /// Returns how far these trials are below the known ones; None, if no trials of their scenarios are known.
    pub fn fall(&self, tried: &[Trial]) -> Option<Fall> {
        self.fall_to(&Trials::of(tried))
    }

    fn fall_to(&self, tried: &Trials) -> Option<Fall> {
        let (mut fall, mut variance, mut count) = (0.0, 0.0, 0.0);
        for (scenario, now) in &tried.0 {
            if let Some(known) = self.known.0.get(scenario) {
                fall += now.count * (known.mean - now.mean);
                variance += now.count + now.count * now.count / known.count;
                count += now.count;
            }
        }
        (count > 0.0)
            .then(|| Fall { points: fall / count, error: (variance * self.variance()).sqrt() / count })
    }

    /// Adds trials to the sum. Returns by how many standard errors they are below the known trials of their scenarios.
    fn add(&mut self, tried: &[Trial]) -> f64 {
        self.doubted.join(&Trials::of(tried));
        let Some(fall) = self.fall(tried) else { return 0.0 };
        let fall = (fall.points / fall.error).clamp(-FARTHEST, FARTHEST);
        self.sum = (self.sum + fall - ALLOWANCE).clamp(0.0, MOST);
        fall
    }

    /// Returns the variance of one trial, from trials of the same scenario, doubted or not.
    fn variance(&self) -> f64 {
        let of = |trials: &Trials| {
            let each = trials.0.values();
            each.fold((0.0, 0.0), |(squares, count), one| (squares + one.squares, count + one.count - 1.0))
        };
        let ((known, of_known), (doubted, of_doubted)) = (of(&self.known), of(&self.doubted));
        (known + doubted + AS_IF * self.deviation.powi(2)) / (of_known + of_doubted + AS_IF)
    }

    /// Ends a doubt when the sum is 0: all trials join the known ones.
    fn settle(&mut self) {
        if self.sum == 0.0 {
            self.known.join(&std::mem::take(&mut self.doubted));
            self.confirmed.clear();
        }
    }
}

impl Fall {
    /// Returns whether the trials are low enough to try once more.
    pub fn is_doubtful(&self) -> bool {
        self.points > LOW * self.error
    }

    /// Returns whether the fall is larger than chance explains in 95 of 100 cases.
    pub fn is_sure(&self) -> bool {
        self.points > SURE * self.error
    }

    /// Returns whether it is a sure rise.
    pub fn is_rise(&self) -> bool {
        Self { points: -self.points, ..*self }.is_sure()
    }

    /// Returns the bounds of the fall in points, with a confidence of 90 %.
    pub fn bounds(&self) -> (f64, f64) {
        (self.points - SURE * self.error, self.points + SURE * self.error)
    }
}

/// The results of the trials of each scenario.
#[derive(Clone, Debug, Default, PartialEq)]
struct Trials(BTreeMap<Name, Sum>);

/// The number of trials, their mean, and the sum of their squared distances from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Trials {
    fn of(trials: &[Trial]) -> Self {
        let mut sums: BTreeMap<Name, Sum> = BTreeMap::new();
        for trial in trials {
            let one = Sum { count: 1.0, mean: trial.score.points(), squares: 0.0 };
            sums.entry(trial.scenario.clone()).or_default().join(one);
        }
        Self(sums)
    }

    fn mean(&self) -> Option<f64> {
        let sums = self.0.values();
        let (sum, count) =
            sums.fold((0.0, 0.0), |(sum, count), one| (sum + one.mean * one.count, count + one.count));
        (count > 0.0).then(|| sum / count)
    }

    fn join(&mut self, other: &Self) {
        for (scenario, sum) in &other.0 {
            self.0.entry(scenario.clone()).or_default().join(*sum);
        }
    }

    /// Takes the trials of these scenarios in place of the older ones.
    fn replace(&mut self, newer: Self) {
        self.0.extend(newer.0);
    }
}

impl Sum {
    fn join(&mut self, other: Self) {
        let (count, distance) = (self.count + other.count, other.mean - self.mean);
        self.squares += other.squares + distance * distance * self.count * other.count / count;
        self.mean += distance * other.count / count;
        self.count = count;
    }
}

#[cfg(test)]
mod tests;
