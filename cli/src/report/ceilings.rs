//! Shows the ceilings of a run to people and scripts: which it has, how much is left, and how to continue with a higher
//! one.

use std::time::Duration;

use serde_json::{Value, json};
use skilltune_phases::base::ceiling::{Ceiling, Ceilings};
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::gauge::Gauge;
use skilltune_phases::runs::event::Pause;
use skilltune_phases::runs::run::Run;

use crate::report::ui::Ui;
use crate::text::figures;

/// Lists all ceilings of a run: `limits: 46 calls (default), $5.00`.
pub fn line<L: Loop>(run: &Run<L>) -> String {
    let default = if run.plan.ceilings.calls.is_none() { " (default)" } else { "" };
    let shown = |ceiling| {
        let gauge = run.gauge(ceiling, run.updated_at)?;
        let default = if ceiling == Ceiling::Calls { default } else { "" };
        Some(format!("{}{default}", amount(ceiling, gauge.most)))
    };
    let all = [Ceiling::Calls, Ceiling::Usd, Ceiling::Tokens, Ceiling::Minutes];
    let free = run.plan.ceilings.keep_free.map(|free| format!("{free} of each usage window stays free"));
    let Ceilings { usd, allow_unpriced, .. } = run.plan.ceilings;
    let unpriced = (usd.is_some() && allow_unpriced == Some(true))
        .then(|| "calls of unknown cost are not counted in dollars".to_owned());
    let all = all.into_iter().filter_map(shown).chain(free).chain(unpriced);
    format!("limits: {}", all.collect::<Vec<_>>().join(", "))
}

/// Returns the ceiling that a run is paused at.
pub fn paused<L: Loop>(run: &Run<L>) -> Option<Ceiling> {
    match run.paused.filter(|_| run.closed_at.is_none())? {
        Pause::Ceiling(ceiling) => Some(ceiling),
        Pause::Interrupted | Pause::Terminated | Pause::Stopped | Pause::Exported | Pause::Blocked => None,
    }
}

/// Describes which ceiling a run reached, its limit, and what the run has used.
pub fn describe<L: Ui>(run: &Run<L>, ceiling: Ceiling) -> String {
    let Some(gauge) = run.gauge(ceiling, run.updated_at) else { return String::new() };
    let (most, used, call) =
        (amount(ceiling, gauge.most), amount(ceiling, gauge.used), amount(ceiling, gauge.call));
    let used = match ceiling {
        Ceiling::Usd => format!("{used} spent"),
        Ceiling::Tokens | Ceiling::Minutes => format!("{used} used"),
        Ceiling::Calls => format!("{used} made"),
    };
    let next = match ceiling {
        _ if gauge.used >= gauge.most => String::new(),
        Ceiling::Usd => format!(", and one call has cost up to {call}"),
        Ceiling::Tokens => format!(", and one call has used up to {call}"),
        Ceiling::Minutes => format!(", and one call has taken up to {call}"),
        Ceiling::Calls => String::new(),
    };
    format!("limit of {most} reached in {}: {used}{next}", L::place(run))
}

/// Returns the flags to continue from the ceiling that a run is paused at: twice as much, and enough for one call.
pub fn flags<L: Loop>(run: &Run<L>) -> Option<String> {
    let ceiling = paused(run)?;
    let Gauge { most, used, call } = run.gauge(ceiling, run.updated_at)?;
    let enough = (most * 2.0).max(used + call).ceil().max(1.0);
    Some(format!("--max-{} {enough:.0}", ceiling.word()))
}

/// Returns the ceiling that a run is paused at, for scripts.
pub fn json<L: Ui>(run: &Run<L>) -> Option<Value> {
    let ceiling = paused(run)?;
    let Gauge { most, used, call } = run.gauge(ceiling, run.updated_at)?;
    Some(json!({
        "limit": ceiling, "most": most, "used": used, "call": call, "why": describe(run, ceiling), "flags": flags(run),
    }))
}

/// Returns all ceilings of a run, for scripts.
pub fn all<L: Loop>(run: &Run<L>) -> Value {
    let Ceilings { usd, tokens, calls, minutes, keep_free, allow_unpriced: _ } = run.plan.ceilings;
    json!({
        "usd": usd, "tokens": tokens, "calls": calls.unwrap_or_else(|| run.default_calls()), "minutes": minutes,
        "keep_free": keep_free,
    })
}

fn amount(ceiling: Ceiling, amount: f64) -> String {
    match ceiling {
        Ceiling::Usd => figures::dollars(amount),
        Ceiling::Tokens => format!("{} tokens", grouped(amount)),
        Ceiling::Calls if amount <= 1.0 => format!("{amount:.0} call{}", if amount < 1.0 { "s" } else { "" }),
        Ceiling::Calls => format!("{} calls", grouped(amount)),
        Ceiling::Minutes => {
            figures::duration(Duration::try_from_secs_f64(amount * 60.0).unwrap_or(Duration::MAX))
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a whole number")]
fn grouped(amount: f64) -> String {
    figures::grouped(amount as u64)
}
