//! Computes how long a step waits before a retry after a temporary failure. The pause is drawn from the run's seed, so
//! that the same run always waits the same time.

use std::time::Duration;

use serde::Serialize;

use crate::base::id::Digest;
use crate::runs::event::FailureKind;
use crate::runs::remedy::Remedy;

/// The longest pause, unless the service names a later time.
const LONGEST: Duration = Duration::from_secs(60);

/// Returns a pause between half of `base` and a limit that doubles with each failure. Calls that failed together are
/// thus not retried together.
pub fn pause(kind: FailureKind, failures: u32, base: Duration, seed: u64, step: &impl Serialize) -> Duration {
    match kind.remedy() {
        Remedy::Repeat => {}
        Remedy::Tell | Remedy::Fix | Remedy::Wait => return Duration::ZERO,
    }
    let most = base.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST);
    let least = (base / 2).min(most);
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    least + drawn(seed, &[&key, &failures.to_le_bytes()], most.saturating_sub(least))
}

/// Returns a duration up to `most`, drawn from a seed and its purpose.
pub(crate) fn drawn(seed: u64, what: &[&[u8]], most: Duration) -> Duration {
    let seed = seed.to_le_bytes();
    let digest = Digest::of_parts(std::iter::once(seed.as_slice()).chain(what.iter().copied()));
    let number = u64::from_le_bytes(digest.as_bytes()[..8].try_into().expect("eight bytes"));
    let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX - 1);
    Duration::from_millis(number % (most + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_secs(2);

    fn step(round: u32) -> impl Serialize {
        ("improve", round)
    }

    fn pauses(seed: u64) -> Vec<Duration> {
        let of =
            |round| (1..8).map(move |times| pause(FailureKind::Overloaded, times, BASE, seed, &step(round)));
        (0..20).flat_map(of).collect()
    }

    #[test]
    fn two_runs_of_the_same_seed_wait_the_same_and_steps_do_not_come_back_together() {
        assert_eq!(pauses(7), pauses(7));
        assert_ne!(pauses(7), pauses(8));
        let first: std::collections::BTreeSet<Duration> = pauses(7).into_iter().step_by(7).collect();
        assert!(first.len() > 10, "{first:?}");
    }

    #[test]
    fn a_pause_is_within_bounds_that_grow_and_end() {
        for (at, pause) in pauses(7).into_iter().enumerate() {
            let most = (BASE * 2_u32.pow(u32::try_from(at % 7).unwrap() + 1)).min(LONGEST);
            assert!((BASE / 2..=most).contains(&pause), "{at}: {pause:?}");
        }
        assert!(pauses(7).iter().any(|pause| *pause > LONGEST / 2));
        assert!(pause(FailureKind::Network, u32::MAX, Duration::MAX, 1, &step(1)) <= LONGEST);
    }

    #[test]
    fn only_what_passes_by_itself_is_waited_for_and_without_a_base_nothing_is() {
        for kind in [FailureKind::Crashed, FailureKind::Authentication, FailureKind::UsageLimit] {
            assert_eq!(pause(kind, 3, BASE, 7, &step(1)), Duration::ZERO, "{kind:?}");
        }
        for kind in [FailureKind::RateLimited, FailureKind::Overloaded, FailureKind::Network] {
            assert!(pause(kind, 1, BASE, 7, &step(1)) >= BASE / 2, "{kind:?}");
            assert_eq!(pause(kind, 3, Duration::ZERO, 7, &step(1)), Duration::ZERO);
        }
    }
}
