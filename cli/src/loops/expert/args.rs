//! The commands of `expert`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use skilltune_phases::experts;

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::settings::flags::Given;
use crate::settings::values::{AgentSpec, Format};

const QUESTION: &str = "Question";

/// Ask an expert: an agent that plays the persona of a file, and reads the project
#[derive(Clone, Debug, Args)]
#[command(
    visible_alias = "agent",
    args_conflicts_with_subcommands = true,
    override_usage = "skilltune expert [NAME [TASK]] [OPTIONS]\n       skilltune expert <COMMAND>",
    after_help = examples::EXPERT
)]
pub struct ExpertArgs {
    #[command(subcommand)]
    pub command: Option<ExpertCommand>,
    #[command(flatten)]
    pub ask: AskArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ExpertCommand {
    /// Draft the file of a new expert from a description
    #[command(after_help = examples::EXPERT_NEW)]
    New(Box<NewArgs>),
    /// List the experts
    List {
        /// Output format
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: Format,
    },
    /// Print an expert in the format of another program
    Convert(ConvertArgs),
}

#[derive(Clone, Debug, Args)]
pub struct ConvertArgs {
    /// File of an expert: Markdown with front matter, or TOML of Codex
    pub file: PathBuf,
    /// Format to print
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: FormatName,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Markdown of Claude Code
    Claude,
    /// TOML of Codex
    Codex,
}

#[derive(Clone, Debug, Args)]
pub struct AskArgs {
    /// Name of the expert; without it, all experts are listed
    pub name: Option<String>,
    /// What the expert should do, or - to read it from stdin
    pub task: Option<String>,

    /// Folder that the expert can read, without ignored files [default: the project]
    #[arg(long, value_name = "DIR", help_heading = QUESTION, conflicts_with = "no_folder")]
    pub folder: Option<PathBuf>,
    /// Give the expert no files, only the task
    #[arg(long, help_heading = QUESTION)]
    pub no_folder: bool,

    #[command(flatten)]
    pub play: PlayFlags,
}

#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("agent", |arg| arg.help("Agent that drafts: NAME or NAME:MODEL [default: that of tier standard]")),
    mut_arg("trust", |arg| arg.help("Trust the project's agents for this run"))
)]
pub struct NewArgs {
    /// Name of the new expert
    pub name: String,
    /// What the expert knows and how it works, or - to read it from stdin
    pub description: Option<String>,
    /// Only print the draft, and write no file
    #[arg(long)]
    pub print: bool,

    #[command(flatten)]
    pub play: PlayFlags,
}

/// Flags for the agent that plays an expert, and for its run.
#[derive(Clone, Debug, Args)]
pub struct PlayFlags {
    /// Agent that plays the expert: NAME or NAME:MODEL [default: that of its tier in [experts]]
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the expert's file and the project's agents for this run
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

impl From<FormatName> for experts::Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Claude => Self::Markdown,
            FormatName::Codex => Self::Codex,
        }
    }
}
