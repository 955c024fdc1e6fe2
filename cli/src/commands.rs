//! One function a command: from its arguments to an exit code or a complaint.

mod apply;
mod clean;
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
mod loops;
mod man;
mod reflex;
mod report;
mod resume;
mod scope;
mod show;
mod status;
mod stop;
mod trust;
mod tune;

use skilltune_orchestrator::store::Home;
use skilltune_phases::plan::{LoopKind, RunId};

use scope::Scope;

use crate::args::{Command, ConfigCommand, ReflexArgs, ReflexCommand, RunCommand};
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;

pub fn run(command: Command, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let elsewhere = elsewhere(&command, around);
    let around = elsewhere.as_ref().unwrap_or(around);
    match command {
        Command::Tune(args) => tune::run(&args, around, printer),
        Command::Reflex(args) => match args.command {
            ReflexCommand::New(args) => reflex::run(&args, around, printer),
            ReflexCommand::Run(command) => run_command(command, Some(LoopKind::Reflex), around, printer),
        },
        Command::Run(command) => run_command(command, None, around, printer),
        Command::Lint(args) => lint::run(&args, around, printer),
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
    around: &Surroundings,
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
        RunCommand::Apply(args) => apply::run(&args, &scope),
        RunCommand::Rollback(args) => apply::rollback(&args, &scope),
        RunCommand::Export(args) => export::run(&args, &scope),
        RunCommand::Report(args) => report::run(&args, &scope),
        RunCommand::Clean(args) => clean::run(&args, &scope),
    }
}

/// The surroundings of a run of ours that is in another project than the current folder: whatever we print names a run
/// by its id, and can be typed anywhere.
fn elsewhere(command: &Command, around: &Surroundings) -> Option<Surroundings> {
    let (Command::Run(command) | Command::Reflex(ReflexArgs { command: ReflexCommand::Run(command) })) =
        command
    else {
        return None;
    };
    let id = command.run().filter(|_| around.project.is_none())?;
    let run: RunId = id.parse().ok()?;
    let is_here = Home::of(&around.project_here()).run(&run).place().exists();
    let project = Births::new(around).project_of(id).filter(|project| !is_here && project.is_dir())?;
    Some(Surroundings { project: Some(project), ..around.clone() })
}
