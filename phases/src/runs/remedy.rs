//! The remedies for a failed call, in one table, and how long a step waits before a retry after a temporary failure. The
//! pause is drawn from the run's seed, so that the same run always waits the same time.

use std::time::Duration;

use serde::Serialize;

use crate::base::id::Digest;
use crate::runs::event::FailureKind;

/// The longest pause, unless the service names a later time.
const LONGEST: Duration = Duration::from_secs(60);

/// The remedy for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A retry with the error in its prompt.
    Tell,
    /// The same call again: the service was unreachable, and the step is not at fault. If it stays unreachable, the run
    /// pauses.
    Repeat,
    /// A person must fix something. Until then every call fails like this.
    Fix,
    /// Wait: the limit is lifted without help.
    Wait,
}

impl FailureKind {
    pub fn remedy(self) -> Remedy {
        match self {
            // The second answer to a long prompt may be shorter.
            Self::TimedOut
            | Self::Crashed
            | Self::Empty
            | Self::OffSchema
            | Self::TooLarge
            | Self::Gate
            | Self::Refused
            | Self::TurnLimit
            | Self::OutputLimit
            | Self::DeniedTool
            | Self::PromptTooLong
            | Self::Breach => Remedy::Tell,
            Self::RateLimited | Self::Overloaded | Self::Network | Self::NoResponse | Self::WorkerLost => {
                Remedy::Repeat
            }
            Self::Authentication
            | Self::Forbidden
            | Self::NoCredit
            | Self::ModelNotFound
            | Self::UsageError
            | Self::NotSetUp
            | Self::NotTrusted
            | Self::NoWorker
            | Self::BudgetLimit => Remedy::Fix,
            Self::UsageLimit => Remedy::Wait,
        }
    }

    /// Returns whether the executor's skill may be at fault, once the agent had begun. Such a trial scores 0: a retry
    /// would favor a skill whose agent finishes only now and then.
    pub fn is_scored(self) -> bool {
        match self {
            Self::TimedOut | Self::TurnLimit | Self::OutputLimit | Self::TooLarge => true,
            Self::NoResponse
            | Self::Crashed
            | Self::Empty
            | Self::OffSchema
            | Self::Gate
            | Self::Refused
            | Self::BudgetLimit
            | Self::DeniedTool
            | Self::PromptTooLong
            | Self::RateLimited
            | Self::UsageLimit
            | Self::NoCredit
            | Self::Overloaded
            | Self::Network
            | Self::Authentication
            | Self::Forbidden
            | Self::ModelNotFound
            | Self::Breach
            | Self::UsageError
            | Self::NotSetUp
            | Self::NotTrusted
            | Self::WorkerLost
            | Self::NoWorker => false,
        }
    }

    /// Returns whether it counts against the step. Other failures never make the run give up a step.
    pub fn counts(self) -> bool {
        self.remedy() == Remedy::Tell
    }
}

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

    /// Returns all kinds in their written form, from the error for an unknown one.
    fn kinds() -> Vec<String> {
        let error = serde_json::from_str::<FailureKind>("\"no such kind\"").unwrap_err().to_string();
        let (_, known) = error.split_once("expected one of ").unwrap();
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_page_of_failures_has_every_kind_in_one_row_with_its_remedy() {
        let page = include_str!("../../../docs/failures.md");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| line.split(" | ").collect())
            .collect();
        let kinds = kinds();
        assert_eq!(rows.len(), kinds.len(), "each kind has one row, and nothing else has: {kinds:?}");
        for kind in kinds {
            let row = rows.iter().find(|row| row[0] == format!("| `{kind}`"));
            let row = row.unwrap_or_else(|| panic!("{kind} is in no row"));
            let known = serde_json::from_str::<FailureKind>(&format!("{kind:?}")).unwrap();
            let word = match known.remedy() {
                Remedy::Tell if known.is_scored() => "retry, but scored",
                Remedy::Tell => "retry",
                Remedy::Repeat => "repeat",
                Remedy::Fix => "pause",
                Remedy::Wait => "wait",
            };
            assert_eq!(row[2], word, "{kind}");
        }
    }

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
