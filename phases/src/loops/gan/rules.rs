//! The numbers that decide. Each is a setting.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contract::Contract;
use crate::judging::contract::DimensionId;
use crate::judging::score::Score;
use crate::judging::stop::{Limits, Stall};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub threshold: Score,
    /// Minimum scores of dimensions. A strict run also requires the threshold for each of them.
    pub minimums: BTreeMap<DimensionId, Score>,
    pub strict: bool,
    /// A strict run judges at least this many rounds.
    pub strict_rounds: u32,
    pub max_rounds: u32,
    /// Ask a person after this many rounds without a pass.
    pub escalate_after: u32,
    /// A round that gains less than this gains too little.
    pub gain: Score,
    /// Ask a person after this many rounds in a row that gain too little.
    pub standstill: u32,
    /// The maximum level of a dimension with an anti-pattern.
    pub cap: Score,
    pub negotiation_rounds: usize,
    /// Judge a pass a second time, with a different prompt.
    pub judge_twice: bool,
    /// Report two judgements that differ by more than this.
    #[serde(rename = "apart")]
    pub disagreement: Score,
    /// The maximum number of items that a focus may add.
    pub extra_items: usize,
}

/// No run passes below this score.
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
            disagreement: score(10.0),
            extra_items: 3,
        }
    }
}

/// The reason why a run cannot keep the rules.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unruly {
    #[error("the threshold must be from {FLOOR} to 100")]
    Threshold,
    #[error("`gan.max_rounds` must be at least 1")]
    Rounds,
    #[error("a strict run judges at least {0} rounds, and `gan.max_rounds` allows fewer")]
    TooFew(u32),
    #[error("`gan.escalate_after` must be at least 1")]
    Escalation,
    #[error("`gan.standstill` must be at least 1")]
    Standstill,
}

impl Rules {
    /// Returns the rules if a run can keep them.
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

    /// Returns the minimum score of a dimension: the highest of those that a person set and that was agreed on.
    pub fn minimum(&self, contract: &Contract, dimension: &DimensionId) -> Option<Score> {
        let strict = self.strict.then_some(self.threshold);
        let agreed = contract.pass_conditions.get(dimension).copied();
        self.minimums.get(dimension).copied().max(strict).max(agreed)
    }

    /// Returns the limits for the stop rules. The number of rounds and failed steps end a run by other rules.
    pub(super) fn limits(&self) -> Limits {
        let stall = Stall { window: self.standstill as usize, gain: self.gain.points(), reaching: true };
        Limits { max_errors: u32::MAX, stall, max_iterations: u32::MAX }
    }

    pub fn least_rounds(&self) -> u32 {
        if self.strict { self.strict_rounds } else { 1 }
    }
}
