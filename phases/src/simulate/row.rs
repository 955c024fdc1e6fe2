//! What many runs of one policy at one budget came to.

use serde::Serialize;

use super::play::Played;

/// One line of the table. Shares are from 0 to 1, the rest is in points or runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub seeds: usize,
    /// What the skill is truly worth at the start and in the end.
    pub start: f64,
    pub quality: Estimate,
    /// Executor runs, on average.
    pub used: f64,
    /// Of all seeds, how many ended truly worse than they began, and how many replaced the start.
    pub worse: f64,
    pub shipped: f64,
    /// Claimed minus true gain of what replaced the start; nothing, if nothing ever did.
    pub claimed_minus_true: Option<Estimate>,
    /// Of those that edited a chain with a broken member, how many edited that one first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_first: Option<f64>,
}

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub mean: f64,
    pub error: f64,
}

/// A difference in quality that is less than this is no difference: it comes from rounding.
const SAME: f64 = 1e-6;

impl Row {
    /// Of nothing there is none.
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
    /// Of nothing there is none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        let count: f64 = values.iter().map(|_| 1.0).sum();
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        (!values.is_empty()).then_some(Self { mean, error })
    }
}
