//! Estimates the usage of a run from similar earlier runs, before it begins and while it runs.

use std::time::Duration;

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
    /// The usual number of calls, if the kind of run or the ended earlier runs show it.
    usual: Option<u64>,
    /// The usage of the earlier calls.
    earlier: Account,
}

/// The calls and the time that a run still needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// The most calls that its plan and its limit leave.
    pub most: u64,
    /// How long it will probably take, if that is known.
    pub time: Option<Duration>,
}

/// The estimated usage of all calls.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    usd: f64,
    tokens: f64,
    ms: f64,
}

impl Estimate {
    /// Estimates a run from the accounts of earlier runs.
    pub fn new<L: Loop>(run: &Run<L>, earlier: &[Run<L>], jobs: u32) -> Self {
        let tries = u64::from(L::tries(run)).max(1);
        // An earlier run may have had fewer roles.
        let known = |role: &Role, earlier: &Run<L>| account(earlier, role, &run.plan.roles.of(role).shown());
        let expected = L::expected_calls(&run.plan);
        let is_likely = expected.is_some();
        let Expected { most, likely } = expected.unwrap_or_else(|| {
            let most = L::most_calls(&run.plan).map(|most| most.div_ceil(tries));
            Expected { likely: most.clone(), most }
        });
        let role = |(role, most): (&Role, &u64)| {
            let likely = likely.get(role).copied().unwrap_or(*most);
            OfRole {
                role: role.clone(),
                most: *most,
                likely,
                usual: if is_likely { Some(likely) } else { usual(role, *most, earlier) },
                earlier: earlier.iter().map(|run| known(role, run)).fold(Account::default(), Account::plus),
            }
        };
        let has_part =
            |earlier: &&Run<L>| run.plan.roles.iter().any(|(role, _)| known(role, earlier).calls > 0);
        let runs = earlier.iter().filter(has_part).count();
        Self { roles: most.iter().map(role).collect(), is_likely, runs, jobs }
    }

    /// Returns what the run still needs, by its own calls and those of the earlier runs.
    pub fn remaining<L: Loop>(&self, run: &Run<L>) -> Remaining {
        let most = calls_left(run);
        Remaining { most, time: self.time_left(run, most) }
    }

