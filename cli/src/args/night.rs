//! The arguments of `night` and `trend`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use jiff::civil::Time;
use skilltune_phases::nights::night::Shard;

use crate::args::examples;
use crate::settings::range::ANY;
use crate::settings::setting::Readable as _;
use crate::settings::values;
use crate::settings::values::{AgentSpec, Format};
use crate::settings::worker_settings::WorkerNames;

#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = examples::NIGHT)]
pub struct NightArgs {
    #[command(subcommand)]
    pub command: Option<NightCommand>,
    #[command(flatten)]
    pub part: NightPartArgs,
    #[command(flatten)]
    pub run: NightRunArgs,
}

/// Which of the jobs a night does.
#[derive(Clone, Debug, Default, Args)]
pub struct NightPartArgs {
    /// Run only jobs whose skill or suite changed since this git revision
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
    /// Run one share of the jobs, with one share of the budget: 2/8 is the second of eight
    #[arg(long, value_name = "N/M")]
    pub shard: Option<Shard>,
}

#[derive(Clone, Debug, Args)]
pub struct FileArg {
    /// File of jobs [default: skilltune-night.toml in the project]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct NightRunArgs {
    #[command(flatten)]
    pub file: FileArg,
    /// Run once a night: a second start in the same night, or one after `latest_start`, does nothing
    #[arg(long)]
    pub scheduled: bool,
    /// Print nothing unless something needs your attention
    #[arg(long)]
    pub if_needed: bool,
    /// Workers of your own settings that make the agent calls of searches and measurements that begin; '' for this machine
    /// [default: calls.workers]
    #[arg(long, value_name = "NAMES", value_parser = WorkerNames::parser(ANY))]
    pub workers: Option<WorkerNames>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NightCommand {
    /// Run one job now
    Run(NightJobArgs),
    /// Add jobs to the file
    #[command(after_help = examples::NIGHT_ADD)]
    Add(Box<NightAddArgs>),
    /// List the jobs, and what the next night would do
    List(NightViewArgs),
    /// Show the results of the last night, and what needs your attention
    Status(NightStatusArgs),
    /// Check for problems that would stop tonight's run, in the scheduler's environment
    #[command(after_help = examples::NIGHT_DOCTOR)]
    Doctor(NightDoctorArgs),
    /// Acknowledge that a skill got worse
    Ack(NightAckArgs),
    /// Dismiss a winner that you do not want, or an open verdict
    Dismiss(NightDismissArgs),
    /// Schedule the night with systemd, launchd or cron
    #[command(after_help = examples::NIGHT_INSTALL)]
    Install(InstallArgs),
    /// Remove everything that `night install` set up
    #[command(after_help = examples::NIGHT_UNINSTALL)]
    Uninstall(UninstallArgs),
    /// Merge the results of shards into one night
    Merge(NightMergeArgs),
}

#[derive(Clone, Debug, Args)]
pub struct NightJobArgs {
    /// Name of the job
    pub job: String,
    #[command(flatten)]
    pub run: NightRunArgs,
}

#[derive(Clone, Debug, Args)]
pub struct NightAddArgs {
    /// Path or name of a skill, each for a job of its own; a comma-separated list is a chain, and 'FOLDER/*' is a job for
    /// each skill in the folder
    #[arg(required = true, value_name = "SKILL")]
    pub skills: Vec<String>,
    /// Suite of tasks [default: the skill's own evals/evals.json]
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Name of the job [default: the skill's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How much the search may spend
    #[arg(long, value_name = "PRESET", value_parser = ["quick", "standard", "thorough"])]
    pub preset: Option<String>,
    /// Maximum number of runs of the executor
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,
    /// What to do with a winner
    #[arg(long, value_name = "WHEN", value_parser = ["never", "patch", "branch", "pr", "auto"])]
    pub apply: Option<String>,
    /// Of two jobs with priorities 1 and 3, the second goes first and may use three quarters of the budget
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub priority: Option<u32>,
    /// Agent for all roles that no other flag sets: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<AgentSpec>,
    /// Agent that runs the skill
    #[arg(long, value_name = "AGENT")]
    pub executor: Option<AgentSpec>,
    /// Agent that judges the results
    #[arg(long, value_name = "AGENT")]
    pub evaluator: Option<AgentSpec>,
    /// Agent that improves the skill
    #[arg(long, value_name = "AGENT")]
    pub improver: Option<AgentSpec>,
    #[command(flatten)]
    pub view: NightViewArgs,
}

#[derive(Clone, Debug, Args)]
pub struct NightViewArgs {
    #[command(flatten)]
    pub file: FileArg,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct NightStatusArgs {
    #[command(flatten)]
    pub view: NightViewArgs,
    /// Print nothing unless something needs your attention
    #[arg(long)]
    pub if_needed: bool,
}

#[derive(Clone, Debug, Args)]
pub struct NightDoctorArgs {
    #[command(flatten)]
    pub view: NightViewArgs,
    /// Timeout for each version check, such as 5, 5s or 1m
    #[arg(long, value_name = "TIME", value_parser = values::deadline, default_value = "30s")]
    pub timeout: Duration,
}

#[derive(Clone, Debug, Args)]
pub struct NightMergeArgs {
    /// State folder of each shard: its `.skilltune/nights/NAME`
    #[arg(required = true, value_name = "DIR")]
    pub shards: Vec<PathBuf>,
    #[command(flatten)]
    pub view: NightViewArgs,
}

#[derive(Clone, Debug, Args)]
pub struct NightAckArgs {
    /// Name of the job
    pub job: String,
    #[command(flatten)]
    pub view: NightViewArgs,
}

#[derive(Clone, Debug, Args)]
pub struct NightDismissArgs {
    /// Name of the job
    pub job: String,
    /// Run id, or a prefix of it [default: all runs of the job]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    #[command(flatten)]
    pub view: NightViewArgs,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = examples::TREND)]
pub struct TrendArgs {
    /// Name of the job
    pub job: String,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "format")]
    pub csv: bool,
    /// Write the page of the job's series, print its path, and open it in your browser
    #[arg(long, conflicts_with_all = ["csv", "format"])]
    pub open: bool,
    #[command(flatten)]
    pub view: NightViewArgs,
}

