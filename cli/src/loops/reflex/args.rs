//! The commands of `reflex`.

pub mod new;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use skilltune_phases::base::spelling::nearest;

use crate::args::examples;
use crate::args::runs::RunCommand;

pub use new::NewArgs;

/// The command of `reflex`: a bare task means `new`.
#[derive(Clone, Debug)]
pub struct ReflexArgs {
    pub command: ReflexCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ReflexCommand {
    /// Write a text for a task, judge it against rules, and refine it
    #[command(after_help = examples::REFLEX_NEW)]
    New(Box<NewArgs>),
    /// The commands on runs, here on those of reflex alone.
    #[command(flatten)]
    Run(RunCommand),
}

// The two forms of the command line.
/// Write a text for a task and refine it until it meets its rules
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "skilltune reflex <COMMAND>\n       skilltune reflex [TASK] [OPTIONS]",
    after_help = examples::REFLEX
)]
struct Forms {
    #[command(subcommand)]
    command: Option<ReflexCommand>,
    #[command(flatten)]
    bare: NewArgs,
}

impl Args for ReflexArgs {
    /// The help of `new` lists the options of a bare task.
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

/// Refuses a misspelt command: as a task it would cost money.
fn task(bare: NewArgs) -> Result<NewArgs, Error> {
    let Some(word) = bare.task.as_deref().filter(|task| !task.contains(char::is_whitespace)) else {
        return Ok(bare);
    };
    let commands = ReflexCommand::augment_subcommands(Command::new("reflex"));
    let names = commands.get_subcommands().map(Command::get_name).chain(["help"]);
    let Some(meant) = nearest(word, names) else { return Ok(bare) };
    let error = if meant == word {
        format!("the command `{word}` must come before its options: skilltune reflex {word}")
    } else {
        format!("unknown command `{word}`; did you mean `skilltune reflex {meant}`?")
    };
    let message = format!("{error}\n\nhint: if `{word}` is a task, run `skilltune reflex new {word}`");
    Err(Error::raw(ErrorKind::InvalidSubcommand, message))
}

#[cfg(test)]
mod tests;
