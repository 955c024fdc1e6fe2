//! The flags of `gan`.

use std::path::PathBuf;

use clap::Args;
use skilltune_phases::judging::score::Score;

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::loops::gan::settings::{ApplyName, LevelName, Minimums};
use crate::settings::flags::Given;
use crate::settings::proposed::ChecksName;
use crate::settings::values;
use crate::settings::values::AgentSpec;

const BRIEF: &str = "Brief";
const CONTRACT: &str = "Contract";

/// Build what a brief asks for, judged against a contract round by round
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person gives or not")]
#[derive(Clone, Debug, Args)]
#[command(after_help = examples::GAN)]
pub struct GanArgs {
    /// Markdown file that says what to build; the result must have a section for each heading of level 2
    #[arg(value_name = "BRIEF.md")]
    pub brief: PathBuf,

    /// Folder for the result; its files are the starting point
    #[arg(long, value_name = "DIR", help_heading = BRIEF)]
    pub into: Option<PathBuf>,
    /// What to do with an accepted result [default: auto]
    #[arg(long, value_enum, value_name = "HOW", help_heading = BRIEF)]
    pub apply: Option<ApplyName>,
    /// JSON file of texts that must appear unchanged
    #[arg(long, value_name = "FILE", help_heading = BRIEF)]
    pub copy: Option<PathBuf>,
    /// JSON file of design tokens to use instead of literal values
    #[arg(long = "tokens", value_name = "FILE", help_heading = BRIEF)]
    pub design_tokens: Option<PathBuf>,

    /// How thoroughly to verify the result
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = CONTRACT)]
    pub level: Option<LevelName>,
    /// Criteria for the result: design, code, or your own YAML file
    #[arg(long, value_name = "PROFILE", help_heading = CONTRACT)]
    pub profile: Option<String>,
    /// Let builder and evaluator agree on a contract first; always on at level thorough
    #[arg(long, help_heading = CONTRACT)]
    pub contract: bool,
    /// Require the threshold of every dimension, and at least two rounds
    #[arg(long, help_heading = CONTRACT)]
    pub strict: bool,
    /// Score to pass, 60 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = CONTRACT)]
    pub threshold: Option<Score>,
    /// Minimum scores of single dimensions, such as craft=75,originality=50
    #[arg(long, value_name = "LIST", help_heading = CONTRACT)]
    pub minimums: Option<Minimums>,
    /// Maximum number of rounds
    #[arg(long, value_name = "N", value_parser = values::rounds, help_heading = CONTRACT)]
    pub max_rounds: Option<u32>,

    /// What to do with the commands of test scenarios
    #[arg(long, value_enum, value_name = "HOW", help_heading = CONTRACT)]
    pub commands: Option<ChecksName>,
    /// Do not look at the result in a browser
    #[arg(long, help_heading = CONTRACT)]
    pub no_browser: bool,

    /// Agent for both roles: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    /// Agent that builds
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub builder: Option<AgentSpec>,
    /// Agent that judges, anew each round
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub evaluator: Option<AgentSpec>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents for this run
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    /// Seed for the codes in prompts [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = RUN)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub given: Given,
}
