//! The flags of `reflex new`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, ValueEnum};
use skilltune_phases::loops::reflex::criteria::{Template, Thresholds};
use skilltune_phases::loops::reflex::original::Alias;

use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::loops::reflex::settings::ReflexSettings;
use crate::settings::common::RoleSettings;
use crate::settings::flags::{Different, Flags, Given, Group, Placing};
use crate::settings::values;
use crate::settings::values::AgentSpec;

const TASK: &str = "Task";
const LIMITS: &str = "Limits";

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("source").args(["task", "task_file"]))]
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
    /// Kind of text, whose rules judge it [default: guessed from the task]
    #[arg(long, value_enum, value_name = "KIND", help_heading = TASK)]
    pub template: Option<TemplateName>,
    /// Rules of your own, in TOML or JSON; with --template they replace or extend its rules
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub rules: Option<PathBuf>,
    #[command(flatten)]
    pub proposals: Flags<Self, 0>,
    /// A page about the project that the agents read; can be repeated
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub context: Vec<PathBuf>,
    /// Name of the task's folder [default: derived from the task]
    #[arg(long, value_name = "NAME", value_parser = alias, help_heading = TASK)]
    pub alias: Option<Alias>,
    /// Also write the result to this file
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub rounds: Flags<Self, 1>,
    /// Scores to pass levels A and B, 0 to 100 each
    #[arg(long, value_name = "A,B", value_parser = thresholds, help_heading = LIMITS)]
    pub thresholds: Option<Thresholds>,
    #[command(flatten)]
    pub limits: Flags<Self, 2>,

    /// Agent for all roles that no other flag sets: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    #[command(flatten)]
    pub work: Flags<Self, 3>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's agents and the rules' commands for this run
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

impl Placing for NewArgs {
    type Tables = (RoleSettings, ReflexSettings);

    const DIFFERENT: &'static [Different] = &[
        ("roles.executor", "--executor", "Agent that plans and writes"),
        ("roles.evaluator", "--evaluator", "Agent that prepares the checks and judges the text"),
        ("roles.improver", "--improver", "Agent that criticises and refines the text"),
    ];
    const GROUPS: &'static [Group] = &[
        (Some(TASK), "reflex.proposals"),
        (Some(LIMITS), "reflex.max_iterations"),
        (Some(LIMITS), "reflex.max_seconds reflex.checks"),
        (Some(AGENTS), "roles.executor roles.evaluator roles.improver"),
    ];
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
    /// None of these: all rules are made for the task
    Other,
}

/// The source of a task's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSource<'a> {
    Words(&'a str),
    Stdin,
    File(&'a Path),
    /// None was given.
    Nowhere,
}

impl NewArgs {
    pub fn source(&self) -> TaskSource<'_> {
        match (&self.task_file, self.task.as_deref()) {
            (Some(file), _) => TaskSource::File(file),
            (None, Some("-")) => TaskSource::Stdin,
            (None, Some(words)) => TaskSource::Words(words),
            (None, None) => TaskSource::Nowhere,
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
            TemplateName::Other => Self::Other,
        }
    }
}

pub fn alias(text: &str) -> Result<Alias, String> {
    Alias::parse(text)
        .ok_or_else(|| "must be 3 to 64 lower-case letters, digits and inner hyphens".to_owned())
}

fn thresholds(text: &str) -> Result<Thresholds, String> {
    let (a, b) = text.split_once(',').ok_or_else(|| "must be two numbers, such as 80,90".to_owned())?;
    Ok(Thresholds { a: values::points(a.trim())?, b: values::points(b.trim())? })
}

fn text(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}
