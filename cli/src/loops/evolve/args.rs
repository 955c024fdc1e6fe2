//! The flags of `evolve`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::loops::evolve::settings::EvolveSettings;
use crate::loops::expert::args::PlayFlags;
use crate::settings::common::RoleSettings;
use crate::settings::flags::{Different, Flags, Given, Group, Placing};
use crate::settings::values::{AgentSpec, Streamed};

const PROJECT: &str = "Project";

/// Change a project until it meets a specification, judged criterion by criterion
#[derive(Clone, Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "skilltune evolve <SPEC> [OPTIONS]\n       skilltune evolve --from <FILE>... [OPTIONS]\n       skilltune evolve draft [TEXT] [OPTIONS]\n       skilltune evolve rerun <TASK> [RUN] [OPTIONS]\n       skilltune evolve verify <RUN|BRANCH> [OPTIONS]",
    after_help = examples::EVOLVE
)]
pub struct EvolveArgs {
    #[command(subcommand)]
    pub command: Option<EvolveCommand>,
    /// Markdown, YAML or JSON file with a goal and acceptance criteria
    #[arg(value_name = "SPEC", required_unless_present = "from")]
    pub spec: Option<PathBuf>,
    /// Draft the specification from these documents: files, or folders with .md, .yaml, .json and .txt files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["spec", "plan"])]
    pub from: Vec<PathBuf>,

    /// Folder to change [default: the project folder]
    #[arg(long = "in", value_name = "DIR", help_heading = PROJECT)]
    pub root: Option<PathBuf>,
    /// JSON file of a plan to carry out, such as the plan.json of another run
    #[arg(long, value_name = "FILE", help_heading = PROJECT)]
    pub plan: Option<PathBuf>,
    /// End once the plan is made
    #[arg(long, help_heading = PROJECT)]
    pub plan_only: bool,
    #[command(flatten)]
    pub flags: EvolveFlags,
}

#[derive(Clone, Debug, Subcommand)]
pub enum EvolveCommand {
    /// Draft a specification from a text, after at most seven questions
    #[command(after_help = examples::EVOLVE_DRAFT)]
    Draft(Box<DraftArgs>),
    /// Do a task of an earlier run again, with the tasks that need it
    #[command(after_help = examples::EVOLVE_RERUN)]
    Rerun(Box<RerunArgs>),
    /// Repeat the commands and the oracles of a result without any agent
    #[command(after_help = examples::EVOLVE_VERIFY)]
    Verify(VerifyArgs),
}

#[derive(Clone, Debug, Args)]
pub struct RerunArgs {
    /// Id of the task
    pub task: String,
    /// Run id, or a unique prefix of it [default: the latest run of evolve]
    pub run: Option<String>,
    #[command(flatten)]
    pub flags: EvolveFlags,
}

#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// Run id or a unique prefix of it, or a branch or another revision with receipts
    #[arg(value_name = "RUN|BRANCH")]
    pub of: String,

    /// Folder whose repository has the branch [default: the project folder]
    #[arg(long = "in", value_name = "DIR", help_heading = PROJECT)]
    pub root: Option<PathBuf>,
    /// Name of the result in .evolve [default: the one whose receipts changed last]
    #[arg(long, value_name = "NAME", help_heading = PROJECT)]
    pub name: Option<String>,

    /// Run the commands of the receipts without asking, and trust those of the project's settings for this run
    #[arg(long, help_heading = RUN)]
    pub trust: bool,
    /// Ask no questions
    #[arg(short, long, help_heading = RUN)]
    pub yes: bool,
    /// Show the commands that would run, then exit
    #[arg(long, help_heading = RUN)]
    pub dry_run: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = RUN)]
    pub format: Streamed,
}

/// How a run is done.
#[derive(Clone, Debug, Args)]
pub struct EvolveFlags {
    #[command(flatten)]
    pub how: Flags<Self, 0>,

    /// Agent for every role: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    #[command(flatten)]
    pub work: Flags<Self, 1>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents, experts and commands, the checks of the specification, and oracles, for this run
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

#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("agent", |arg| arg.help("Agent that drafts: NAME or NAME:MODEL [default: the evaluator]")),
    mut_arg("trust", |arg| arg.help("Trust the project's agents for this run"))
)]
pub struct DraftArgs {
    /// What to change, or - to read it from stdin
    pub text: Option<String>,

    #[command(flatten)]
    pub play: PlayFlags,
}

impl Placing for EvolveFlags {
    type Tables = (RoleSettings, EvolveSettings);

    const DIFFERENT: &'static [Different] = &[
        ("roles.executor", "--executor", "Agent that does the tasks"),
        ("roles.evaluator", "--evaluator", "Agent that plans the tasks and judges the result"),
    ];
    const GROUPS: &'static [Group] = &[
        (Some(PROJECT), "evolve.apply evolve.commands evolve.oracles evolve.strength evolve.control"),
        (Some(AGENTS), "roles.executor roles.evaluator evolve.roles evolve.tools"),
    ];
}
