//! The cost of all calls, added up by role. Budgets are checked against it.

use serde::{Deserialize, Serialize};

use crate::event::Done;
use crate::role::ByRole;
use crate::vocabulary::Vocabulary;

pub type Ledger = ByRole<Account>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub calls: u32,
    pub failed: u32,
    /// Cache hits, which cost nothing.
    pub cached: u32,
    /// Without calls whose service was unreachable: these only waited.
    pub ms: u64,
    pub usd: f64,
    /// Calls without a known price: `usd` is then only a part.
    pub unpriced: u32,
    /// Calls whose share of `usd` is an estimate.
    #[serde(default)]
    pub estimated: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Ledger {
    pub fn enter<L: Vocabulary>(&mut self, done: &Done<L>) {
        if let Some(role) = L::role(&done.step) {
            self.of_mut(&role).enter(done);
        }
    }

    pub fn total(&self) -> Account {
        self.values().copied().fold(Account::default(), Account::plus)
    }
}

impl Account {
    fn enter<L: Vocabulary>(&mut self, done: &Done<L>) {
        if done.spent.cached {
            self.cached += 1;
            return;
        }
        self.calls += 1;
        let failure = done.outcome.as_ref().err();
        self.failed += u32::from(failure.is_some());
        if failure.is_none_or(|failure| failure.kind.counts()) {
            self.ms += done.spent.ms;
        }
        self.usd += done.spent.usd.unwrap_or(0.0);
        self.unpriced += u32::from(done.spent.usd.is_none());
        self.estimated += u32::from(done.spent.estimated);
        self.input_tokens += done.spent.input_tokens.unwrap_or(0);
        self.output_tokens += done.spent.output_tokens.unwrap_or(0);
    }

    fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            failed: self.failed + other.failed,
            cached: self.cached + other.cached,
            ms: self.ms + other.ms,
            usd: self.usd + other.usd,
            unpriced: self.unpriced + other.unpriced,
            estimated: self.estimated + other.estimated,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
        }
    }
}
