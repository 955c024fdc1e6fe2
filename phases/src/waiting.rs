//! How a limit is waited for that is lifted by itself: until the time that was told, or else in growing steps.

use std::time::Duration;

use jiff::Timestamp;

use crate::backoff::drawn;
use crate::loops::Loop;
use crate::remedy::Remedy;
use crate::run::Run;

/// Where no time is told, it is asked again after so many minutes; the last of them again and again.
const STEPS: [u64; 3] = [15, 30, 60];

/// Those that waited for the same time do not come back together.
const LATEST: Duration = Duration::from_secs(60);

/// Until when a run waits that a limit has stopped; none, when waiting is no use, or would take longer than `most`.
pub fn until<L: Loop>(run: &Run<L>, now: Timestamp, most: Duration) -> Option<Timestamp> {
    let failure = &run.blocked.as_ref()?.failure;
    if failure.kind.remedy() != Remedy::Wait {
        return None;
    }
    let waits = run.waits;
    let until = match failure.until {
        // It may have been lifted meanwhile.
        Some(told) if waits.times == 0 => told.max(now),
        // What was told did not hold, so it is not asked more often than where nothing is told.
        Some(told) => told.max(step(waits.times - 1, now)?),
        None => step(waits.times, now)?,
    };
    let last = waits.since.unwrap_or(now).checked_add(most).unwrap_or(Timestamp::MAX);
    (until <= last).then(|| until.checked_add(lateness(run, until, now)).unwrap_or(until))
}

fn step(times: u32, now: Timestamp) -> Option<Timestamp> {
    let minutes = STEPS.get(times as usize).or(STEPS.last())?;
    now.checked_add(Duration::from_secs(minutes * 60)).ok()
}

/// A twentieth of the wait at most, drawn from the run's seed.
fn lateness<L: Loop>(run: &Run<L>, until: Timestamp, now: Timestamp) -> Duration {
    let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
    drawn(run.plan.seed, &[b"wait", &run.waits.times.to_le_bytes()], (wait / 20).min(LATEST))
}
