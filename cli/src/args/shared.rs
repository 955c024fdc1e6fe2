//! The flags that mean the same for every loop.

use clap::Args;
use jiff::Timestamp;

use crate::settings::values;
use crate::settings::values::{IsolationName, Streamed, ViaName};

pub const AGENTS: &str = "Agents";
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

/// Flags for how a run proceeds and prints.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person gives or not")]
#[derive(Clone, Debug, Args)]
pub struct RunFlags {
    /// Ask no questions and use the defaults
    #[arg(short, long, help_heading = RUN)]
    pub yes: bool,
    /// Maximum number of agent calls at a time
    #[arg(long, value_name = "N", value_parser = values::jobs, help_heading = RUN)]
    pub jobs: Option<u32>,
    /// Wait instead of pausing when a usage limit is reached or a service is down
    #[arg(long, help_heading = RUN)]
    pub wait: bool,
    /// Show the first steps and the maximum number of calls, then exit
    #[arg(long, help_heading = RUN)]
    pub dry_run: bool,
    /// Ignore cached answers
    #[arg(long, help_heading = RUN)]
    pub fresh: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = RUN)]
    pub format: Streamed,
}

impl RunFlags {
    /// `--fresh` starts an epoch of its own, and no cached answer belongs to it.
    pub fn epoch(&self) -> u64 {
        if self.fresh { u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(1) } else { 0 }
    }
}
