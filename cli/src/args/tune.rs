//! The flags of `tune`.

use std::path::PathBuf;

use clap::Args;
use skilltune_phases::score::Score;

use super::values::{
    self, AgentSpec, ApplyWhen, DeliveryName, IsolationName, ModeName, Preset, Streamed, ViaName,
};

const SCENARIO: &str = "Scenario";
const SEARCH: &str = "Search";
const AGENTS: &str = "Agents";
const RUN: &str = "Run";

#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person gives or not")]
#[derive(Clone, Debug, Args)]
pub struct TuneArgs {
    /// Paths or names of skills, separated by commas
    #[arg(value_name = "SKILL[,SKILL...]")]
    pub skills: String,
    /// A task to try the skill on
    #[arg(value_name = "SCENARIO TEXT")]
    pub text: Vec<String>,

    /// A further task to try the skill on (repeatable)
    #[arg(long = "scenario", alias = "test", value_name = "TEXT", help_heading = SCENARIO)]
    pub scenarios: Vec<String>,
    /// A file of further tasks
    #[arg(long, value_name = "FILE", help_heading = SCENARIO)]
    pub suite: Option<PathBuf>,
    /// What the result must meet (repeatable, or separated by commas)
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = SCENARIO)]
    pub requirements: Vec<String>,
    /// The arguments that the skill is called with
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub input_args: Option<String>,
    /// When the result counts as good
    #[arg(long, value_name = "TEXT", help_heading = SCENARIO)]
    pub success_criteria: Option<String>,

    /// Short for --mode chain
    #[arg(long, help_heading = SEARCH)]
    pub chain: bool,
    /// How several skills belong together
    #[arg(long, value_enum, value_name = "MODE", help_heading = SEARCH)]
    pub mode: Option<ModeName>,
    /// How many rounds, and to what score
    #[arg(long, value_enum, value_name = "PRESET", help_heading = SEARCH)]
    pub preset: Option<Preset>,
    /// Measurements at most, the first one included
    #[arg(long, value_name = "N", value_parser = values::rounds, help_heading = SEARCH)]
    pub max_iterations: Option<u32>,
    /// The score to reach, 0 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = SEARCH)]
    pub threshold: Option<Score>,
    /// The order of trials [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    pub seed: Option<u64>,

    /// Who does all that no other flag names: NAME, or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    /// Who runs the skill
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub executor: Option<AgentSpec>,
    /// Who judges the results
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub evaluator: Option<AgentSpec>,
    /// Who improves the skill
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub improver: Option<AgentSpec>,
    /// How the skill comes to who runs it
    #[arg(long, value_enum, value_name = "WAY", help_heading = AGENTS)]
    pub delivery: Option<DeliveryName>,
    /// The deadline of every call, such as 90, 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = AGENTS)]
    pub timeout: Option<u64>,
    /// How much of your own world claude and gemini are in
    #[arg(long, value_enum, value_name = "HOW", help_heading = AGENTS)]
    pub isolation: Option<IsolationName>,
    /// What stands between us and claude and gemini
    #[arg(long, value_enum, value_name = "WRAPPER", help_heading = AGENTS)]
    pub via: Option<ViaName>,
    /// Run the agents of the project's settings and the commands of the suite, this once
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    /// Ask nothing: take the defaults
    #[arg(short, long, help_heading = RUN)]
    pub yes: bool,
    /// Calls at the same time
    #[arg(long, value_name = "N", value_parser = values::jobs, help_heading = RUN)]
    pub jobs: Option<u32>,
    /// When the champion may replace the skill
    #[arg(long, value_enum, value_name = "WHEN", help_heading = RUN)]
    pub apply: Option<ApplyWhen>,
    /// When an account's limit is reached, wait until it is lifted, and go on
    #[arg(long, help_heading = RUN)]
    pub wait: bool,
    /// Show the first steps and the most calls there can be, and run nothing
    #[arg(long, help_heading = RUN)]
    pub dry_run: bool,
    /// Use no stored answer
    #[arg(long, help_heading = RUN)]
    pub fresh: bool,
    /// How the run is told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = RUN)]
    pub format: Streamed,
}
