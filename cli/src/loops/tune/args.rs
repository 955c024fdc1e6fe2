//! The flags of `tune`.

use std::path::PathBuf;

use clap::Args;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, FailFlags, RUN, RunFlags};
use crate::loops::tune::settings::{ApplyWhen, DeliveryName, ModeName, Preset, SearchName, ToolsName};
use crate::settings::flags::Given;
use crate::settings::values;
use crate::settings::values::{AgentSpec, Panel};

const SCENARIO: &str = "Scenario";
const SEARCH: &str = "Search";

/// Improve one skill, several skills, or a chain of skills
#[derive(Clone, Debug, Args)]
#[command(after_help = examples::TUNE)]
pub struct TuneArgs {
    /// Paths or names of skills, separated by commas
    #[arg(value_name = "SKILL[,SKILL...]")]
    pub skills: String,
    /// Task to try the skill on
    #[arg(value_name = "SCENARIO TEXT")]
    pub text: Vec<String>,

    /// Another task to try the skill on (repeatable)
    #[arg(long = "scenario", visible_alias = "test", value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub scenarios: Vec<String>,
    /// TOML file of tasks
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
    /// How much the search may spend
    #[arg(long, value_enum, value_name = "PRESET", help_heading = SEARCH)]
    pub preset: Option<Preset>,
    /// How to search [default: draft, if two or more scenarios are left to search with]
    #[arg(long, value_enum, value_name = "SEARCH", help_heading = SEARCH)]
    pub search: Option<SearchName>,
    /// Search `draft`: maximum number of executor runs, including the final comparison
    #[arg(long, value_name = "N", value_parser = values::runs, help_heading = SEARCH)]
    pub runs: Option<u32>,
    /// Search `rounds`: maximum number of rounds, including the baseline
    #[arg(long, value_name = "N", value_parser = values::rounds, help_heading = SEARCH)]
    pub max_iterations: Option<u32>,
    /// Goal for the exit code, 0 to 100; the search `rounds` also stops when the score reaches it
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = SEARCH)]
    pub threshold: Option<Score>,
    /// Confidence of the final comparison: 0.8, 0.9 or 0.95
    #[arg(long, value_name = "SHARE", help_heading = SEARCH)]
    pub confidence: Option<Confidence>,
    /// Compare on the scenarios of the search: weaker evidence, never applied without you
    #[arg(long, help_heading = SEARCH)]
    pub this_suite_only: bool,
    /// Seed for the order of trials [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    pub seed: Option<u64>,

    /// Agent for all roles that no other flag sets: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    /// Agent that runs the skill
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub executor: Option<AgentSpec>,
    /// Agent that judges the results
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub evaluator: Option<AgentSpec>,
    /// Agents that also judge close scenarios of the final comparison: NAME or NAME:MODEL, comma-separated
    #[arg(long, value_name = "AGENTS", help_heading = AGENTS)]
    pub panel: Option<Panel>,
    /// Agent that improves the skill
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub improver: Option<AgentSpec>,
    /// Second agent that improves the skill; the one whose edits help more gets more turns
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub second_improver: Option<AgentSpec>,
    /// How the executor gets the skill
    #[arg(long, value_enum, value_name = "WAY", help_heading = AGENTS)]
    pub delivery: Option<DeliveryName>,
    /// Tools of the executor; overrides the suite
    #[arg(long, value_enum, value_name = "TOOLS", help_heading = AGENTS)]
    pub tools: Option<ToolsName>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents and the suite's commands for this run
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    /// When the champion may replace the skill [default: ask in a terminal; auto with --yes or without a terminal]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = RUN)]
    pub apply: Option<ApplyWhen>,
    #[command(flatten)]
    pub fail_on: FailFlags,
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub given: Given,
}
