//! Estimates the usage of a run from similar earlier runs, without a call.

use serde_json::{Value, json};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::{Expected, Loop, MostCalls};
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::run::Run;

use crate::text::figures;

/// The calls by role if none fails, and the usage of such calls in earlier runs.
#[derive(Clone, Debug)]
pub struct Estimate {
    roles: Vec<OfRole>,
    /// Whether the typical course of such runs is known.
    is_likely: bool,
    /// The earlier runs in which the same agents had the same roles.
    runs: usize,
    jobs: u32,
}

#[derive(Clone, Debug)]
struct OfRole {
    role: Role,
    most: u64,
    likely: u64,
    /// The usage of the earlier calls.
    earlier: Account,
}

/// The estimated usage of all calls.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    usd: f64,
    tokens: f64,
    ms: f64,
}

impl Estimate {
    /// Estimates a run that has not begun from the accounts of earlier runs.
    pub fn new<L: Loop>(run: &Run<L>, earlier: &[Run<L>], jobs: u32) -> Self {
        let tries = u64::from(L::tries(run)).max(1);
        // An earlier run may have had fewer roles.
        let known = |role: &Role, earlier: &Run<L>| {
            let shown = run.plan.roles.of(role).shown();
            earlier.agents.get(role).and_then(|agents| agents.get(&shown)).copied().unwrap_or_default()
        };
        let expected = L::expected_calls(&run.plan);
        let is_likely = expected.is_some();
        let Expected { most, likely } = expected.unwrap_or_else(|| {
            let most = L::most_calls(&run.plan).map(|most| most.div_ceil(tries));
            Expected { likely: most.clone(), most }
        });
        let role = |(role, most): (&Role, &u64)| {
            let earlier = earlier.iter().map(|run| known(role, run)).fold(Account::default(), Account::plus);
            OfRole {
                role: role.clone(),
                most: *most,
                likely: likely.get(role).copied().unwrap_or(*most),
                earlier,
            }
        };
        let has_part =
            |earlier: &&Run<L>| run.plan.roles.iter().any(|(role, _)| known(role, earlier).calls > 0);
        let runs = earlier.iter().filter(has_part).count();
        Self { roles: most.iter().map(role).collect(), is_likely, runs, jobs }
    }

    /// Returns the roles whose agents no earlier run has called.
    fn unknown(&self) -> Vec<&str> {
        let unknown = self.roles.iter().filter(|of| of.most > 0 && of.earlier.calls == 0);
        unknown.map(|of| of.role.as_str()).collect()
    }

    /// Sums the estimated usage. Calls that reported no cost count as the average of the others; if none reported a
    /// cost, there is no sum.
    fn sum(&self, calls: impl Fn(&OfRole) -> u64) -> Sum {
        let known = self.roles.iter().filter(|of| of.earlier.calls > 0);
        known.fold(Sum::default(), |sum, of| {
            let (calls, account, count) = (float(calls(of)), of.earlier, f64::from(of.earlier.calls));
            Sum {
                usd: sum.usd + calls * account.usd / f64::from((account.calls - account.unpriced).max(1)),
                tokens: sum.tokens + calls * float(account.tokens()) / count,
                ms: sum.ms + calls * float(account.ms) / count,
            }
        })
    }

    fn is_priced(&self) -> bool {
        self.roles.iter().all(|of| of.earlier.calls == 0 || of.earlier.unpriced < of.earlier.calls)
    }

    /// Describes the calls and their possible cost, as shown before a run begins; nothing if there is no call.
    pub fn summary(&self) -> Vec<String> {
        let each: Vec<String> =
            self.roles.iter().filter(|of| of.most > 0).map(|of| format!("{} {}", of.role, of.most)).collect();
        if each.is_empty() {
            return Vec::new();
        }
        let likely = |text: String| if self.is_likely { format!(", likely {text}") } else { String::new() };
        let most: u64 = self.roles.iter().map(|of| of.most).sum();
        let about: u64 = self.roles.iter().map(|of| of.likely).sum();
        let calls = format!(
            "estimate: up to {} ({}){}",
            figures::count(usize::try_from(most).unwrap_or(usize::MAX), "call"),
            each.join(", "),
            likely(about.to_string())
        );
        if self.runs == 0 {
            return vec![calls, "  cost and time unknown: no earlier run here with these agents".to_owned()];
        }
        let (most, about) = (self.sum(|of| of.most), self.sum(|of| of.likely));
        let cost = if self.is_priced() {
            format!("up to {}{}", figures::dollars(most.usd), likely(figures::dollars(about.usd)))
        } else {
            "cost unknown".to_owned()
        };
        vec![calls, format!("  {cost}; up to {} of agent time{}", time(most.ms), likely(time(about.ms)))]
    }

    /// Returns the summary and the earlier runs that it is based on.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.summary();
        if self.runs == 0 || lines.is_empty() {
            return lines;
        }
        let sum = self.sum(|of| of.most);
        let tokens = tokens(sum).map_or_else(
            || "tokens unknown".to_owned(),
            |tokens| format!("up to {} tokens", figures::grouped(tokens)),
        );
        let best = time(sum.ms / f64::from(self.jobs.max(1)));
        lines.push(format!(
            "  {tokens}, and at best {best} with {}",
            figures::count(self.jobs as usize, "job")
        ));
        let earlier: u32 = self.roles.iter().map(|of| of.earlier.calls).sum();
        lines.push(format!(
            "  if every call succeeds at the first try; from the mean of {} in {}",
            figures::count(earlier as usize, "earlier call"),
            figures::count(self.runs, "run")
        ));
        let unknown = self.unknown();
        if !unknown.is_empty() {
            lines.push(format!("  cost and time unknown for: {} (no earlier call)", unknown.join(", ")));
        }
        lines
    }

    pub fn json(&self) -> Value {
        let of = |calls: &dyn Fn(&OfRole) -> u64| {
            let sum = self.sum(calls);
            let has = self.runs > 0;
            let by_role: MostCalls = self.roles.iter().map(|of| (of.role.clone(), calls(of))).collect();
            json!({
                "calls": most_calls(&by_role),
                // Null if no earlier call reported tokens.
                "tokens": tokens(sum),
                "usd": (has && self.is_priced()).then_some(sum.usd),
                "seconds": has.then_some(sum.ms / 1000.0),
            })
        };
        json!({
            // If every call succeeds at the first try.
            "most": of(&|role| role.most),
            // Null if the typical course of such runs is not known.
            "likely": self.is_likely.then(|| of(&|role| role.likely)),
            // The earlier runs that the estimate is based on.
            "runs": self.runs,
            "unknown_roles": self.unknown(),
        })
    }
}

/// Returns the estimated tokens, if any earlier call reported some.
fn tokens(sum: Sum) -> Option<u64> {
    Some(whole(sum.tokens)).filter(|tokens| *tokens > 0)
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

/// Returns the maximum number of agent calls of a run.
pub fn most_calls(most: &MostCalls) -> Value {
    let each = most.iter().map(|(role, calls)| (role.as_str(), *calls));
    let all = std::iter::once(("all", most.values().sum()));
    all.chain(each).map(|(name, calls)| (name.to_owned(), json!(calls))).collect()
}
