//! `skilltune rollback`: restores the skill, or the folder, that a run has replaced.

mod folder;

use skilltune_phases::loops::evolve::Evolve;
use skilltune_phases::loops::gan::Gan;
use skilltune_phases::runs::plan::{LoopKind, RunId};

use crate::args::runs::RollbackArgs;
use crate::loops::tune;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &RollbackArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    // Fails if there is no run of any loop.
    let named = scope.named(args.run.run.as_deref())?;
    let meant = if args.run.run.is_some() { Some(named) } else { newest(scope) };
    match meant.as_ref().map(|id| (scope.runs.kind(id), id)) {
        Some((LoopKind::Gan, id)) => return folder::run::<Gan>(args, scope, id),
        Some((LoopKind::Evolve, id)) => return folder::run::<Evolve>(args, scope, id),
        Some((LoopKind::Tune | LoopKind::Reflex | LoopKind::Expert | LoopKind::Review, _)) | None => {}
    }
    let is_any = args.run.run.is_none() && scope.only.is_none();
    if is_any && scope.runs.ids(Some(LoopKind::Tune)).is_empty() {
        let root = scope.runs.home.root().display();
        return Err(Complaint::input(format!("no run in {root} has replaced a skill or a folder"))
            .hint("list runs with `skilltune list`"));
    }
    tune::apply::rollback(args, scope)
}

/// Returns the newest run of any loop that has replaced something, or may.
fn newest(scope: &Scope<'_>) -> Option<RunId> {
    if scope.only.is_some() {
        return None;
    }
    scope.runs.ids(None).into_iter().find(|id| match scope.runs.kind(id) {
        LoopKind::Gan => folder::may_have_folder::<Gan>(scope, id),
        LoopKind::Evolve => folder::may_have_folder::<Evolve>(scope, id),
        LoopKind::Tune => tune::apply::may_have_target(scope, id),
        LoopKind::Reflex | LoopKind::Expert | LoopKind::Review => false,
    })
}
