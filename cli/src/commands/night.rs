//! `night` and `trend`: jobs that run unattended.

mod ack;
mod add;
mod begin;
mod dismiss;
mod doctor;
mod install;
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

pub fn run(args: &NightArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    match &args.command {
        None => begin::run(&args.run, Selection::Part(&args.part), env, printer),
        Some(NightCommand::Run(args)) => begin::run(&args.run, Selection::Job(&args.job), env, printer),
        Some(NightCommand::Add(args)) => add::run(args, env, printer),
        Some(NightCommand::List(args)) => list::run(args, env, printer),
        Some(NightCommand::Status(args)) => status::run(args, env, printer),
        Some(NightCommand::Doctor(args)) => doctor::run(args, env, printer),
        Some(NightCommand::Ack(args)) => ack::run(args, env, printer),
        Some(NightCommand::Dismiss(args)) => dismiss::run(args, env, printer),
        Some(NightCommand::Install(args)) => install::run(args, env, printer),
        Some(NightCommand::Uninstall(args)) => install::uninstall(args, env, printer),
        Some(NightCommand::Merge(args)) => merge::run(args, env, printer),
    }
}
