//! The arguments of the commands around runs: looking at the machine, settings, completions, man pages.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap_complete::Shell;
use skilltune_phases::score::Score;

use super::values::{self, AgentSpec, ApplyWhen, Format, Preset};

#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// How long a program may take to tell its version, such as 5, 5s or 1m
    #[arg(long, value_name = "TIME", value_parser = deadline, default_value = "10s")]
    pub timeout: Duration,
    /// Ask the agents of the project's settings too, this once
    #[arg(long)]
    pub trust: bool,
    /// Have each real agent that is here make one smallest call, which may cost a little
    #[arg(long)]
    pub probe: bool,
    /// How it is told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// The project folder [default: the current one]
    pub dir: Option<PathBuf>,
    /// How many rounds, and to what score
    #[arg(long, value_enum, value_name = "PRESET")]
    pub preset: Option<Preset>,
    /// Measurements at most, the first one included
    #[arg(long, value_name = "N", value_parser = values::rounds)]
    pub max_iterations: Option<u32>,
    /// The score to reach, 0 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points)]
    pub threshold: Option<Score>,
    /// Who does all that no other flag names: NAME, or NAME:MODEL
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<AgentSpec>,
    /// Who runs the skill
    #[arg(long, value_name = "AGENT")]
    pub executor: Option<AgentSpec>,
    /// Who judges the results
    #[arg(long, value_name = "AGENT")]
    pub evaluator: Option<AgentSpec>,
    /// Who improves the skill
    #[arg(long, value_name = "AGENT")]
    pub improver: Option<AgentSpec>,
    /// When the champion may replace the skill
    #[arg(long, value_enum, value_name = "WHEN")]
    pub apply: Option<ApplyWhen>,
    /// Calls at the same time
    #[arg(long, value_name = "N", value_parser = values::jobs)]
    pub jobs: Option<u32>,
    /// Write a first suite.toml too, with this task to try skills on
    #[arg(long, value_name = "TASK", value_parser = task)]
    pub suite: Option<String>,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
    /// Ask nothing: take the defaults
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that is to complete
    pub shell: Shell,
}

#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for every command into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn task(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("say what a skill is to be tried on".to_owned()) } else { Ok(text.to_owned()) }
}

fn deadline(text: &str) -> Result<Duration, String> {
    values::seconds(text).map(Duration::from_secs)
}
