//! The arguments of the commands on runs and settings.
//!
//! They take a run of any loop. One is named by the alias of its task or any unique beginning of its id; none means the newest.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::values::{self, Format, Streamed};

/// The commands on runs: of every loop, and below the name of a loop of that one alone.
#[derive(Clone, Debug, Subcommand)]
pub enum RunCommand {
    /// Show where a run stands
    Status(RunArgs),
    /// Continue a run that was stopped or killed
    Resume(ResumeArgs),
    /// Let a run finish its steps under way, save, and end
    Stop(StopArgs),
    /// List the runs of this project
    List(ListArgs),
    /// Show what happened in a run, event by event
    History(RunArgs),
    /// Show a run, one of its rounds, or one of its versions
    Show(ShowArgs),
    /// Show what a version changes
    Diff(DiffArgs),
    /// Bring a candidate into the target
    Apply(ApplyArgs),
    /// Restore the target to its state before a run
    Rollback(RollbackArgs),
    /// Write a version into a new folder
    Export(ExportArgs),
    /// Print the report of a run, whole or so far
    Report(RunArgs),
    /// Delete what old runs have stored
    Clean(CleanArgs),
}

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The beginning of a run's id, or the alias of its task [default: the newest run]
    pub run: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The answer to the question that the run waits for
    #[arg(long, value_enum, value_name = "OPTION")]
    pub answer: Option<AnswerName>,
    #[command(flatten)]
    pub going: GoingArgs,
}

/// What the runs of the loops ask a person: tune, whether the champion may replace the target; reflex, whether the commands
/// may run that an agent proposed as checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswerName {
    /// tune: replace the target
    Apply,
    /// tune: leave the target as it is
    Keep,
    /// reflex: run the commands
    Run,
    /// reflex: let the judge decide in their place
    Skip,
}

#[derive(Clone, Debug, Args)]
pub struct StopArgs {
    /// The beginning of a run's id, or the alias of its task [default: the newest that is running]
    pub run: Option<String>,
    /// Why, for the history of a run of reflex, which ends for good
    pub reason: Option<String>,
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

impl RunCommand {
    /// The run that is named, if one is.
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Status(args) | Self::History(args) | Self::Report(args) => args.run.as_deref(),
            Self::Stop(args) => args.parts().0,
            Self::Resume(ResumeArgs { run, .. })
            | Self::Show(ShowArgs { run, .. })
            | Self::Diff(DiffArgs { run, .. })
            | Self::Apply(ApplyArgs { run, .. })
            | Self::Rollback(RollbackArgs { run, .. }) => run.run.as_deref(),
            Self::Export(args) => Some(&args.run),
            Self::Clean(args) => args.run.as_deref(),
            Self::List(_) => None,
        }
    }
}

impl StopArgs {
    /// The run and the reason. What cannot name a run is the reason of whatever runs, as the original has it.
    pub fn parts(&self) -> (Option<&str>, Option<&str>) {
        let is_named = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        match (self.run.as_deref(), self.reason.as_deref()) {
            (Some(first), None) if !first.bytes().all(is_named) => (None, Some(first)),
            parts => parts,
        }
    }
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
    /// The number of a round, or the beginning of the id of a candidate or a text
    #[arg(value_name = "ROUND|VERSION")]
    pub part: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The beginning of the id of a version, or of what an apply has displaced, or start, best, head or champion [default: champion]
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
    /// The beginning of a run's id, or the alias of its task
    pub run: String,
    /// The beginning of the id of a version, or of what an apply has displaced, or start, best, head or champion
    pub candidate: String,
    /// A folder that does not exist yet
    pub dir: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct CleanArgs {
    /// The beginning of a run's id, or the alias of its task [default: those that have ended]
    #[arg(conflicts_with_all = ["all", "keep"])]
    pub run: Option<String>,
    /// Every run that is not under way, with what only it can bring back
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
