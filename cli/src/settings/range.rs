//! The ranges of numbers in settings.

use std::fmt;

pub const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
pub const COUNT: Range = Range { low: 1.0, high: 100.0 };
/// Runs of the executor in one search.
pub const RUNS: Range = Range { low: 1.0, high: 100_000.0 };
/// Amounts that cost one call each, or one line of a prompt.
pub const FEW: Range = Range { low: 0.0, high: 20.0 };
pub const JOBS: Range = Range { low: 1.0, high: 256.0 };
pub const POINTS: Range = Range { low: 0.0, high: 100.0 };
/// Up to a week.
pub const SECONDS: Range = Range { low: 1.0, high: 604_800.0 };
/// Up to a week.
pub const HOURS: Range = Range { low: 1.0, high: 168.0 };
/// Milliseconds, up to a minute.
pub const PAUSE: Range = Range { low: 0.0, high: 60_000.0 };
pub const SHARE: Range = Range { low: 0.0, high: 1.0 };
/// Up to the largest number below which a float stores every whole number exactly.
pub const AMOUNT: Range = Range { low: 0.0, high: 9_007_199_254_740_992.0 };

/// The range from the lowest to the highest allowed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub fn has(self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {} to {}", self.low, self.high)
    }
}
