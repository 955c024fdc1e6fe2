//! The arguments of `suite`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::args::examples;
use crate::settings::values::{AgentSpec, Format};

#[derive(Clone, Debug, Args)]
pub struct SuiteArgs {
    #[command(subcommand)]
    pub command: SuiteCommand,
}

impl SuiteArgs {
    /// The run that is named, if one is.
    pub fn run(&self) -> Option<&str> {
        match &self.command {
            SuiteCommand::Add(args) if args.suite().is_none() => args.from.first().map(String::as_str),
            SuiteCommand::Add(_)
            | SuiteCommand::Check(_)
            | SuiteCommand::Convert(_)
            | SuiteCommand::New(_) => None,
        }
    }
}

#[derive(Clone, Debug, Subcommand)]
pub enum SuiteCommand {
    /// Show the contents of a suite, its unused parts, and the scenarios that prove nothing
    #[command(after_help = examples::SUITE_CHECK)]
    Check(SuiteCheckArgs),
    /// Write a suite in another format
    #[command(after_help = examples::SUITE_CONVERT)]
    Convert(SuiteConvertArgs),
    /// Add a draft to a suite.toml: from a trial with faults, or a scenario of another suite
    #[command(after_help = examples::SUITE_ADD)]
    Add(SuiteAddArgs),
    /// Have an agent draft scenarios for a skill, in one call
    #[command(after_help = examples::SUITE_NEW)]
    New(SuiteNewArgs),
}

#[derive(Clone, Debug, Args)]
pub struct SuiteCheckArgs {
    /// Path of a suite, or path or name of a skill with evals/evals.json
    #[arg(value_name = "SUITE|SKILL")]
    pub suite: String,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub tried: TryFlags,
}

const TRY: &str = "Try";

/// Whether the suite is tried without a skill, and how.
#[derive(Clone, Debug, Args)]
pub struct TryFlags {
    /// Run each scenario without the skill, and list those that pass anyway
    #[arg(long = "try", id = "try", help_heading = TRY)]
    pub is_wanted: bool,
    /// Trials of each scenario
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20), requires = "try", help_heading = TRY)]
    pub trials: u32,
    /// Agent that does the scenarios and judges them: NAME or NAME:MODEL [default: the executor and the evaluator]
    #[arg(long, value_name = "AGENT", requires = "try", help_heading = TRY)]
    pub agent: Option<AgentSpec>,
    /// Make the calls without asking
    #[arg(short, long, requires = "try", help_heading = TRY)]
    pub yes: bool,
    /// Trust the project's agents and the suite's commands for this run
    #[arg(long, requires = "try", help_heading = TRY)]
    pub trust: bool,
}

#[derive(Clone, Debug, Args)]
pub struct SuiteConvertArgs {
    /// Path of a suite, or path or name of a skill with evals/evals.json
    #[arg(value_name = "SUITE|SKILL")]
    pub from: String,
    /// Format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Target,
    /// New file; for plugin, a new folder
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct SuiteAddArgs {
    /// Run (id or a unique prefix) and a scenario, to add its worst trial; ONE@2 is the trial of round 2, ONE@final a trial
    /// of the final comparison. Or a suite (a path that ends in .toml) and the id of a scenario
    #[arg(long, num_args = 1..=2, value_names = ["RUN|SUITE", "TRIAL|ID"], required = true)]
    pub from: Vec<String>,
    /// File to add to, created if missing [default: the suite.toml that the run used, or suite.toml in the project]
    #[arg(long, value_name = "SUITE")]
    pub to: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

impl SuiteAddArgs {
    /// The suite to take a scenario from, if it is none of a run.
    pub fn suite(&self) -> Option<&Path> {
        let is_toml = |path: &&Path| path.extension().is_some_and(|end| end == "toml");
        self.from.first().map(Path::new).filter(is_toml)
    }
}

/// The maximum number of drafts, unless the user says another one.
pub const DRAFTS: u8 = 5;

#[derive(Clone, Debug, Args)]
pub struct SuiteNewArgs {
    /// Path or name of a skill
    pub skill: String,
    /// File to create [default: suite.toml in the project]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Maximum number of scenarios
    #[arg(long, value_name = "N", default_value_t = DRAFTS, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub scenarios: u8,
    /// Agent that drafts them: NAME or NAME:MODEL [default: the improver]
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<AgentSpec>,
    /// Trust the project's agents for this call
    #[arg(long)]
    pub trust: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// suite.toml, which holds everything
    Toml,
    /// evals.json of skill-creator
    Evals,
    /// A list of queries that should or should not trigger the skill
    Triggers,
    /// A promptfoo configuration
    Promptfoo,
    /// A folder of cases for `claude plugin eval`
    Plugin,
}