    /// Returns `None` if the usual calls or the time of one are unknown, if all of them were made, or if the run may
    /// make fewer.
    fn time_left<L: Loop>(&self, run: &Run<L>, most: u64) -> Option<Duration> {
        let (mut calls, mut ms) = (0_u64, 0.0);
        for of in self.roles.iter().filter(|of| of.most > 0) {
            let left = of.usual?.saturating_sub(answers(run, &of.role));
            if left > 0 {
                let own = account(run, &of.role, &run.plan.roles.of(&of.role).shown());
                calls = calls.saturating_add(left);
                ms += float(left) * mean_ms(&own.plus(of.earlier))?;
            }
        }
        let at_once = u64::from(self.jobs).clamp(1, calls.max(1));
        let time = Duration::try_from_secs_f64(ms / float(at_once) / 1000.0).ok();
        time.filter(|_| (1..=most).contains(&calls))
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
            "estimate: up to {} if none fails ({}){}",
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
            "  {tokens}; the maximum takes at best {best} with {}",
            figures::count(self.jobs as usize, "job")
        ));
        let earlier: u32 = self.roles.iter().map(|of| of.earlier.calls).sum();
        lines.push(format!(
            "  from the mean of {} in {}",
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

/// Returns the usage of a role's calls that this agent answered.
fn account<L: Loop>(run: &Run<L>, role: &Role, agent: &str) -> Account {
    run.agents.get(role).and_then(|agents| agents.get(agent)).copied().unwrap_or_default()
}

/// Returns how many calls of a role have an answer, from its agent or from the cache.
fn answers<L: Loop>(run: &Run<L>, role: &Role) -> u64 {
    run.ledger.get(role).map_or(0, |own| u64::from(own.calls - own.failed) + u64::from(own.cached))
}

/// Returns the usual number of calls of a role: the same part of the planned ones as in the ended runs.
fn usual<L: Loop>(role: &Role, most: u64, earlier: &[Run<L>]) -> Option<u64> {
    let (mut answered, mut planned) = (0_u64, 0_u64);
    for run in earlier.iter().filter(|run| run.closed_at.is_some()) {
        if let Some(most) = L::most_calls(&run.plan).get(role).filter(|most| **most > 0) {
            answered = answered.saturating_add(answers(run, role));
            planned = planned.saturating_add(most.div_ceil(u64::from(L::tries(run)).max(1)));
        }
    }
    (planned > 0).then(|| whole(float(most) * float(answered) / float(planned)).min(most))
}

/// Returns the mean time of the calls that took some: neither cached nor refused ones did.
fn mean_ms(account: &Account) -> Option<f64> {
    let timed = account.calls - account.refused;
    (timed > 0).then(|| float(account.ms) / f64::from(timed))
}

/// Returns how many calls a run may still make: those of its plan, and none above its limit.
fn calls_left<L: Loop>(run: &Run<L>) -> u64 {
    let (planned, total) = (run.default_calls(), run.ledger.total());
    let most = run.plan.ceilings.calls.map_or(planned, |ceiling| ceiling.min(planned));
    most.saturating_sub(u64::from(total.calls - total.refused))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skilltune_phases::loops::tune::Tune;

    use super::*;
    use crate::loops::tune::world::{Play, edited_twice, plan, play, scored};

    fn rounds() -> Play {
        play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]))
    }

    fn ms_left(estimate: &Estimate, run: &Run<Tune>) -> Option<u128> {
        estimate.remaining(run).time.map(|time| time.as_millis())
    }

    #[test]
    fn a_run_that_repeats_an_earlier_one_takes_as_long_and_then_no_end_is_known() {
        let earlier = rounds();
        let total = earlier.run.ledger.total();
        let mut run = Run::begin(&earlier.records[0]).unwrap();
        let [one, two] = [1, 2].map(|jobs| Estimate::new(&run, std::slice::from_ref(&earlier.run), jobs));
        let ms = u128::from(total.ms);
        assert_eq!([ms_left(&one, &run), ms_left(&two, &run)], [Some(ms), Some(ms / 2)]);
        let (planned, mut before) = (run.default_calls(), one.remaining(&run));
        assert_eq!(before.most, planned);
        for record in &earlier.records[1..] {
            run.apply(record);
            let left = one.remaining(&run);
            assert!(left.most <= before.most && left.time <= before.time, "{before:?}, then {left:?}");
            before = left;
        }
        assert_eq!(before, Remaining { most: planned - u64::from(total.calls), time: None });
    }

    #[test]
    fn a_limit_that_the_usual_calls_exceed_leaves_the_end_unknown() {
        let earlier = rounds();
        let mut run = Run::begin(&earlier.records[0]).unwrap();
        let estimate = Estimate::new(&run, std::slice::from_ref(&earlier.run), 1);
        Arc::make_mut(&mut run.plan).ceilings.calls = Some(3);
        assert_eq!(estimate.remaining(&run), Remaining { most: 3, time: None });
    }

    #[test]
    fn without_an_earlier_run_the_end_is_known_once_each_role_was_called_if_such_runs_are_predictable() {
        let first_known = |play: &Play| {
            let mut run = Run::begin(&play.records[0]).unwrap();
            let estimate = Estimate::new(&run, &[], 1);
            play.records[1..].iter().find_map(|record| {
                run.apply(record);
                ms_left(&estimate, &run).map(|_| run.ledger.values().all(|own| own.calls > 0))
            })
        };
        assert_eq!(first_known(&edited_twice()), Some(true));
        assert_eq!(first_known(&rounds()), None);
    }

    #[test]
    fn calls_that_took_no_time_do_not_shorten_the_mean() {
        let account = Account { calls: 4, failed: 1, refused: 1, cached: 9, ms: 900, ..Account::default() };
        assert_eq!(mean_ms(&account).map(whole), Some(300));
        assert_eq!(mean_ms(&Account { cached: 9, ..Account::default() }), None);
    }
}
