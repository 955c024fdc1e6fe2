//! `report`: the final report, or how far the run has come.

use crate::args::runs::RunArgs;
use crate::loops::LoopCommands as _;
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &RunArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.as_deref())?;
    let report = with_loop!(scope.runs.kind(&id), L => L::report(&scope.runs.load(&id)?.run));
    scope.printer.data(report.trim_end())?;
    Ok(Exit::Reached)
}
