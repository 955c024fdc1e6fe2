//! The cost of all calls, summed by role, and within a role by agent. Ceilings are checked against it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::id::CallKey;
use crate::base::role::ByRole;
use crate::base::vocabulary::Vocabulary;
use crate::runs::event::{Done, Spent};
use crate::runs::plan::Roles;

pub type Ledger = ByRole<Account>;

/// The costs by role and by agent; agents are named as in messages.
pub type Agents = ByRole<BTreeMap<String, Account>>;

/// The call that ended a step, if an agent was called for it, and its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EndedCall {
    pub key: Option<CallKey>,
    pub spent: Spent,
}

impl EndedCall {
    pub(super) fn of<L: Vocabulary>(done: &Done<L>) -> Self {
        Self { key: done.call, spent: done.spent }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub calls: u32,
    pub failed: u32,
    /// Failed calls whose service was unreachable or that lacked the user's setup. Ceilings of calls do not count them.
    pub refused: u32,
    /// Cache hits, which cost nothing.
    pub cached: u32,
    /// Without calls whose service was unreachable, because these only waited.
    pub ms: u64,
    pub usd: f64,
    /// Calls without a known price. If there are any, `usd` is only a part.
    pub unpriced: u32,
    /// Calls whose share of `usd` is an estimate.
    pub estimated: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The highest of one call, each.
    pub most_usd: f64,
    pub most_tokens: u64,
    pub most_ms: u64,
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

impl Agents {
    pub fn enter<L: Vocabulary>(&mut self, roles: &Roles, done: &Done<L>) {
        if let Some(role) = L::role(&done.step) {
            self.of_mut(&role).entry(roles.of(&role).shown()).or_default().enter(done);
        }
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
            self.ms = self.ms.saturating_add(done.spent.ms);
            self.most_ms = self.most_ms.max(done.spent.ms);
        } else {
            self.refused += 1;
        }
        self.usd += done.spent.usd.unwrap_or(0.0);
        self.most_usd = self.most_usd.max(done.spent.usd.unwrap_or(0.0));
        self.most_tokens = self.most_tokens.max(done.spent.tokens());
        self.unpriced += u32::from(done.spent.usd.is_none());
        self.estimated += u32::from(done.spent.estimated);
        self.input_tokens = self.input_tokens.saturating_add(done.spent.input_tokens.unwrap_or(0));
        self.output_tokens = self.output_tokens.saturating_add(done.spent.output_tokens.unwrap_or(0));
    }

    /// Returns whether the cost of a call is still unknown: no call has answered.
    pub fn is_unknown(&self) -> bool {
        self.calls == self.failed
    }

    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the cost as far as it is known; none if calls were made and no one reported a cost.
    pub fn known_usd(&self) -> Option<f64> {
        (self.calls == 0 || self.unpriced < self.calls).then_some(self.usd)
    }

    /// Returns a number of tokens; none if calls were made, and no one reported tokens or a cost.
    pub fn known_tokens(&self, tokens: u64) -> Option<u64> {
        (self.tokens() > 0 || self.known_usd().is_some()).then_some(tokens)
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            failed: self.failed + other.failed,
            refused: self.refused + other.refused,
            cached: self.cached + other.cached,
            ms: self.ms.saturating_add(other.ms),
            usd: self.usd + other.usd,
            unpriced: self.unpriced + other.unpriced,
            estimated: self.estimated + other.estimated,
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            most_usd: self.most_usd.max(other.most_usd),
            most_tokens: self.most_tokens.max(other.most_tokens),
            most_ms: self.most_ms.max(other.most_ms),
        }
    }
}
