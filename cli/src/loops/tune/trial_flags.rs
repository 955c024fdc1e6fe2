//! The arguments of the commands that try a skill and change nothing: `compare`, `calibrate`, `regrade`.

use std::path::PathBuf;

use clap::Args;
use skilltune_phases::judging::proof::Confidence;

use crate::args::shared::{AGENTS, CallFlags, RunFlags};
use crate::loops::tune::settings::TuneSettings;
use crate::settings::common::RoleSettings;
use crate::settings::flags::{Different, Flags, Given, Group, Placing};
use crate::settings::values::{AgentSpec, Panel};

const TRIALS: &str = "Trials";

#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Version to start from: path or name of a skill, RUN/CANDIDATE, a git REVISION:PATH, or `none` for no skill
    pub a: String,
    /// Version to compare with it, in the same form
    pub b: String,
    /// Fresh trials of each version per scenario [default: tune.confirm]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20), help_heading = TRIALS)]
    pub trials: Option<u32>,
    /// Agents that also judge close scenarios: NAME or NAME:MODEL, comma-separated
    #[arg(long, value_name = "AGENTS", help_heading = AGENTS)]
    pub panel: Option<Panel>,
    #[command(flatten)]
    pub flags: TrialFlags,
}

#[derive(Clone, Debug, Args)]
pub struct CalibrateArgs {
    /// Path or name of a skill; with --chain, several, separated by commas [default: the skill of the current folder]
    #[arg(value_name = "SKILL[,SKILL...]")]
    pub skills: Option<String>,
    /// Try the skills as a chain: each works on the output of the one before
    #[arg(long, help_heading = TRIALS)]
    pub chain: bool,
    /// Trials of the skill per scenario
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20), help_heading = TRIALS)]
    pub trials: u32,
    /// Ids of the scenarios to try, separated by commas [default: all]
    #[arg(long, value_name = "IDS", value_delimiter = ',', help_heading = TRIALS)]
    pub only: Vec<String>,
    #[command(flatten)]
    pub flags: TrialFlags,
}

#[derive(Clone, Debug, Args)]
pub struct RegradeArgs {
    /// Run that ended with a comparison: its id, or a unique prefix of it
    pub run: String,
    /// Suite to judge by [default: the current suite of the run]
    #[arg(long, value_name = "FILE", help_heading = TRIALS)]
    pub suite: Option<PathBuf>,
    /// Confidence of the comparison: 0.8, 0.9 or 0.95 [default: same as the run]
    #[arg(long, value_name = "SHARE", help_heading = TRIALS)]
    pub confidence: Option<Confidence>,

    /// Agent that judges the results: NAME or NAME:MODEL [default: roles.evaluator, or the judge of the run]
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub evaluator: Option<AgentSpec>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents and the suite's commands for this run
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    #[command(flatten)]
    pub run_flags: RunFlags,
    #[command(flatten)]
    pub given: Given,
}

/// Flags for trials of a skill that is not to be changed.
#[derive(Clone, Debug, Args)]
pub struct TrialFlags {
    /// Suite of tasks [default: the skill's own evals/evals.json]
    #[arg(long, value_name = "FILE", help_heading = TRIALS)]
    pub suite: Option<PathBuf>,
    #[command(flatten)]
    pub confidence: Flags<Self, 0>,
    /// Seed for the order of trials [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = TRIALS)]
    pub seed: Option<u64>,

    /// Agent for both roles that no other flag sets: NAME or NAME:MODEL
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
    pub run: RunFlags,
    #[command(flatten)]
    pub given: Given,
}

impl Placing for TrialFlags {
    type Tables = (RoleSettings, TuneSettings);

    const DIFFERENT: &'static [Different] =
        &[("tune.confidence", "--confidence", "Confidence of a comparison: 0.8, 0.9 or 0.95")];
    const GROUPS: &'static [Group] = &[
        (Some(TRIALS), "tune.confidence"),
        (Some(AGENTS), "roles.executor roles.evaluator tune.delivery tune.tools"),
    ];
}
