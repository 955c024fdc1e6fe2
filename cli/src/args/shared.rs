//! The flags that mean the same for every loop.

use clap::Args;
use jiff::Timestamp;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::window::Percent;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::FailOn;

use crate::settings::values;
use crate::settings::values::{IsolationName, Streamed, UnpricedName, ViaName};

pub const AGENTS: &str = "Agents";
pub const LIMITS: &str = "Limits";
pub const RUN: &str = "Run";

/// Flags for agent calls.
#[derive(Clone, Debug, Args)]
pub struct CallFlags {
    /// Timeout of each agent call, such as 90, 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = AGENTS)]
    pub timeout: Option<u64>,
    /// How much of your own setup claude and gemini use
    #[arg(long, value_enum, value_name = "HOW", help_heading = AGENTS)]
    pub isolation: Option<IsolationName>,
    /// Wrapper to call claude and gemini with
    #[arg(long, value_enum, value_name = "WRAPPER", help_heading = AGENTS)]
    pub via: Option<ViaName>,
}

/// How much a run may use: checked before each call.
#[derive(Clone, Copy, Debug, Args)]
pub struct CeilingFlags {
    /// Maximum cost in dollars: the run pauses before a call that might exceed it
    #[arg(long = "max-usd", value_name = "USD", value_parser = values::dollars, help_heading = LIMITS)]
    pub usd: Option<f64>,
    /// Maximum number of tokens, input and output together
    #[arg(long = "max-tokens", value_name = "N", value_parser = values::amount, help_heading = LIMITS)]
    pub tokens: Option<u64>,
    /// Maximum number of agent calls, without cached ones [default: the most that the plan needs]
    #[arg(long = "max-calls", value_name = "N", value_parser = values::amount, help_heading = LIMITS)]
    pub calls: Option<u64>,
    /// Maximum minutes of work, without pauses
    #[arg(long = "max-minutes", value_name = "N", value_parser = values::amount, help_heading = LIMITS)]
    pub minutes: Option<u64>,
    /// Share of each usage window of your account that stays free, where the agent reports it, such as 30%
    #[arg(long = "keep-free", value_name = "SHARE", help_heading = LIMITS)]
    pub keep_free: Option<Percent>,
    /// Whether a run with a maximum cost may call agents whose cost would stay unknown
    #[arg(long, value_enum, value_name = "HOW", help_heading = LIMITS)]
    pub unpriced: Option<UnpricedName>,
}

impl CeilingFlags {
    pub fn ceilings(self) -> Ceilings {
        let Self { usd, tokens, calls, minutes, keep_free, unpriced } = self;
        let allow_unpriced = unpriced.map(|name| name == UnpricedName::Allow);
        Ceilings { usd, tokens, calls, minutes, keep_free, allow_unpriced }
    }
}

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
    pub ceilings: CeilingFlags,
    /// Ask no questions and use the defaults
    #[arg(short, long, help_heading = RUN)]
    pub yes: bool,
    /// Maximum number of agent calls at a time
    #[arg(long, value_name = "N", value_parser = values::jobs, help_heading = RUN)]
    pub jobs: Option<u32>,
    /// Wait instead of pausing when a usage limit is reached or a service is down
    #[arg(long, help_heading = RUN)]
    pub wait: bool,
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

impl RunFlags {
    /// Whether nothing is started: what would be is shown.
    pub fn only_shows(&self) -> bool {
        self.dry_run || self.estimate
    }

    /// `--fresh` starts an epoch of its own, and no cached answer belongs to it.
    pub fn epoch(&self) -> u64 {
        if self.fresh { u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(1) } else { 0 }
    }
}
