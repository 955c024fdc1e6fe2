//! `skilltune reflex`: one artifact for a task, planned, written, judged and mended.

mod clean;
mod find;
mod history;
mod list;
mod new;
mod resume;
mod status;
mod stop;

use crate::args::{ReflexArgs, ReflexCommand};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;

pub fn run(args: ReflexArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    match args.command {
        ReflexCommand::New(args) => new::run(&args, around, printer),
        ReflexCommand::Resume(args) => resume::run(&args, around, printer),
        ReflexCommand::Status(args) => status::run(&args, around, printer),
        ReflexCommand::Stop(args) => stop::run(&args, around, printer),
        ReflexCommand::List(args) => list::run(&args, around, printer),
        ReflexCommand::History(args) => history::run(&args, around, printer),
        ReflexCommand::Clean(args) => clean::run(&args, around, printer),
    }
}
