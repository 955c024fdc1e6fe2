//! One function per command, from its arguments to an exit code or a complaint.

pub mod args;
pub mod cli;

mod calibrate;
mod clean;
mod compare;
mod completions;
mod config;
mod demo;
mod diff;
mod doctor;
mod export;
mod history;
mod init;
mod lint;
mod list;
mod man;
pub mod mistyped;
mod night;
mod regrade;
mod report;
pub mod resume;
mod rollback;
mod show;
pub mod status;
mod step;
mod stop;
mod suite;
mod trust;
mod welcome;

use skilltune_orchestrator::store::Home;
use skilltune_phases::runs::plan::{LoopKind, RunId};

use crate::args::runs::{ConfigCommand, RunCommand};
use crate::commands::cli::Command;
use crate::loops::tune;
use crate::runs::failure;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(command: Option<Command>, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let Some(command) = command else { return welcome::run(env, printer) };
    let elsewhere = elsewhere(&command, env);
    let env = elsewhere.as_ref().unwrap_or(env);
    match command {
        Command::Loop(command) => command.run(env, printer, run_command),
        Command::Run(command) => run_command(command, None, env, printer),
        Command::Calibrate(args) => calibrate::run(&args, env, printer),
        Command::Compare(args) => compare::run(&args, env, printer),
        Command::Regrade(args) => regrade::run(&args, env, printer),
        Command::Lint(args) => lint::run(&args, env, printer),
        Command::Suite(args) => suite::run(&args, env, printer),
        Command::Night(args) => night::run(&args, env, printer),
        Command::Trend(args) => night::trend::run(&args, env, printer),
        Command::Trust(args) => trust::run(&args, env, printer),
        Command::Demo(args) => demo::run(&args, env, printer),
        Command::Config(args) => match args.command {
            ConfigCommand::Show { format } => config::show(format, env, printer),
            ConfigCommand::Schema { name } => config::schema(name, printer),
        },
        Command::Doctor(args) => doctor::run(&args, env, printer),
        Command::Step(args) => match &args.take {
            Some(file) => step::take(file, args.allow_commands, env),
            None => run_command(args.exporting(), None, env, printer),
        },
        Command::Init(args) => init::run(&args, env, printer),
        Command::Completions(args) => completions::run(&args, printer),
        Command::Man(args) => man::run(&args, env, printer),
    }
}

/// A command on a run, of any loop or of one loop only.
fn run_command(
    command: RunCommand,
    only: Option<LoopKind>,
    env: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let scope = Scope::here(only, env, printer)?;
    let format = command.format();
    let went = match command {
        RunCommand::Status(args) => status::run(&args, &scope),
        RunCommand::Resume(args) => resume::run(&args, &scope),
        RunCommand::Stop(args) => stop::run(&args, &scope),
        RunCommand::List(args) => list::run(&args, &scope),
        RunCommand::History(args) => history::run(&args, &scope),
        RunCommand::Show(args) => show::run(&args, &scope),
        RunCommand::Diff(args) => diff::run(&args, &scope),
        RunCommand::Apply(args) => tune::apply::run(&args, &scope),
        RunCommand::Rollback(args) => rollback::run(&args, &scope),
        RunCommand::Export(args) => export::run(&args, &scope),
        RunCommand::Report(args) => report::run(&args, &scope),
        RunCommand::Clean(args) => clean::run(&args, &scope),
    };
    failure::of_command(went, format, printer)
}

/// Returns the environment for a run in another project than the current folder. Output then names runs by their id, so
/// that commands can be typed anywhere.
fn elsewhere(command: &Command, env: &Environment) -> Option<Environment> {
    let run = match command {
        Command::Loop(command) => command.on_runs().and_then(RunCommand::run),
        Command::Run(command) => command.run(),
        Command::Suite(args) => args.run(),
        Command::Regrade(args) => Some(args.run.as_str()),
        Command::Calibrate(_)
        | Command::Compare(_)
        | Command::Lint(_)
        | Command::Night(_)
        | Command::Trend(_)
        | Command::Trust(_)
        | Command::Demo(_)
        | Command::Config(_)
        | Command::Doctor(_)
        | Command::Step(_)
        | Command::Init(_)
        | Command::Completions(_)
        | Command::Man(_) => None,
    };
    let id = run.filter(|_| env.project.is_none())?;
    let run: RunId = id.parse().ok()?;
    let is_here = Home::of(&env.project_here()).run(&run).place().exists();
    let project = Ownership::new(env).project_of(id).filter(|project| !is_here && project.is_dir())?;
    Some(Environment { project: Some(project), ..env.clone() })
}
