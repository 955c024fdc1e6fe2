//! The commands of `reflex`. A run is named by the alias of its task; none means the newest.

mod new;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, ValueEnum};

use super::runs::{GoingArgs, ListArgs};
use crate::settings::nearest;

pub use new::{NewArgs, TaskSource};

/// What `reflex` is to do: a bare task is a new one.
#[derive(Clone, Debug)]
pub struct ReflexArgs {
    pub command: ReflexCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ReflexCommand {
    /// Write a text for a task, judge it by rules, and refine it
    New(Box<NewArgs>),
    /// Go on with a run that was stopped or killed
    Resume(ReflexResumeArgs),
    /// Say how a run stands
    Status(AliasArgs),
    /// Let a run finish its steps under way, and end it for good
    Stop(ReflexStopArgs),
    /// List the tasks of this project and their runs
    List(ListArgs),
    /// Tell what happened in a run, event by event
    History(AliasArgs),
    /// Delete the files of runs that are not under way
    Clean(ReflexCleanArgs),
}

#[derive(Clone, Debug, Args)]
pub struct AliasArgs {
    /// The alias of a task [default: that of the newest run]
    pub alias: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ReflexResumeArgs {
    #[command(flatten)]
    pub of: AliasArgs,
    /// The answer to the question that the run waits for: run the commands that were proposed as checks, or skip them
    #[arg(long, value_enum, value_name = "OPTION")]
    pub answer: Option<AllowName>,
    #[command(flatten)]
    pub going: GoingArgs,
}

/// What is done with commands that an agent has proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AllowName {
    /// Run them
    Run,
    /// Let the judge decide in their place
    Skip,
}

#[derive(Clone, Debug, Args)]
pub struct ReflexStopArgs {
    #[command(flatten)]
    pub of: AliasArgs,
    /// Why, for the run's history
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ReflexCleanArgs {
    /// The alias of a task [default: those whose runs have ended]
    #[arg(conflicts_with = "all")]
    pub alias: Option<String>,
    /// Every task whose run is not under way
    #[arg(long)]
    pub all: bool,
    /// Show what would be deleted
    #[arg(long)]
    pub dry_run: bool,
    /// Delete without a question
    #[arg(short, long)]
    pub yes: bool,
}

/// The two forms of the command line.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    override_usage = "skilltune reflex <COMMAND>\n       skilltune reflex <TASK> [OPTIONS]",
    after_help = "A bare TASK is a new one, with the options of `new`:\n  skilltune reflex \"Write the API page\""
)]
struct Forms {
    #[command(subcommand)]
    command: Option<ReflexCommand>,
    #[command(flatten)]
    bare: NewArgs,
}

impl Args for ReflexArgs {
    /// The options of a bare task are told once, by `new`.
    fn augment_args(command: Command) -> Command {
        Forms::augment_args(command).mut_args(|arg| arg.hide(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ReflexArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Forms { command, bare } = Forms::from_arg_matches(matches)?;
        let command = match command {
            Some(command) => command,
            None => ReflexCommand::New(Box::new(task(bare)?)),
        };
        Ok(Self { command })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A slip in the name of a command must not be paid for as a task.
fn task(bare: NewArgs) -> Result<NewArgs, Error> {
    let Some(word) = bare.task.as_deref().filter(|task| !task.contains(char::is_whitespace)) else {
        return Ok(bare);
    };
    let commands = ReflexCommand::augment_subcommands(Command::new("reflex"));
    let names = commands.get_subcommands().map(Command::get_name).chain(["help"]);
    let Some(meant) = nearest(word, names) else { return Ok(bare) };
    let told = if meant == word {
        format!("the command `{word}` stands before its options: skilltune reflex {word}")
    } else {
        format!("`{word}` is not a command; there is `skilltune reflex {meant}`")
    };
    let message = format!("{told}\n\nIf it is a task: skilltune reflex new {word}");
    Err(Error::raw(ErrorKind::InvalidSubcommand, message))
}

impl ReflexStopArgs {
    /// The alias and the reason. What cannot be an alias is the reason of whatever runs, as the original has it.
    pub fn parts(&self) -> (Option<&str>, Option<&str>) {
        let (first, reason) = (self.of.alias.as_deref(), self.reason.as_deref());
        match first {
            Some(first) if reason.is_none() && new::alias(first).is_err() => (None, Some(first)),
            _ => (first, reason),
        }
    }
}

#[cfg(test)]
mod tests;
