//! Computes how far a run is below its ceilings, and whether the next call fits.
//!
//! Ceilings are checked before each call, with what the running calls may still use. A ceiling pauses a run but does
//! not influence decisions: with a higher one the run continues as if it had none.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::base::ceiling::{Ceiling, amount};
use crate::base::role::Role;
use crate::base::window::Window;
use crate::loops::Loop;
use crate::runs::event::FailureKind;
use crate::runs::ledger::Account;
use crate::runs::run::Run;
use crate::skills::offline;

/// How far a run is below a ceiling, in the ceiling's own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    pub most: f64,
    pub used: f64,
    /// The most that one call has used so far.
    pub call: f64,
}

impl<L: Loop> Run<L> {
    /// Returns the ceiling that a call of this role might exceed beside the running calls of these roles. The caller
    /// passes `planned_calls`, because it needs a walk over all scenarios.
    pub fn ceiling_of(
        &self,
        role: &Role,
        under_way: &[Role],
        now: Timestamp,
        planned_calls: u64,
    ) -> Option<Ceiling> {
        let would_pass = |ceiling| {
            let most = self.most_of(ceiling, || self.extended(planned_calls))?;
            self.would_pass(ceiling, most, role, under_way, now).then_some(ceiling)
        };
        Ceiling::ALL.into_iter().find_map(would_pass)
    }

    fn would_pass(
        &self,
        ceiling: Ceiling,
        most: f64,
        role: &Role,
        under_way: &[Role],
        now: Timestamp,
    ) -> bool {
        let is_first = |role: &Role| self.ledger.of(role).is_unknown();
        // Only one call of unknown cost runs at a time.
        if ceiling.is_unknown_at_first() && is_first(role) && under_way.iter().any(is_first) {
            return true;
        }
        let used = self::used(ceiling, &self.ledger.total(), self.worked_until(now));
        let of_call = |role| self.of_call(ceiling, role);
        let reserved: f64 = under_way.iter().filter(|_| ceiling.adds_up()).map(of_call).sum();
        used + reserved >= most || used + reserved + of_call(role) > most
    }

    /// Returns how much a call of this role may use: as much as its most expensive one so far, or at first that of any
    /// role.
    fn of_call(&self, ceiling: Ceiling, role: &Role) -> f64 {
        let account = self.ledger.of(role);
        if account.is_unknown() { self.of_any_call(ceiling) } else { dearest(ceiling, account) }
    }

    fn of_any_call(&self, ceiling: Ceiling) -> f64 {
        self.ledger.values().map(|account| dearest(ceiling, account)).fold(0.0, f64::max)
    }

    fn most_of(&self, ceiling: Ceiling, default_calls: impl FnOnce() -> u64) -> Option<f64> {
        let set = self.plan.ceilings.of(ceiling);
        match ceiling {
            Ceiling::Calls => set.or_else(|| Some(amount(default_calls()))),
            Ceiling::Usd | Ceiling::Tokens | Ceiling::Minutes => set,
        }
    }

    /// Returns the highest number of calls that the plan can need.
    pub fn planned_calls(&self) -> u64 {
        L::most_calls(&self.plan).values().sum()
    }

    /// Returns the default ceiling of calls: the planned ones, and as many again for each changed agent that needs new
    /// measurements and each answer of a person that asks for more. A run that works as planned makes no more calls.
    pub fn default_calls(&self) -> u64 {
        self.extended(self.planned_calls())
    }

    fn extended(&self, planned_calls: u64) -> u64 {
        let again = self.recasts.iter().filter(|recast| recast.is_measure).count();
        let times = u64::try_from(again + L::extensions(self)).unwrap_or(u64::MAX).saturating_add(1);
        planned_calls.saturating_mul(times)
    }

    /// Returns how far the run is below a ceiling, if it has one.
    pub fn gauge(&self, ceiling: Ceiling, now: Timestamp) -> Option<Gauge> {
        let used = self::used(ceiling, &self.ledger.total(), self.worked_until(now));
        Some(Gauge {
            most: self.most_of(ceiling, || self.default_calls())?,
            used,
            call: self.of_any_call(ceiling),
        })
    }

    /// Returns the money that a call may cost: the rest below the ceiling that is not reserved for running calls.
    pub fn usd_left(&self, under_way: &[Role]) -> Option<f64> {
        const CENT: f64 = 0.01;
        let reserved: f64 = under_way.iter().map(|role| self.of_call(Ceiling::Usd, role)).sum();
        let left = self.plan.ceilings.usd? - self.ledger.total().usd - reserved;
        // Rounded down because agents get it as text.
        Some((left * 1e4).floor() / 1e4).map(|left| left.max(CENT))
    }

    /// Returns the ceiling that blocks the run: an agent has used up the rest of the money.
    pub fn ceiling_of_block(&self) -> Option<Ceiling> {
        let blocked = self.blocked.as_ref()?;
        let is_money = blocked.failure.kind == FailureKind::BudgetLimit && self.plan.ceilings.usd.is_some();
        is_money.then_some(Ceiling::Usd)
    }

    /// Returns the usage window whose free part a call of this role would use.
    pub fn full_window(&self, role: &Role, now: Timestamp) -> Option<&Window> {
        let free = self.plan.ceilings.keep_free?;
        self.usage.get(&self.plan.roles.get(role)?.agent)?.full(free, now)
    }

    /// Returns the agents that answered but report no usage window, if a part of it must stay free.
    pub fn without_windows(&self) -> BTreeSet<&str> {
        let is_kept = self.plan.ceilings.keep_free.is_some();
        let answered =
            self.plan.roles.iter().filter(|(role, _)| is_kept && !self.ledger.of(role).is_unknown());
        let agents = answered.map(|(_, cast)| cast.agent.as_str());
        agents.filter(|agent| *agent != offline::NAME && !self.usage.contains_key(*agent)).collect()
    }

    /// Returns the wall-clock time that the run has worked, if it works until now.
    fn worked_until(&self, now: Timestamp) -> Duration {
        self.worked + Duration::try_from(now.duration_since(self.updated_at)).unwrap_or_default()
    }
}

/// Returns how much of a ceiling the run has used.
fn used(ceiling: Ceiling, total: &Account, worked: Duration) -> f64 {
    match ceiling {
        Ceiling::Usd => total.usd,
        Ceiling::Tokens => amount(total.tokens()),
        Ceiling::Calls => f64::from(total.calls - total.refused),
        Ceiling::Minutes => worked.as_secs_f64() / 60.0,
    }
}

/// Returns how much of a ceiling the most expensive call of an account has used.
fn dearest(ceiling: Ceiling, account: &Account) -> f64 {
    match ceiling {
        Ceiling::Usd => account.most_usd,
        Ceiling::Tokens => amount(account.most_tokens),
        Ceiling::Calls => 1.0,
        Ceiling::Minutes => Duration::from_millis(account.most_ms).as_secs_f64() / 60.0,
    }
}
