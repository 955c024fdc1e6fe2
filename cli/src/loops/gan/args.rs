//! The flags of `gan`.

use std::path::PathBuf;

use clap::Args;

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::loops::gan::settings::GanSettings;
use crate::settings::common::RoleSettings;
use crate::settings::flags::{Different, Flags, Given, Group, Placing};
use crate::settings::values::AgentSpec;

const BRIEF: &str = "Brief";
const CONTRACT: &str = "Contract";

/// Build what a brief asks for, judged against a contract round by round
#[derive(Clone, Debug, Args)]
#[command(after_help = examples::GAN)]
pub struct GanArgs {
    /// Markdown file that says what to build; the result must have a section for each heading of level 2
    #[arg(value_name = "BRIEF.md")]
    pub brief: PathBuf,

    /// Folder for the result; its files are the starting point
    #[arg(long, value_name = "DIR", help_heading = BRIEF)]
    pub into: Option<PathBuf>,
    #[command(flatten)]
    pub apply: Flags<Self, 0>,
    /// JSON file of texts that must appear unchanged
    #[arg(long, value_name = "FILE", help_heading = BRIEF)]
    pub copy: Option<PathBuf>,
    /// JSON file of design tokens to use instead of literal values
    #[arg(long = "tokens", value_name = "FILE", help_heading = BRIEF)]
    pub design_tokens: Option<PathBuf>,

    #[command(flatten)]
    pub level: Flags<Self, 1>,
    /// Criteria for the result: design, code, or your own YAML file
    #[arg(long, value_name = "PROFILE", help_heading = CONTRACT)]
    pub profile: Option<String>,
    #[command(flatten)]
    pub contract: Flags<Self, 2>,

    /// Agent for both roles: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    #[command(flatten)]
    pub work: Flags<Self, 3>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents and its design.yaml for this run
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

impl Placing for GanArgs {
    type Tables = (RoleSettings, GanSettings);

    // A builder gets the executor's settings: both do the work that the others judge.
    const DIFFERENT: &'static [Different] = &[
        ("roles.executor", "--builder", "Agent that builds"),
        ("roles.evaluator", "--evaluator", "Agent that judges, anew each round"),
    ];
    const GROUPS: &'static [Group] = &[
        (Some(BRIEF), "gan.apply"),
        (Some(CONTRACT), "gan.level"),
        (
            Some(CONTRACT),
            "gan.contract gan.strict gan.threshold gan.minimums gan.max_rounds gan.commands gan.browser",
        ),
        (Some(AGENTS), "roles.executor roles.evaluator"),
    ];
}
