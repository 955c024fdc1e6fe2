//! The arguments of the commands on runs and settings.
//!
//! A run is named by any unique beginning of its id; none means the newest.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use skilltune_phases::loops::tune::Choice;

use super::values::{self, Format, Streamed};

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The beginning of a run's id [default: the newest run]
    pub run: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The answer to the question that the run waits for: apply or keep
    #[arg(long, value_name = "OPTION", value_parser = values::choice)]
    pub answer: Option<Choice>,
    #[command(flatten)]
    pub going: GoingArgs,
}

/// How a run that is taken up goes on.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Copy, Debug, Args)]
pub struct GoingArgs {
    /// Ask nothing: take the defaults
    #[arg(short, long)]
    pub yes: bool,
    /// Calls at the same time
    #[arg(long, value_name = "N", value_parser = values::jobs)]
    pub jobs: Option<u32>,
    /// Run the agents of the project's settings, this once
    #[arg(long)]
    pub trust: bool,
    /// When an account's limit is reached or a service is not there, wait for it, and go on
    #[arg(long)]
    pub wait: bool,
    /// Refuse to go on if an agent changed since the run began
    #[arg(long)]
    pub strict_agents: bool,
    /// How the run is told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Streamed,
}

#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// How they are told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The number of a round, or the beginning of a candidate's id
    #[arg(value_name = "ROUND|CANDIDATE")]
    pub what: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The beginning of the id of a candidate, or of what an apply has displaced, or start, best, head or champion [default: champion]
    pub candidate: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The beginning of the id of a candidate, or of what an apply has displaced, or start, best, head or champion [default: champion]
    pub candidate: Option<String>,
    /// Replace the target even when it is not what the run left there
    #[arg(long)]
    pub force: bool,
}

#[derive(Clone, Debug, Args)]
pub struct RollbackArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Replace the target even when it is not what the run left there
    #[arg(long)]
    pub force: bool,
}

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// The beginning of a run's id
    pub run: String,
    /// The beginning of the id of a candidate, or of what an apply has displaced, or start, best, head or champion
    pub candidate: String,
    /// A folder that does not exist yet
    pub dir: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct CleanArgs {
    /// The beginning of a run's id [default: those that have ended]
    #[arg(conflicts_with_all = ["all", "keep"])]
    pub run: Option<String>,
    /// Every run that is not under way, with the way back from its champion
    #[arg(long, conflicts_with = "keep")]
    pub all: bool,
    /// All but the newest N
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Show what would be deleted
    #[arg(long)]
    pub dry_run: bool,
    /// Delete without a question
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Clone, Debug, Args)]
pub struct TrustArgs {
    /// A skilltune.toml, its folder, or a suite
    pub path: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// A folder that is new or empty
    #[arg(default_value = "skilltune-demo")]
    pub dir: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// List every setting, its value, and where that comes from
    Show {
        /// How they are told
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: Format,
    },
}
