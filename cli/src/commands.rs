//! One function a command: from its arguments to an exit code or a complaint.

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
mod night;
mod regrade;
mod report;
pub mod resume;
mod show;
mod simulate;
mod status;
mod stop;
mod suite;
mod trust;

use skilltune_orchestrator::store::Home;
use skilltune_phases::plan::{LoopKind, RunId};

use crate::args::runs::{ConfigCommand, RunCommand};
use crate::commands::cli::Command;
use crate::loops::tune;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(command: Command, around: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let elsewhere = elsewhere(&command, around);
    let around = elsewhere.as_ref().unwrap_or(around);
    match command {
        Command::Loop(command) => command.run(around, printer, run_command),
        Command::Run(command) => run_command(command, None, around, printer),
        Command::Calibrate(args) => calibrate::run(&args, around, printer),
        Command::Compare(args) => compare::run(&args, around, printer),
        Command::Regrade(args) => regrade::run(&args, around, printer),
        Command::Simulate(args) => simulate::run(&args, printer),
        Command::Lint(args) => lint::run(&args, around, printer),
        Command::Suite(args) => suite::run(&args, around, printer),
        Command::Night(args) => night::run(&args, around, printer),
        Command::Trend(args) => night::trend::run(&args, around, printer),
        Command::Trust(args) => trust::run(&args, around, printer),
        Command::Demo(args) => demo::run(&args, around, printer),
        Command::Config(args) => match args.command {
            ConfigCommand::Show { format } => config::show(format, around, printer),
        },
        Command::Doctor(args) => doctor::run(&args, around, printer),
        Command::Init(args) => init::run(&args, around, printer),
        Command::Completions(args) => completions::run(&args, printer),
        Command::Man(args) => man::run(&args, around, printer),
    }
}

/// A command on a run: of any loop, or only of one.
fn run_command(
    command: RunCommand,
    only: Option<LoopKind>,
    around: &Environment,
    printer: Printer,
) -> Result<Exit, Complaint> {
    let scope = Scope::here(only, around, printer)?;
    match command {
        RunCommand::Status(args) => status::run(&args, &scope),
        RunCommand::Resume(args) => resume::run(&args, &scope),
        RunCommand::Stop(args) => stop::run(&args, &scope),
        RunCommand::List(args) => list::run(&args, &scope),
        RunCommand::History(args) => history::run(&args, &scope),
        RunCommand::Show(args) => show::run(&args, &scope),
        RunCommand::Diff(args) => diff::run(&args, &scope),
        RunCommand::Apply(args) => tune::apply::run(&args, &scope),
        RunCommand::Rollback(args) => tune::apply::rollback(&args, &scope),
        RunCommand::Export(args) => export::run(&args, &scope),
        RunCommand::Report(args) => report::run(&args, &scope),
        RunCommand::Clean(args) => clean::run(&args, &scope),
    }
}

/// The surroundings of a run of ours that is in another project than the current folder: whatever we print names a run
/// by its id, and can be typed anywhere.
fn elsewhere(command: &Command, around: &Environment) -> Option<Environment> {
    let run = match command {
        Command::Loop(command) => command.on_runs().and_then(RunCommand::run),
        Command::Run(command) => command.run(),
        Command::Suite(args) => args.run(),
        Command::Regrade(args) => Some(args.run.as_str()),
        Command::Calibrate(_)
        | Command::Compare(_)
        | Command::Simulate(_)
        | Command::Lint(_)
        | Command::Night(_)
        | Command::Trend(_)
        | Command::Trust(_)
        | Command::Demo(_)
        | Command::Config(_)
        | Command::Doctor(_)
        | Command::Init(_)
        | Command::Completions(_)
        | Command::Man(_) => None,
    };
    let id = run.filter(|_| around.project.is_none())?;
    let run: RunId = id.parse().ok()?;
    let is_here = Home::of(&around.project_here()).run(&run).place().exists();
    let project = Ownership::new(around).project_of(id).filter(|project| !is_here && project.is_dir())?;
    Some(Environment { project: Some(project), ..around.clone() })
}
