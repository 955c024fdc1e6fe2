//! The results of many runs of one policy at one budget.

use serde::Serialize;

use super::play::Played;

/// One line of the table. Shares are from 0 to 1, the rest is in points or runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub seeds: usize,
    /// The true worth of the skill at the start and at the end.
    pub start: f64,
    pub quality: Estimate,
    /// Executor runs, on average.
    pub used: f64,
    /// The shares of all seeds that ended truly worse than they began, and that replaced the start.
    pub worse: f64,
    pub shipped: f64,
    /// The claimed minus the true gain of the replacements; `None` if there were none.
    pub claimed_minus_true: Option<Estimate>,
    /// The share of edited chains with a broken member in which that member was edited first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_first: Option<f64>,
}

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub mean: f64,
    pub error: f64,
}

/// A smaller difference in quality is a rounding error.
const SAME: f64 = 1e-6;

impl Row {
    /// `None` if there are no runs.
    pub fn of(played: &[Played]) -> Option<Self> {
        let mean = |value: fn(&Played) -> f64| Estimate::of(played.iter().map(value));
        let share = |is_so: fn(&Played) -> bool| {
            Estimate::of(played.iter().map(|one| if is_so(one) { 1.0 } else { 0.0 }))
        };
        let excess = |one: &Played| one.claimed.map(|claimed| claimed - (one.end - one.start));
        let first =
            played.iter().filter_map(|one| one.broken_first).map(|is_so| if is_so { 1.0 } else { 0.0 });
        Some(Self {
            seeds: played.len(),
            start: mean(|one| one.start)?.mean,
            quality: mean(|one| one.end)?,
            used: mean(|one| f64::from(one.runs))?.mean,
            worse: share(|one| one.end < one.start - SAME)?.mean,
            shipped: share(|one| one.claimed.is_some())?.mean,
            claimed_minus_true: Estimate::of(played.iter().filter_map(excess)),
            broken_first: Estimate::of(first).map(|first| first.mean),
        })
    }
}

impl Estimate {
    /// `None` if there are no values.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        let count: f64 = values.iter().map(|_| 1.0).sum();
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        (!values.is_empty()).then_some(Self { mean, error })
    }
}
