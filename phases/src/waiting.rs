//! How long a run waits for what passes by itself: for a limit until the time that was told, or else in growing steps;
//! for a service that is not there in pauses that grow on from those before a call is made again.

use std::time::Duration;

use jiff::Timestamp;

use crate::backoff::{self, drawn};
use crate::remedy::Remedy;
use crate::run::{FailedCall, Fold, Run};

/// Where no time is told, it is asked again after so many minutes; the last of them again and again.
const STEPS: [u64; 3] = [15, 30, 60];

/// What the pauses grow from where the settings say that there are none: a run that waits must not ask without end.
const LEAST: Duration = Duration::from_millis(1);

/// Those that waited for the same time do not come back together.
const LATEST: Duration = Duration::from_secs(60);

/// Until when a run waits that cannot go on; none, when waiting is no use, or would take longer than `most`. `base` is
/// what the pauses grow from after which a call is made again.
pub fn until<L: Fold>(run: &Run<L>, now: Timestamp, most: Duration, base: Duration) -> Option<Timestamp> {
    let FailedCall { failure, step, .. } = run.blocked.as_ref()?;
    let waits = run.waits;
    let until = match (failure.kind.remedy(), failure.until) {
        (Remedy::Tell | Remedy::Mend, _) => return None,
        (Remedy::Repeat, told) => {
            let failures = L::tries(run).saturating_add(waits.times);
            let pause = backoff::pause(failure.kind, failures, base.max(LEAST), run.plan.seed, step);
            let own = now.checked_add(pause).ok()?;
            told.map_or(own, |told| told.max(own))
        }
        // It may have been lifted meanwhile.
        (Remedy::Wait, Some(told)) if waits.times == 0 => told.max(now),
        // What was told did not hold, so it is not asked more often than where nothing is told.
        (Remedy::Wait, Some(told)) => told.max(minutes(waits.times - 1, now)?),
        (Remedy::Wait, None) => minutes(waits.times, now)?,
    };
    let last = waits.since.unwrap_or(now).checked_add(most).unwrap_or(Timestamp::MAX);
    (until <= last).then(|| until.checked_add(lateness(run, until, now)).unwrap_or(until))
}

fn minutes(times: u32, now: Timestamp) -> Option<Timestamp> {
    let minutes = STEPS.get(times as usize).or(STEPS.last())?;
    now.checked_add(Duration::from_secs(minutes * 60)).ok()
}

/// A twentieth of the wait at most, drawn from the run's seed.
fn lateness<L: Fold>(run: &Run<L>, until: Timestamp, now: Timestamp) -> Duration {
    let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
    drawn(run.plan.seed, &[b"wait", &run.waits.times.to_le_bytes()], (wait / 20).min(LATEST))
}
