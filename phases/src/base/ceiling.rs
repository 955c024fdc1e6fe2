//! The ceilings of a run: its limits on money, tokens, calls and time, and the part of a usage window that it leaves
//! free.

use serde::{Deserialize, Serialize};

use crate::base::window::Percent;

/// The ceilings of a run. An unset one has no effect, except calls: their default follows from the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Wall-clock time while the run works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// The part of each reported usage window that stays free. At this limit a run pauses as for a used-up account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_free: Option<Percent>,
    /// Whether a run with a `usd` ceiling may call agents whose cost stays unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_unpriced: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    Usd,
    Tokens,
    Calls,
    Minutes,
}

impl Ceiling {
    pub const ALL: [Self; 4] = [Self::Usd, Self::Tokens, Self::Calls, Self::Minutes];

    pub fn word(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Tokens => "tokens",
            Self::Calls => "calls",
            Self::Minutes => "minutes",
        }
    }

    /// Returns whether simultaneous calls add up.
    pub fn adds_up(self) -> bool {
        match self {
            Self::Usd | Self::Tokens | Self::Calls => true,
            Self::Minutes => false,
        }
    }

    /// Returns whether the usage of a role's first call is unknown.
    pub fn is_unknown_at_first(self) -> bool {
        match self {
            Self::Usd | Self::Tokens => true,
            Self::Calls | Self::Minutes => false,
        }
    }
}

impl Ceilings {
    /// Returns these ceilings, with the others for those that are not set.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            usd: self.usd.or(others.usd),
            tokens: self.tokens.or(others.tokens),
            calls: self.calls.or(others.calls),
            minutes: self.minutes.or(others.minutes),
            keep_free: self.keep_free.or(others.keep_free),
            allow_unpriced: self.allow_unpriced.or(others.allow_unpriced),
        }
    }

    pub fn of(&self, ceiling: Ceiling) -> Option<f64> {
        match ceiling {
            Ceiling::Usd => self.usd,
            Ceiling::Tokens => self.tokens.map(amount),
            Ceiling::Calls => self.calls.map(amount),
            Ceiling::Minutes => self.minutes.map(amount),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a bound need not be exact where floats are coarse")]
pub fn amount(number: u64) -> f64 {
    number as f64
}
