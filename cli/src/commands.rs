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
mod man;
mod reflex;
mod report;
mod resume;
mod show;
mod status;
mod stop;
mod trust;
mod tune;

use skilltune_orchestrator::store::Home;
use skilltune_phases::plan::RunId;

use crate::args::{ApplyArgs, Command, ConfigCommand, DiffArgs, ResumeArgs, RollbackArgs, ShowArgs};
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;

/// Whether a command calls agents, several at a time.
pub fn drive_a_run(command: &Command) -> bool {
    matches!(command, Command::Tune(_) | Command::Resume(_) | Command::Reflex(_))
}

pub fn run(command: Command, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let elsewhere = elsewhere(&command, around);
    let around = elsewhere.as_ref().unwrap_or(around);
    match command {
        Command::Tune(args) => tune::run(&args, around, printer),
        Command::Reflex(args) => reflex::run(args, around, printer),
        Command::Lint(args) => lint::run(&args, around, printer),
        Command::Status(args) => status::run(&args, around, printer),
        Command::Resume(args) => resume::run(&args, around, printer),
        Command::Stop(args) => stop::run(&args, around, printer),
        Command::List(args) => list::run(&args, around, printer),
        Command::History(args) => history::run(&args, around, printer),
        Command::Show(args) => show::run(&args, around, printer),
        Command::Diff(args) => diff::run(&args, around, printer),
        Command::Apply(args) => apply::run(&args, around, printer),
        Command::Rollback(args) => apply::rollback(&args, around, printer),
        Command::Export(args) => export::run(&args, around, printer),
        Command::Report(args) => report::run(&args, around, printer),
        Command::Clean(args) => clean::run(&args, around, printer),
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

/// The surroundings of a run of ours that is in another project than the current folder: whatever we print names a run
/// by its id, and can be typed anywhere.
fn elsewhere(command: &Command, around: &Surroundings) -> Option<Surroundings> {
    let id = named_run(command).filter(|_| around.project.is_none())?;
    let run: RunId = id.parse().ok()?;
    let is_here = Home::of(&around.project_here()).run(&run).place().exists();
    let project = Births::new(around).project_of(id).filter(|project| !is_here && project.is_dir())?;
    Some(Surroundings { project: Some(project), ..around.clone() })
}

fn named_run(command: &Command) -> Option<&str> {
    match command {
        Command::Status(args) | Command::Stop(args) | Command::History(args) | Command::Report(args) => {
            args.run.as_deref()
        }
        Command::Resume(ResumeArgs { run, .. })
        | Command::Show(ShowArgs { run, .. })
        | Command::Diff(DiffArgs { run, .. })
        | Command::Apply(ApplyArgs { run, .. })
        | Command::Rollback(RollbackArgs { run, .. }) => run.run.as_deref(),
        Command::Export(args) => Some(&args.run),
        Command::Clean(args) => args.run.as_deref(),
        Command::Tune(_)
        | Command::Reflex(_)
        | Command::Lint(_)
        | Command::List(_)
        | Command::Trust(_)
        | Command::Demo(_)
        | Command::Config(_)
        | Command::Doctor(_)
        | Command::Init(_)
        | Command::Completions(_)
        | Command::Man(_) => None,
    }
}
