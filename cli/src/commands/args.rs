//! The arguments of the setup commands: doctor, init, completions, man.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap_complete::Shell;

use crate::loops::tune::settings::TuneSettings;
use crate::settings::common::{CallSettings, RoleSettings};
use crate::settings::flags::{Different, Flags, Given, Group, Placing};
use crate::settings::range::ANY;
use crate::settings::setting::Readable as _;
use crate::settings::values;
use crate::settings::values::{AgentSpec, Format, ViaName};
use crate::settings::worker_settings::WorkerNames;

#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// Timeout for each version check and for the start of each worker, such as 5, 5s or 1m
    #[arg(long, value_name = "TIME", value_parser = values::deadline, default_value = "30s")]
    pub timeout: Duration,
    /// Trust the project's agents for this check
    #[arg(long)]
    pub trust: bool,
    /// Make one tiny call to each installed agent that is no command, which may cost a little
    #[arg(long)]
    pub probe: bool,
    /// Like --probe, through a wrapper
    #[arg(long, value_enum, value_name = "WRAPPER")]
    pub via: Option<ViaName>,
    /// Start each worker of your settings, or the named ones, and show its agents; a queue may need a longer --timeout
    #[arg(long, value_name = "NAMES", num_args = 0..=1, default_missing_value = "", value_parser = WorkerNames::parser(ANY))]
    pub workers: Option<WorkerNames>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Project folder [default: the current folder]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub search: Flags<Self, 0>,
    /// Agent for all roles that no other flag sets: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<AgentSpec>,
    #[command(flatten)]
    pub others: Flags<Self, 1>,
    /// Also create a suite.toml with this task
    #[arg(long, value_name = "TASK", value_parser = task)]
    pub suite: Option<String>,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
    /// Ask no questions and use the defaults
    #[arg(short, long)]
    pub yes: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub given: Given,
}

impl Placing for InitArgs {
    type Tables = (TuneSettings, (RoleSettings, CallSettings));

    const DIFFERENT: &'static [Different] = &[
        ("tune.preset", "--preset", "How much a search may spend"),
        ("tune.max_iterations", "--max-iterations", "Maximum number of rounds, including the baseline"),
        ("tune.threshold", "--threshold", "Goal: stop when the score reaches this, 0 to 100"),
        ("tune.apply", "--apply", "When the champion may replace the skill"),
    ];
    const GROUPS: &'static [Group] = &[
        (None, "tune.preset tune.max_iterations tune.threshold"),
        (None, "roles.executor roles.evaluator roles.improver tune.apply calls.jobs"),
    ];
}

#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to complete for
    pub shell: Shell,
}

#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write one page per command to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn task(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        Err("must not be empty; describe a task to try the skill on".to_owned())
    } else {
        Ok(text.to_owned())
    }
}
