//! The ranges of numbers in settings.

use std::fmt;

use serde_json::{Value as Json, json};

pub const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
pub const COUNT: Range = Range { low: 1.0, high: 100.0 };
/// Runs of the executor in one search.
pub const RUNS: Range = Range { low: 1.0, high: 100_000.0 };
/// Amounts that cost one call each, or one line of a prompt.
pub const FEW: Range = Range { low: 0.0, high: 20.0 };
pub const JOBS: Range = Range { low: 1.0, high: 256.0 };
/// Calls that a worker makes at a time.
pub const SLOTS: Range = Range { low: 1.0, high: 10_000.0 };
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

    /// Returns the schema of a number of this JSON type.
    pub fn schema(self, of: &str) -> Json {
        let mut schema = json!({ "type": of });
        for (key, limit) in [("minimum", self.low), ("maximum", self.high)] {
            if limit.is_finite() {
                schema[key] = plain(limit);
            }
        }
        schema
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.high >= AMOUNT.high {
            return write!(f, "from {} up", self.low);
        }
        write!(f, "from {} to {}", self.low, self.high)
    }
}

/// Returns a number as a person types it: 80 and not 80.0.
pub fn plain(number: f64) -> Json {
    if number.fract() != 0.0 || number.abs() > AMOUNT.high {
        return number.into();
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
    let whole = number as i64;
    whole.into()
}
