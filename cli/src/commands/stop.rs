//! `stop`: asks a run to finish its current steps and save. The loop decides whether it can be resumed.

use skilltune_phases::runs::plan::RunId;

use crate::args::runs::StopArgs;
use crate::loops::LoopCommands as _;
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::runs::{RunStatus, Runs};
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &StopArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (name, _) = args.parts();
    let id = match name {
        Some(_) => scope.named(name)?,
        // Without a name, stop the running run, if any.
        None => match scope.runs.ids(scope.only).into_iter().find(|id| is_running(&scope.runs, id)) {
            Some(id) => id,
            None => scope.named(None)?,
        },
    };
    with_loop!(scope.runs.kind(&id), L => L::stop(scope, &scope.runs.load(&id)?, args))
}

fn is_running(runs: &Runs, id: &RunId) -> bool {
    matches!(runs.outline(id).map(|outline| outline.status), Ok(RunStatus::Running { .. }))
}
