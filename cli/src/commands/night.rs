//! `night` and `trend`: jobs that run by themselves.

mod ack;
mod add;
mod begin;
mod doctor;
mod install;
mod keep;
mod list;
mod merge;
mod status;
pub mod trend;

use crate::args::night::{NightArgs, NightCommand};
use crate::commands::night::begin::Selection;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &NightArgs, around: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    match &args.command {
        None => begin::run(&args.run, Selection::Part(&args.part), around, printer),
        Some(NightCommand::Run(args)) => begin::run(&args.run, Selection::Job(&args.job), around, printer),
        Some(NightCommand::Add(args)) => add::run(args, around, printer),
        Some(NightCommand::List(args)) => list::run(args, around, printer),
        Some(NightCommand::Status(args)) => status::run(args, around, printer),
        Some(NightCommand::Doctor(args)) => doctor::run(args, around, printer),
        Some(NightCommand::Ack(args)) => ack::run(args, around, printer),
        Some(NightCommand::Install(args)) => install::run(args, around, printer),
        Some(NightCommand::Uninstall(args)) => install::uninstall(args, around, printer),
        Some(NightCommand::Merge(args)) => merge::run(args, around, printer),
    }
}
