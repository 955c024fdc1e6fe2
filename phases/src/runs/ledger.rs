//! The cost of all calls, summed by role, and within a role by agent. Ceilings are checked against it. Calls of workers
//! are also counted by machine.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::id::CallKey;
use crate::base::role::ByRole;
use crate::base::vocabulary::Vocabulary;
use crate::runs::event::{Done, Spent};
use crate::runs::plan::Roles;

pub type Ledger = ByRole<Account>;

/// The costs by role and by agent; agents are named as in messages.
pub type Agents = ByRole<BTreeMap<String, Account>>;

/// The calls that workers made, by machine and by version of the agent, without those answered from the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machines(BTreeMap<MachineAgent, MachineCalls>);

/// An agent on the machine of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachineAgent {
    /// The name of the worker in the settings.
    pub worker: Box<str>,
    pub host: Box<str>,
    pub agent: String,
    pub version: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineCalls {
    pub calls: u32,
    /// How often one of these calls had been lost with a worker before.
    pub lost: u32,
}

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

impl Machines {
    pub fn enter<L: Vocabulary>(&mut self, roles: &Roles, done: &Done<L>) {
        let machine = done.machine.as_ref().filter(|_| !done.spent.cached);
        if let (Some(role), Some(machine)) = (L::role(&done.step), machine) {
            let at = MachineAgent {
                worker: machine.worker.clone(),
                host: machine.host.clone(),
                agent: roles.of(&role).agent.clone(),
                version: machine.agent.clone(),
            };
            let made = self.0.entry(at).or_default();
            made.calls += 1;
            made.lost = made.lost.saturating_add(machine.lost);
        }
    }

    /// Returns all, sorted by worker, host, agent and version.
    pub fn all(&self) -> impl Iterator<Item = (&MachineAgent, &MachineCalls)> {
        self.0.iter()
    }

    /// Returns the agents that ran in more than one version, with those versions. An unknown one may be any of them.
    pub fn mixed(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut agents = BTreeMap::<&str, BTreeSet<&str>>::new();
        for MachineAgent { agent, version, .. } in self.0.keys() {
            agents.entry(agent).or_default().extend(version.as_deref());
        }
        agents.retain(|_, versions| versions.len() > 1);
        agents
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
