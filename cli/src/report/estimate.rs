//! What a run is likely to use, from what earlier runs like it have used. No call is made for it.

use serde_json::{Value, json};
use skilltune_phases::ledger::Account;
use skilltune_phases::loops::Loop;
use skilltune_phases::role::Role;
use skilltune_phases::run::Run;

use crate::text::figures;

/// Calls by role, if each answers at its first try and no round is left out, and what calls like them have used.
#[derive(Clone, Debug)]
pub struct Estimate {
    roles: Vec<(Role, u64, Account)>,
    /// The earlier runs in which the same agents had the same roles.
    runs: usize,
    jobs: u32,
}

/// What all calls are likely to use.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    usd: f64,
    tokens: f64,
    ms: f64,
}

impl Estimate {
    /// Of a run that has not begun, by the accounts of earlier ones.
    pub fn new<L: Loop>(run: &Run<L>, earlier: &[Run<L>], jobs: u32) -> Self {
        let tries = u64::from(L::tries(run)).max(1);
        let known = |role: &Role, earlier: &Run<L>| {
            earlier.agents.of(role).get(&run.plan.roles.of(role).shown()).copied().unwrap_or_default()
        };
        let most = L::most_calls(&run.plan);
        let role = |(role, most): (&Role, &u64)| {
            let account = earlier.iter().map(|run| known(role, run)).fold(Account::default(), Account::plus);
            (role.clone(), most.div_ceil(tries), account)
        };
        let has_part =
            |earlier: &&Run<L>| run.plan.roles.iter().any(|(role, _)| known(role, earlier).calls > 0);
        Self { roles: most.iter().map(role).collect(), runs: earlier.iter().filter(has_part).count(), jobs }
    }

    fn calls(&self) -> u64 {
        self.roles.iter().map(|(_, calls, _)| calls).sum()
    }

    /// The roles whose agents no earlier run has called.
    fn unknown(&self) -> Vec<&str> {
        let unknown = self.roles.iter().filter(|(_, calls, account)| *calls > 0 && account.calls == 0);
        unknown.map(|(role, ..)| role.as_str()).collect()
    }

    /// The calls that reported no cost are taken to cost as much as the others; where none did, there is no sum.
    fn sum(&self) -> Sum {
        let known = self.roles.iter().filter(|(_, _, account)| account.calls > 0);
        known.fold(Sum::default(), |sum, (_, calls, account)| {
            let (calls, of) = (float(*calls), f64::from(account.calls));
            Sum {
                usd: sum.usd + calls * account.usd / f64::from((account.calls - account.unpriced).max(1)),
                tokens: sum.tokens + calls * float(account.tokens()) / of,
                ms: sum.ms + calls * float(account.ms) / of,
            }
        })
    }

    fn is_priced(&self) -> bool {
        self.roles.iter().all(|(_, _, account)| account.calls == 0 || account.unpriced < account.calls)
    }

    pub fn lines(&self) -> Vec<String> {
        let calls = figures::count(usize::try_from(self.calls()).unwrap_or(usize::MAX), "call");
        if self.runs == 0 {
            return vec![format!(
                "estimate: {calls}; no earlier run here with these agents, so tokens, cost and time are unknown"
            )];
        }
        let sum = self.sum();
        let money = if self.is_priced() { figures::dollars(sum.usd) } else { "cost unknown".to_owned() };
        let (time, best) = (time(sum.ms), time(sum.ms / f64::from(self.jobs.max(1))));
        let tokens = figures::grouped(whole(sum.tokens));
        let earlier: u32 = self.roles.iter().map(|(_, _, account)| account.calls).sum();
        let mut lines = vec![
            format!(
                "estimate: {calls}, {tokens} tokens, {money}, {time} of agent time ({best} at best with {})",
                figures::count(self.jobs as usize, "job")
            ),
            format!(
                "  if every call answers at its first try and no round is skipped; from the mean of {} in {}",
                figures::count(earlier as usize, "earlier call"),
                figures::count(self.runs, "run")
            ),
        ];
        let unknown = self.unknown();
        if !unknown.is_empty() {
            lines.push(format!("  only calls are counted of: {} (no earlier call)", unknown.join(", ")));
        }
        lines
    }

    pub fn json(&self) -> Value {
        let sum = self.sum();
        let has = self.runs > 0;
        json!({
            "calls": self.calls(),
            "tokens": has.then_some(whole(sum.tokens)),
            "usd": (has && self.is_priced()).then_some(sum.usd),
            "seconds": has.then_some(sum.ms / 1000.0),
            // What it rests on.
            "runs": self.runs,
            "unknown_roles": self.unknown(),
        })
    }
}

fn time(ms: f64) -> String {
    figures::milliseconds(whole(ms))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate is coarser")]
fn float(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate is whole and positive"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}
