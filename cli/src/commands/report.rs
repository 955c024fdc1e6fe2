//! `report`: the final report, or how far the run has come.

use super::loops::LoopCommands as _;
use super::scope::Scope;
use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::face::with_loop;

pub fn run(args: &RunArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.as_deref())?;
    let report = with_loop!(scope.runs.kind(&id), L => L::report(&scope.runs.load(&id)?.run));
    scope.printer.data(report.trim_end())?;
    Ok(Exit::Reached)
}
