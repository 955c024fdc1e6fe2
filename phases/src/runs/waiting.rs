//! Computes how long a run waits: for a limit until the time that the service named, or else in growing steps; for an
//! unreachable service in pauses that continue those between retries.

use std::time::Duration;

use jiff::Timestamp;

use crate::runs::remedy::{self, Remedy, drawn};
use crate::runs::run::{FailedCall, Fold, Run};

/// Minutes between tries if the service names no time; the last one repeats.
const STEPS: [u64; 3] = [15, 30, 60];

/// The first pause if the settings ask for none: a run that waits must not retry in a busy loop.
const LEAST: Duration = Duration::from_millis(1);

/// The most that is added, so that runs with the same wait do not resume together.
const LATEST: Duration = Duration::from_secs(60);

/// Returns the time until which a blocked run waits; none if waiting does not help, or takes longer than `most`. `base`
/// is the first pause between retries.
pub fn until<L: Fold>(run: &Run<L>, now: Timestamp, most: Duration, base: Duration) -> Option<Timestamp> {
    let FailedCall { failure, step, .. } = run.blocked.as_ref()?;
    let waits = run.waits;
    let until = match (failure.kind.remedy(), failure.until) {
        (Remedy::Tell | Remedy::Fix, _) => return None,
        (Remedy::Repeat, named) => {
            let failures = L::tries(run).saturating_add(waits.times);
            let pause = remedy::pause(failure.kind, failures, base.max(LEAST), run.plan.seed, step);
            let own = now.checked_add(pause).ok()?;
            named.map_or(own, |named| named.max(own))
        }
        // The limit may be lifted already.
        (Remedy::Wait, Some(named)) if waits.times == 0 => named.max(now),
        // The named time was wrong, so retries are as rare as without one.
        (Remedy::Wait, Some(named)) => named.max(minutes(waits.times - 1, now)?),
        (Remedy::Wait, None) => minutes(waits.times, now)?,
    };
    let last = waits.since.unwrap_or(now).checked_add(most).unwrap_or(Timestamp::MAX);
    (until <= last).then(|| until.checked_add(lateness(run, until, now)).unwrap_or(until))
}

fn minutes(times: u32, now: Timestamp) -> Option<Timestamp> {
    let minutes = STEPS.get(times as usize).or(STEPS.last())?;
    now.checked_add(Duration::from_secs(minutes * 60)).ok()
}

/// Returns at most a twentieth of the wait, drawn from the run's seed.
fn lateness<L: Fold>(run: &Run<L>, until: Timestamp, now: Timestamp) -> Duration {
    let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
    drawn(run.plan.seed, &[b"wait", &run.waits.times.to_le_bytes()], (wait / 20).min(LATEST))
}
