//! The numbers that decide. Each is a setting.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::DimensionId;
use crate::score::Score;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub threshold: Score,
    /// Of dimensions; a strict run asks the threshold of each of them as well.
    pub minimums: BTreeMap<DimensionId, Score>,
    pub strict: bool,
    /// A strict run judges so many rounds at least.
    pub strict_rounds: u32,
    pub max_rounds: u32,
    /// After so many rounds without a pass a person is asked.
    pub escalate_after: u32,
    /// A round that gains less than this gains too little.
    pub gain: Score,
    /// After so many rounds in a row that gain too little a person is asked.
    pub standstill: u32,
    /// The most that an anti-pattern leaves of its dimension.
    pub cap: Score,
    pub negotiation_rounds: usize,
    /// A pass is judged once more, in other words.
    pub judge_twice: bool,
    /// Two judgements that differ by more are named.
    pub apart: Score,
    /// How many items a focus may add.
    pub extra_items: usize,
}

/// No run passes below it.
pub const FLOOR: f64 = 60.0;

impl Default for Rules {
    fn default() -> Self {
        let score = |points| Score::new(points).expect("a number from 0 to 100");
        Self {
            threshold: score(75.0),
            minimums: BTreeMap::new(),
            strict: false,
            strict_rounds: 2,
            max_rounds: 5,
            escalate_after: 3,
            gain: score(5.0),
            standstill: 2,
            cap: score(50.0),
            negotiation_rounds: 2,
            judge_twice: false,
            apart: score(10.0),
            extra_items: 3,
        }
    }
}

/// Why rules cannot be kept.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unruly {
    #[error("the threshold must be from {FLOOR} to 100")]
    Threshold,
    #[error("`gan.max_rounds` must be at least 1")]
    Rounds,
    #[error("a strict run judges {0} rounds at least, and `gan.max_rounds` allows fewer")]
    TooFew(u32),
    #[error("`gan.escalate_after` must be at least 1")]
    Escalation,
    #[error("`gan.standstill` must be at least 1")]
    Standstill,
}

impl Rules {
    /// Nothing but rules that a run can keep.
    pub fn checked(self) -> Result<Self, Unruly> {
        if self.threshold.points() < FLOOR {
            return Err(Unruly::Threshold);
        }
        if self.max_rounds == 0 {
            return Err(Unruly::Rounds);
        }
        if self.max_rounds < self.least_rounds() {
            return Err(Unruly::TooFew(self.least_rounds()));
        }
        if self.escalate_after == 0 {
            return Err(Unruly::Escalation);
        }
        if self.standstill == 0 { Err(Unruly::Standstill) } else { Ok(self) }
    }

    /// What a dimension must reach at least.
    pub fn minimum(&self, dimension: &DimensionId) -> Option<Score> {
        let strict = self.strict.then_some(self.threshold);
        self.minimums.get(dimension).copied().max(strict)
    }

    pub fn least_rounds(&self) -> u32 {
        if self.strict { self.strict_rounds } else { 1 }
    }
}
