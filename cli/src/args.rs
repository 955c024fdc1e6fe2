//! The command line. What it says is checked for form here, and for meaning by those who read it.

mod lint;
mod reflex;
mod runs;
mod setup;
mod shared;
mod tune;
mod values;

pub use lint::{Fix, LintArgs, LintFormat};
pub use reflex::{NewArgs, ReflexArgs, ReflexCommand, TaskSource};
pub use runs::{
    AnswerName, ApplyArgs, CleanArgs, ConfigArgs, ConfigCommand, DemoArgs, DiffArgs, ExportArgs, GoingArgs,
    ListArgs, ResumeArgs, RollbackArgs, RunArgs, RunCommand, ShowArgs, StopArgs, TrustArgs,
};
pub use setup::{CompletionsArgs, DoctorArgs, InitArgs, ManArgs};
pub use shared::{CallFlags, RunFlags};
pub use tune::TuneArgs;
pub use values::{
    AgentSpec, ApplyWhen, ChecksName, DeliveryName, Format, IsolationName, ModeName, Preset, Streamed,
    ViaName, is_agent_name, word,
};

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::exit;

/// Makes agent skills better, and proves it.
#[derive(Debug, Parser)]
#[command(version, after_help = exit::table(), max_term_width = 110)]
pub struct Cli {
    /// The project folder [default: the nearest one above with skilltune.toml or .git]
    #[arg(long, global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

/// The word that starts our own program as a guardian.
pub const GUARDIAN: &str = "guardian";

/// The word that starts our own program as the built-in agent.
pub const OFFLINE: &str = "offline";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tune one skill, several, or a chain of them
    Tune(Box<TuneArgs>),
    /// Write one text for a task, and refine it until rules of two levels are met
    Reflex(ReflexArgs),
    /// Tell what is wrong with skills, fix what is safe to fix, and suggest the rest
    Lint(LintArgs),
    #[command(flatten)]
    Run(RunCommand),
    /// Allow the agents of a project's settings to be run
    Trust(TrustArgs),
    /// Copy an example and tune it, without a model, a key or a network
    Demo(DemoArgs),
    /// Look at the settings
    Config(ConfigArgs),
    /// Say what is here to work with, what is missing, and how to get it
    Doctor(DoctorArgs),
    /// Write a skilltune.toml with every setting and what it means
    Init(InitArgs),
    /// Print what a shell needs to complete this command line
    Completions(CompletionsArgs),
    /// Print the manual as a page for man
    Man(ManArgs),
}

#[cfg(test)]
pub fn tune_args(line: &[&str]) -> Result<TuneArgs, clap::Error> {
    let words = ["skilltune", "tune"].iter().chain(line);
    match Cli::try_parse_from(words)?.command {
        Command::Tune(args) => Ok(*args),
        other => panic!("not a tune: {other:?}"),
    }
}

#[cfg(test)]
pub fn new_args(line: &[&str]) -> Result<NewArgs, clap::Error> {
    let words = ["skilltune", "reflex", "new"].iter().chain(line);
    match Cli::try_parse_from(words)?.command {
        Command::Reflex(ReflexArgs { command: reflex::ReflexCommand::New(args) }) => Ok(*args),
        other => panic!("not a new one: {other:?}"),
    }
}

#[cfg(test)]
mod tests;
