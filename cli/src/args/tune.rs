//! The flags of `tune`.

use std::path::PathBuf;

use clap::Args;
use skilltune_phases::score::Score;

use super::shared::{AGENTS, CallFlags, RUN, RunFlags};
use super::values::{self, AgentSpec, ApplyWhen, DeliveryName, ModeName, Preset};

const SCENARIO: &str = "Scenario";
const SEARCH: &str = "Search";

#[derive(Clone, Debug, Args)]
pub struct TuneArgs {
    /// Paths or names of skills, separated by commas
    #[arg(value_name = "SKILL[,SKILL...]")]
    pub skills: String,
    /// A task to try the skill on
    #[arg(value_name = "SCENARIO TEXT")]
    pub text: Vec<String>,

    /// A further task to try the skill on (repeatable)
    #[arg(long = "scenario", visible_alias = "test", value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub scenarios: Vec<String>,
    /// A file of further tasks
    #[arg(long, value_name = "FILE", help_heading = SCENARIO)]
    pub suite: Option<PathBuf>,
    /// What the result must meet (repeatable, or separated by commas)
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true, help_heading = SCENARIO)]
    pub requirements: Vec<String>,
    /// The arguments that the skill is called with
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
    pub input_args: Option<String>,
    /// When the result counts as good
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = SCENARIO)]
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
    #[command(flatten)]
    pub calls: CallFlags,
    /// Run the agents of the project's settings and the commands of the suite, this once
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    /// When the champion may replace the skill [default: ask at a terminal, auto with --yes or without one]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = RUN)]
    pub apply: Option<ApplyWhen>,
    #[command(flatten)]
    pub run: RunFlags,
}
