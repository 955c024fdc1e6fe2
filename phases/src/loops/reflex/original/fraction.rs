//! A score as these files hold it.

use serde::{Serialize, Serializer};

use crate::score::Score;

/// A score of 0 to 100 that is written as a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction(pub Score);

impl Fraction {
    /// Nothing but a finite number from 0 to 1 is one: 72 may be meant as .72, but nobody said so.
    pub(super) fn new(fraction: f64) -> Option<Self> {
        (0.0..=1.0).contains(&fraction).then(|| Score::new(fraction * 100.0).map(Self))?
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Score::ZERO => serializer.serialize_u32(0),
            Score::FULL => serializer.serialize_u32(1),
            // One division of whole numbers, or 57 % would be written as 0.5700000000000001.
            score => serializer.serialize_f64((score.points() * 1e6).round() / 1e8),
        }
    }
}
