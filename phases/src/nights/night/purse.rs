//! The budget of a job: its share of the rest of the night and of the week, by priority.

use super::Spent;
use crate::base::ceiling::Ceilings;

/// The total that a run may use, or nothing if there is no budget left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    Of(Ceilings),
    Nothing,
}

/// Returns the share of one of several waiting jobs, within its own limit. `before` is the usage of its run in earlier
/// nights, because a ceiling is one of the whole run.
pub fn shared(
    left: &[(Ceilings, Spent)],
    priority: u32,
    waiting: u32,
    own: (Ceilings, Spent),
    before: Spent,
) -> Share {
    let part = f64::from(priority.max(1)) / f64::from(waiting.max(priority).max(1));
    let mut ceilings = Ceilings::default();
    let parts = left.iter().map(|(limit, spent)| (limit, spent, part)).chain([(&own.0, &own.1, 1.0)]);
    for (limit, spent, part) in parts {
        let usd = limit.usd.map(|usd| (usd - spent.usd) * part);
        let tokens = limit.tokens.map(|tokens| of(tokens.saturating_sub(spent.tokens), part));
        let calls = limit.calls.map(|calls| of(calls.saturating_sub(spent.calls), part));
        if usd.is_some_and(|usd| usd <= 0.0) || tokens == Some(0) || calls == Some(0) {
            return Share::Nothing;
        }
        ceilings.usd = least(ceilings.usd, usd);
        ceilings.tokens = least(ceilings.tokens, tokens);
        ceilings.calls = least(ceilings.calls, calls);
    }
    Share::Of(Ceilings {
        usd: ceilings.usd.map(|usd| usd + before.usd),
        tokens: ceilings.tokens.map(|tokens| tokens.saturating_add(before.tokens)),
        calls: ceilings.calls.map(|calls| calls.saturating_add(before.calls)),
        ..Ceilings::default()
    })
}

/// Returns a part of an amount, at least one unless the amount is 0.
fn of(amount: u64, part: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share need not be exact"
    )]
    let share = (amount as f64 * part) as u64;
    share.max(u64::from(amount > 0))
}

fn least<T: PartialOrd>(known: Option<T>, other: Option<T>) -> Option<T> {
    match (known, other) {
        (Some(known), Some(other)) => Some(if other < known { other } else { known }),
        (known, other) => known.or(other),
    }
}
