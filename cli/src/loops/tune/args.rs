//! The flags of `tune`.

use std::path::PathBuf;

use clap::Args;

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, FailFlags, RUN, RunFlags};
use crate::loops::tune::settings::{ModeName, TuneSettings};
use crate::settings::common::RoleSettings;
use crate::settings::flags::{Flags, Given, Group, Placing};
use crate::settings::values::AgentSpec;

const SCENARIO: &str = "Scenario";
const SEARCH: &str = "Search";

/// With more, the share of each would be too small for most suites.
pub const MOST_EXTENSIONS: i64 = 10;

/// Improve one skill, several skills, or a chain of skills
#[derive(Clone, Debug, Args)]
#[command(after_help = examples::TUNE)]
pub struct TuneArgs {
    /// Paths or names of skills, separated by commas [default: the skill of the current folder]
    #[arg(value_name = "SKILL[,SKILL...]")]
    pub skills: Option<String>,
    /// Task to try the skill on
    #[arg(value_name = "SCENARIO TEXT")]
    pub text: Vec<String>,

    /// Another task to try the skill on (repeatable)
    #[arg(long = "scenario", visible_alias = "test", value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub scenarios: Vec<String>,
    /// File of tasks
    #[arg(long, value_name = "FILE", help_heading = SCENARIO)]
    pub suite: Option<PathBuf>,
    /// Requirements for the result (repeatable, or separated by commas)
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true, help_heading = SCENARIO)]
    pub requirements: Vec<String>,
    /// Arguments to call the skill with
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub input_args: Option<String>,
    /// What makes a result good
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub success_criteria: Option<String>,

    /// Same as --mode chain
    #[arg(long, help_heading = SEARCH)]
    pub chain: bool,
    /// How to tune several skills
    #[arg(long, value_enum, value_name = "MODE", help_heading = SEARCH)]
    pub mode: Option<ModeName>,
    #[command(flatten)]
    pub search: Flags<Self, 0>,
    /// Compare on the scenarios of the search: weaker evidence, never applied without you
    #[arg(long, help_heading = SEARCH)]
    pub this_suite_only: bool,
    /// Set aside shares of the chance of error for this many extensions of the final comparison: for nights
    #[arg(long, value_name = "N", default_value_t, value_parser = clap::value_parser!(u32).range(..=MOST_EXTENSIONS), hide = true)]
    pub extensions: u32,
    /// Seed for the order of trials [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    pub seed: Option<u64>,

    /// Agent for all roles that no other flag sets: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    #[command(flatten)]
    pub work: Flags<Self, 1>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents and the suite's commands for this run
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    #[command(flatten)]
    pub apply: Flags<Self, 2>,
    #[command(flatten)]
    pub fail_on: FailFlags,
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub given: Given,
}

impl TuneArgs {
    /// Returns the list of skills, once it is known.
    pub fn skill_list(&self) -> &str {
        self.skills.as_deref().unwrap_or_default()
    }
}

impl Placing for TuneArgs {
    type Tables = (RoleSettings, TuneSettings);

    const GROUPS: &'static [Group] = &[
        (
            Some(SEARCH),
            "tune.preset tune.search tune.runs tune.max_iterations tune.threshold tune.confidence",
        ),
        (
            Some(AGENTS),
            "roles.executor roles.evaluator roles.panel roles.improver roles.second_improver tune.delivery tune.tools",
        ),
        (Some(RUN), "tune.apply"),
    ];
}
