//! The flags that mean the same for every loop.

use clap::Args;
use jiff::Timestamp;

use super::values::{self, IsolationName, Streamed, ViaName};

pub(super) const AGENTS: &str = "Agents";
pub(super) const RUN: &str = "Run";

/// How agents are called.
#[derive(Clone, Debug, Args)]
pub struct CallFlags {
    /// The deadline of every call, such as 90, 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = AGENTS)]
    pub timeout: Option<u64>,
    /// How much of your own world claude and gemini are in
    #[arg(long, value_enum, value_name = "HOW", help_heading = AGENTS)]
    pub isolation: Option<IsolationName>,
    /// What stands between us and claude and gemini
    #[arg(long, value_enum, value_name = "WRAPPER", help_heading = AGENTS)]
    pub via: Option<ViaName>,
}

/// How a run goes on and is told.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person gives or not")]
#[derive(Clone, Debug, Args)]
pub struct RunFlags {
    /// Ask nothing: take the defaults
    #[arg(short, long, help_heading = RUN)]
    pub yes: bool,
    /// Calls at the same time
    #[arg(long, value_name = "N", value_parser = values::jobs, help_heading = RUN)]
    pub jobs: Option<u32>,
    /// When an account's limit is reached or a service is not there, wait for it, and go on
    #[arg(long, help_heading = RUN)]
    pub wait: bool,
    /// Show the first steps and the most calls there can be, and run nothing
    #[arg(long, help_heading = RUN)]
    pub dry_run: bool,
    /// Use no stored answer
    #[arg(long, help_heading = RUN)]
    pub fresh: bool,
    /// How the run is told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = RUN)]
    pub format: Streamed,
}

impl RunFlags {
    /// Every run with `--fresh` is of an epoch that no answer in the cache belongs to.
    pub fn epoch(&self) -> u64 {
        if self.fresh { u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(1) } else { 0 }
    }
}
