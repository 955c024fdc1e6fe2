//! Computes numbers from verdicts: the only place that makes a score.
//!
//! A score is finite and within 0 to 100 by construction. It is computed from findings, never taken from a model; a
//! missing evaluation is absent, never a number in the middle.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::judging::contract::{Contract, DimensionId, Verdict};
use crate::judging::findings::Findings;

/// A number from 0 to 100, held in millionths so that equal scores are equal and float noise decides nothing.
///
/// Before a score is compared with a goal or another score, it is rounded once to tenths, so people see the same
/// numbers that decide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u32);

impl Score {
    pub const ZERO: Self = Self(0);
    pub const FULL: Self = Self(100 * MILLION);

    /// Returns a score for a finite number from 0 to 100, otherwise `None`.
    pub fn new(points: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked first"
        )]
        (0.0..=100.0).contains(&points).then(|| Self((points * f64::from(MILLION)).round() as u32))
    }

    pub fn points(self) -> f64 {
        f64::from(self.0) / f64::from(MILLION)
    }

    #[must_use]
    pub fn in_tenths(self) -> Self {
        Self(self.tenths() * TENTH)
    }

    fn tenths(self) -> u32 {
        (self.0 + TENTH / 2) / TENTH
    }

    /// Returns the number as a person types it: 80 and not 80.0.
    pub fn typed(self) -> String {
        let text = self.to_string();
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    }
}

const MILLION: u32 = 1_000_000;
const TENTH: u32 = MILLION / 10;

impl fmt::Display for Score {
    /// Writes exactly one decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.tenths();
        f.pad(&format!("{}.{}", tenths / 10, tenths % 10))
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.points())
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.points())
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let points = f64::deserialize(deserializer)?;
        Self::new(points).ok_or_else(|| de::Error::custom(format!("not a score from 0 to 100: {points}")))
    }
}

/// The score of one assessment; `None` means not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scored {
    pub composite: Option<Score>,
    pub dimensions: Vec<(DimensionId, Option<Score>)>,
}

/// Scores findings by a contract.
///
/// A pass is worth 1, a partial ½, a fail 0. A dimension is 100 times the mean worth of its verified criteria, and
/// absent if none is verified. The composite is the mean of the present dimensions by weight, and absent if they have
/// less than half of the contract's weight. Findings of criteria outside the contract are ignored.
pub fn score(contract: &Contract, findings: &Findings) -> Scored {
    let dimensions = contract.dimensions.iter().map(|dimension| {
        let verdicts = findings.iter().filter(|finding| {
            contract.criterion(finding.criterion).is_some_and(|criterion| criterion.dimension == dimension.id)
        });
        (dimension.id.clone(), dimension_score(verdicts.map(|finding| finding.verdict)))
    });
    compose(contract, dimensions.collect())
}

/// Weighs dimension scores, in the contract's order, into a composite.
pub(crate) fn compose(contract: &Contract, dimensions: Vec<(DimensionId, Option<Score>)>) -> Scored {
    let weighed = contract.dimensions.iter().zip(&dimensions);
    let present = weighed.filter_map(|(dimension, (_, score))| score.map(|score| (dimension.weight, score)));
    let (weight, points) = present.fold((0.0, 0.0), |(weight, points), (share, score)| {
        (weight + share, points + share * score.points())
    });
    let total: f64 = contract.dimensions.iter().map(|dimension| dimension.weight).sum();
    // The slack keeps 0.2 + 0.2 + 0.1 from being less than one half.
    let enough = weight * 2.0 + 1e-9 >= total;
    let composite = if enough { Score::new((points / weight).clamp(0.0, 100.0)) } else { None };
    Scored { composite, dimensions }
}

/// Returns the arithmetic mean, in tenths, or `None` for an empty slice.
pub fn mean(scores: &[Score]) -> Option<Score> {
    let count = u64::try_from(scores.len()).ok().filter(|count| *count > 0)?;
    let sum: u64 = scores.iter().map(|score| u64::from(score.0)).sum();
    u32::try_from((sum + count / 2) / count).ok().map(|mean| Score(mean).in_tenths())
}

fn dimension_score(verdicts: impl Iterator<Item = Verdict>) -> Option<Score> {
    let (mut halves, mut verified) = (0_u32, 0_u32);
    for verdict in verdicts {
        let worth = match verdict {
            Verdict::Pass => 2,
            Verdict::Partial => 1,
            Verdict::Fail => 0,
            Verdict::Unverified => continue,
        };
        halves += worth;
        verified += 1;
    }
    // Without verified criteria this is 0 / 0, which is not a score.
    Score::new(100.0 * f64::from(halves) / f64::from(2 * verified))
}

#[cfg(test)]
mod tests;