#[derive(Clone, Debug, Args)]
pub struct InstallArgs {
    /// Time of day at which the night starts
    #[arg(long, value_name = "HH:MM", default_value = "02:30", value_parser = time_of_day)]
    pub at: Time,
    #[command(flatten)]
    pub view: NightViewArgs,
    /// Print the configuration for a scheduler, and install nothing
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    pub print: Option<Printed>,
}

#[derive(Clone, Debug, Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    pub view: NightViewArgs,
}

/// A text that `night install --print` can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// A systemd user service and its timer
    Systemd,
    /// Crontab lines
    Cron,
    /// A macOS launch agent
    Launchd,
    /// A GitHub Actions workflow with eight shards
    Github,
    /// A Kubernetes cron job with its volume
    Kubernetes,
}

fn time_of_day(text: &str) -> Result<Time, String> {
    let parsed = text.split_once(':').and_then(|(hour, minute)| {
        let is_number = |part: &str| matches!(part.len(), 1..=2) && part.bytes().all(|b| b.is_ascii_digit());
        if !is_number(hour) || minute.len() != 2 || !is_number(minute) {
            return None;
        }
        Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
    });
    parsed.ok_or_else(|| "must be a time of day from 00:00 to 23:59, such as 02:30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_has_an_hour_and_a_minute() {
        let read = |text| time_of_day(text).map(|time| (time.hour(), time.minute())).ok();
        assert_eq!(
            [read("02:30"), read("2:05"), read("23:59")],
            [Some((2, 30)), Some((2, 5)), Some((23, 59))]
        );
        for text in ["", "2", "24:00", "12:60", "2:5", "-1:00", "+2:30", "02:30:00", "02:3\u{0660}", "002:30"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
