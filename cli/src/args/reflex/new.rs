//! The flags of `reflex new`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, ValueEnum};
use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::score::Score;

use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::args::values::{self, AgentSpec, ChecksName};

const TASK: &str = "Task";
const LIMITS: &str = "Limits";

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("source").args(["task", "task_file"]).required(true))]
pub struct NewArgs {
    /// What is to be written; - reads it from standard input
    #[arg(value_parser = text)]
    pub task: Option<String>,

    /// A file that holds the task
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub task_file: Option<PathBuf>,
    /// What the result would be at its best
    #[arg(long, value_name = "TEXT", value_parser = text, help_heading = TASK)]
    pub ideal: Option<String>,
    /// Whose rules judge the text [default: what the task's words speak for]
    #[arg(long, value_enum, value_name = "KIND", help_heading = TASK)]
    pub template: Option<TemplateName>,
    /// The name of the task's folder [default: made of its words]
    #[arg(long, value_name = "NAME", value_parser = alias, help_heading = TASK)]
    pub alias: Option<Alias>,
    /// Write the result into this file, too
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub out: Option<PathBuf>,

    /// Iterations at most, the first one included
    #[arg(long, value_name = "N", value_parser = values::rounds, help_heading = LIMITS)]
    pub max_iterations: Option<u32>,
    /// The score that passes level A, 0 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = LIMITS)]
    pub threshold_a: Option<Score>,
    /// The score that passes level B, 0 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = LIMITS)]
    pub threshold_b: Option<Score>,
    /// What completed phases may take in all, such as 90, 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = LIMITS)]
    pub max_seconds: Option<u64>,
    /// What is done with commands that the evaluator proposes as checks
    #[arg(long, value_enum, value_name = "HOW", help_heading = LIMITS)]
    pub checks: Option<ChecksName>,

    /// Who does all that no other flag names: NAME, or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    /// Who plans and writes
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub executor: Option<AgentSpec>,
    /// Who prepares the checks and judges
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub evaluator: Option<AgentSpec>,
    /// Who criticises and refines
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub improver: Option<AgentSpec>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Run the agents of the project's settings, this once
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    /// What the codes in prompts are made of [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = RUN)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub run: RunFlags,
}

/// Whose rules judge a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TemplateName {
    /// An interface: endpoints, schemas, examples, errors
    Api,
    /// A program: it compiles, does what it should, and is whole
    Code,
    /// Prose: accurate, complete, clear
    Docs,
    /// Settings: valid, complete, without secrets
    Config,
}

/// Where the words of a task stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSource<'a> {
    Words(&'a str),
    Stdin,
    File(&'a Path),
}

impl NewArgs {
    pub fn source(&self) -> TaskSource<'_> {
        match (&self.task_file, self.task.as_deref()) {
            (Some(file), _) => TaskSource::File(file),
            (None, Some("-")) => TaskSource::Stdin,
            (None, words) => TaskSource::Words(words.unwrap_or_default()),
        }
    }
}

impl From<TemplateName> for Template {
    fn from(name: TemplateName) -> Self {
        match name {
            TemplateName::Api => Self::Api,
            TemplateName::Code => Self::Code,
            TemplateName::Docs => Self::Docs,
            TemplateName::Config => Self::Config,
        }
    }
}

pub(super) fn alias(text: &str) -> Result<Alias, String> {
    Alias::parse(text).ok_or_else(|| "must be 3 to 64 small letters, digits and inner hyphens".to_owned())
}

fn text(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("must say something".to_owned()) } else { Ok(text.to_owned()) }
}
