//! The flags of `reflex new`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, ValueEnum};
use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::reflex::original::Alias;
use skilltune_phases::score::Score;

use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::loops::reflex::settings::ChecksName;
use crate::settings::values;
use crate::settings::values::AgentSpec;

const TASK: &str = "Task";
const LIMITS: &str = "Limits";

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("source").args(["task", "task_file"]).required(true))]
pub struct NewArgs {
    /// Description of the text to write, or - to read it from stdin
    #[arg(value_parser = text)]
    pub task: Option<String>,

    /// Read the task from this file
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub task_file: Option<PathBuf>,
    /// Description of the ideal result
    #[arg(long, value_name = "TEXT", value_parser = text, help_heading = TASK)]
    pub ideal: Option<String>,
    /// Rules to judge the text by [default: guessed from the task]
    #[arg(long, value_enum, value_name = "KIND", help_heading = TASK)]
    pub template: Option<TemplateName>,
    /// Name of the task's folder [default: derived from the task]
    #[arg(long, value_name = "NAME", value_parser = alias, help_heading = TASK)]
    pub alias: Option<Alias>,
    /// Also write the result to this file
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub out: Option<PathBuf>,

    /// Maximum number of iterations, including the first
    #[arg(long, value_name = "N", value_parser = values::rounds, help_heading = LIMITS)]
    pub max_iterations: Option<u32>,
    /// Score to pass level A, 0 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = LIMITS)]
    pub threshold_a: Option<Score>,
    /// Score to pass level B, 0 to 100
    #[arg(long, value_name = "SCORE", value_parser = values::points, help_heading = LIMITS)]
    pub threshold_b: Option<Score>,
    /// Maximum total time of completed phases, such as 90, 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = LIMITS)]
    pub max_seconds: Option<u64>,
    /// What to do with commands that the evaluator proposes as checks
    #[arg(long, value_enum, value_name = "HOW", help_heading = LIMITS)]
    pub checks: Option<ChecksName>,

    /// Agent for all roles that no other flag sets: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    /// Agent that plans and writes
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub executor: Option<AgentSpec>,
    /// Agent that prepares the checks and judges the text
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub evaluator: Option<AgentSpec>,
    /// Agent that criticises and refines the text
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub improver: Option<AgentSpec>,
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
}

/// The rules that judge a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TemplateName {
    /// API reference: endpoints, schemas, examples, errors
    Api,
    /// Program: compiles, works, is complete
    Code,
    /// Documentation: accurate, complete, clear
    Docs,
    /// Configuration: valid, complete, without secrets
    Config,
}

/// Where the text of a task comes from.
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

pub fn alias(text: &str) -> Result<Alias, String> {
    Alias::parse(text)
        .ok_or_else(|| "must be 3 to 64 lower-case letters, digits and inner hyphens".to_owned())
}

fn text(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}
