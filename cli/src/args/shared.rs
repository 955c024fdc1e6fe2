//! The flags that mean the same for every loop.

use clap::Args;
use jiff::Timestamp;
use skilltune_phases::base::id::Digest;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::FailOn;

use crate::settings::common::{BudgetSettings, CallSettings};
use crate::settings::flags::{Flags, Group, Placing};
use crate::settings::values;
use crate::settings::values::Streamed;

pub const AGENTS: &str = "Agents";
pub const LIMITS: &str = "Limits";
pub const RUN: &str = "Run";

/// Flags for agent calls.
#[derive(Clone, Debug, Args)]
pub struct CallFlags {
    /// Timeout of each agent call, such as 90, 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = AGENTS)]
    pub timeout: Option<u64>,
    #[command(flatten)]
    pub manner: Flags<Self, 0>,
}

impl Placing for CallFlags {
    type Tables = CallSettings;

    const GROUPS: &'static [Group] = &[(Some(AGENTS), "calls.isolation calls.via")];
}

/// How much a run may use: checked before each call.
pub const CEILINGS: Group =
    (Some(LIMITS), "budget.usd budget.tokens budget.calls budget.minutes budget.keep_free budget.unpriced");

/// Flags for pipelines. With one of them, it decides between the exit codes 0 and 3, and the goal does not.
#[derive(Clone, Copy, Debug, Args)]
pub struct FailFlags {
    /// For pipelines: exit with 3 if the confirmed score is below this or there is none, else with 0
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = RUN)]
    pub fail_under: Option<Score>,
    /// For pipelines: exit with 3 if the candidate lost or a scenario got much worse, else with 0
    #[arg(long, help_heading = RUN)]
    pub fail_on_regression: bool,
}

impl FailFlags {
    pub fn rule(self) -> FailOn {
        FailOn { score_under: self.fail_under, regression: self.fail_on_regression }
    }
}

/// Flags for how a run proceeds and prints.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person gives or not")]
#[derive(Clone, Debug, Args)]
pub struct RunFlags {
    #[command(flatten)]
    pub ceilings: Flags<Self, 0>,
    /// Ask no questions and use the defaults
    #[arg(short, long, help_heading = RUN)]
    pub yes: bool,
    #[command(flatten)]
    pub pace: Flags<Self, 1>,
    /// Show the first steps, the maximum number of calls and the estimate, then exit
    #[arg(long, help_heading = RUN)]
    pub dry_run: bool,
    /// Show what the run is likely to use, from earlier runs of this skill, then exit
    #[arg(long, help_heading = RUN)]
    pub estimate: bool,
    /// Ignore cached answers
    #[arg(long, help_heading = RUN)]
    pub fresh: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = RUN)]
    pub format: Streamed,
}

impl Placing for RunFlags {
    type Tables = (BudgetSettings, CallSettings);

    const GROUPS: &'static [Group] = &[CEILINGS, (Some(RUN), "calls.jobs calls.workers calls.wait")];
}

impl RunFlags {
    /// Whether nothing is started: what would be is shown.
    pub fn only_shows(&self) -> bool {
        self.dry_run || self.estimate
    }

    /// `--fresh` starts an epoch of its own, and no cached answer belongs to it.
    pub fn epoch(&self) -> u64 {
        if self.fresh { fresh_epoch(Timestamp::now(), std::process::id()) } else { 0 }
    }
}

/// Returns an epoch that no other run has, not even one that begins at the same moment.
fn fresh_epoch(now: Timestamp, process: u32) -> u64 {
    let parts: [&[u8]; 2] = [&now.as_nanosecond().to_le_bytes(), &process.to_le_bytes()];
    Digest::of_parts(parts).number()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn fresh_runs_of_one_moment_and_of_one_process_have_epochs_that_differ_and_fit_into_json() {
        let now = Timestamp::UNIX_EPOCH;
        let later = now + SignedDuration::from_nanos(1);
        let epochs = [fresh_epoch(now, 1), fresh_epoch(now, 2), fresh_epoch(later, 1)];
        assert!(epochs[0] != epochs[1] && epochs[0] != epochs[2], "{epochs:?}");
        assert!(epochs.iter().all(|epoch| *epoch > 1 && *epoch < 1 << 53), "{epochs:?}");
    }
}
