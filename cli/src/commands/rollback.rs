//! `skilltune rollback`: restores the skill, or the folder, that a run has replaced.

use skilltune_phases::runs::plan::{LoopKind, RunId};

use crate::args::runs::RollbackArgs;
use crate::loops::{gan, tune};
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &RollbackArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    // Fails if there is no run of any loop.
    let named = scope.named(args.run.run.as_deref())?;
    let of_gan = match args.run.run {
        Some(_) => Some(named).filter(|id| scope.runs.kind(id) == LoopKind::Gan),
        None => newest_of_gan(scope),
    };
    if let Some(id) = of_gan {
        return gan::rollback::run(args.force, scope, &id);
    }
    let is_any = args.run.run.is_none() && scope.only.is_none();
    if is_any && scope.runs.ids(Some(LoopKind::Tune)).is_empty() {
        let root = scope.runs.home.root().display();
        return Err(Complaint::input(format!("no run in {root} has replaced a skill or a folder"))
            .hint("list runs with `skilltune list`"));
    }
    tune::apply::rollback(args, scope)
}

/// Returns the newest run that has replaced something, or may, if it is one of `gan`.
fn newest_of_gan(scope: &Scope<'_>) -> Option<RunId> {
    if scope.only.is_some() {
        return None;
    }
    let newest = scope.runs.ids(None).into_iter().find(|id| match scope.runs.kind(id) {
        LoopKind::Gan => gan::rollback::may_have_folder(scope, id),
        LoopKind::Tune => tune::apply::may_have_target(scope, id),
        LoopKind::Reflex | LoopKind::Expert | LoopKind::Review | LoopKind::Evolve => false,
    });
    newest.filter(|id| scope.runs.kind(id) == LoopKind::Gan)
}
