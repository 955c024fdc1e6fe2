//! The command line. This module checks the form of arguments; the commands check their meaning.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::args::examples;
use crate::args::lint::LintArgs;
use crate::args::night::{NightArgs, TrendArgs};
use crate::args::runs::{ConfigArgs, DemoArgs, RunCommand, StepArgs, TrustArgs};
use crate::args::suite::SuiteArgs;
use crate::commands::args::{CompletionsArgs, DoctorArgs, InitArgs, ManArgs};
use crate::loops::LoopCommand;
#[cfg(test)]
use crate::loops::reflex::args::{NewArgs, ReflexCommand};
#[cfg(test)]
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::trial_flags::{CalibrateArgs, CompareArgs, RegradeArgs};
use crate::terminal::printer::Level;

/// Improve agent skills and prove that they got better.
#[derive(Debug, Parser)]
#[command(version, after_help = examples::program(), max_term_width = 110)]
pub struct Cli {
    /// Project folder [default: the nearest folder above with skilltune.toml or .git]
    #[arg(long, global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Print no progress and no notes on stderr; errors keep their hints
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line on stderr for each agent call as it ends, except for the calls of a night
    #[arg(short, long, global = true)]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    pub fn level(&self) -> Level {
        match (self.quiet, self.verbose) {
            (true, _) => Level::Quiet,
            (false, true) => Level::Verbose,
            (false, false) => Level::Normal,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Loop(LoopCommand),
    /// Measure the smallest change that a suite can show, and estimate what a tuning run would cost
    #[command(after_help = examples::CALIBRATE)]
    Calibrate(Box<CalibrateArgs>),
    /// Compare two versions of a skill, or test a skill against no skill
    #[command(after_help = examples::COMPARE)]
    Compare(Box<CompareArgs>),
    /// Judge the final comparison of a run again, with the current suite and judge
    #[command(after_help = examples::REGRADE)]
    Regrade(Box<RegradeArgs>),

    /// Check skills for problems and fix them
    #[command(after_help = examples::LINT)]
    Lint(LintArgs),
    /// Check suites of scenarios, and convert them to other formats
    #[command(after_help = examples::SUITE)]
    Suite(SuiteArgs),
    #[command(flatten)]
    Run(RunCommand),
    /// Run tuning jobs automatically, every night
    Night(NightArgs),
    /// Show the scores of a job's skill, night by night
    Trend(TrendArgs),
    /// Trust a project's settings, a suite or rules, so that their commands may run
    #[command(after_help = examples::TRUST)]
    Trust(TrustArgs),
    /// Tune example skills without a model, a key or a network
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Inspect the settings, and print the schemas of files
    #[command(after_help = examples::CONFIG)]
    Config(ConfigArgs),
    /// Check which agents and tools are installed, and what to fix
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Make one call of a run on another machine: the program that a worker's command starts
    #[command(after_help = examples::STEP)]
    Step(StepArgs),
    /// Create a skilltune.toml that explains every setting
    #[command(after_help = examples::INIT)]
    Init(InitArgs),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one page per command
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

#[cfg(test)]
pub fn tune_args(line: &[&str]) -> Result<TuneArgs, clap::Error> {
    let words = ["skilltune", "tune"].iter().chain(line);
    match Cli::try_parse_from(words)?.command {
        Some(Command::Loop(LoopCommand::Tune(args))) => Ok(*args),
        other => panic!("not a tune: {other:?}"),
    }
}

#[cfg(test)]
pub fn new_args(line: &[&str]) -> Result<NewArgs, clap::Error> {
    let words = ["skilltune", "reflex", "new"].iter().chain(line);
    match Cli::try_parse_from(words)?.command {
        Some(Command::Loop(LoopCommand::Reflex(args))) => match args.command {
            ReflexCommand::New(args) => Ok(*args),
            other @ ReflexCommand::Run(_) => panic!("not a new one: {other:?}"),
        },
        other => panic!("not of reflex: {other:?}"),
    }
}

#[cfg(test)]
mod tests;
