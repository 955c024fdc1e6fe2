//! `resume`: resumes a run that was stopped, was killed, or waits for an answer.

use crate::args::runs::ResumeArgs;
use crate::loops::resume::take_up;
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &ResumeArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => take_up::<L>(args, scope, &scope.runs.load(&id)?))
}
