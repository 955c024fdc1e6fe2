//! `resume`: resumes a run that was stopped, was killed, or waits for an answer.

use skilltune_phases::runs::plan::RunId;

use crate::args::runs::ResumeArgs;
use crate::loops::resume::take_up;
use crate::report::ui::with_loop;
use crate::runs::RunStatus;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &ResumeArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    if args.run.run.is_none() && !args.going.extend {
        refuse_older(scope, &id)?;
    }
    with_loop!(scope.runs.kind(&id), L => take_up::<L>(args, scope, &scope.runs.load(&id)?))
}

/// Fails if the latest run has ended and an older one has not: resuming that one may cost more than was meant.
fn refuse_older(scope: &Scope<'_>, latest: &RunId) -> Result<(), Complaint> {
    // Reading the journals of all runs of a large project would take too long.
    const READ: usize = 100;
    let runs = &scope.runs;
    if !runs.outline(latest).is_ok_and(|outline| outline.status == RunStatus::Ended) {
        return Ok(());
    }
    let older = runs.ids(scope.only).into_iter().take(READ).find(|id| runs.is_resumable(id));
    older.map_or(Ok(()), |older| {
        Err(Complaint::input(format!("the latest run, {latest}, has ended and cannot be resumed"))
            .hint(format!("`skilltune resume {older}` continues the newest run that has not ended"))
            .hint(format!("`skilltune report {latest}` shows the latest run")))
    })
}
