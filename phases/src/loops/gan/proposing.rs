//! How the result gets into a person's folder, or into a commit whose message has the outcome, the score and the run.

use super::Run;
use super::course::Ending;
use super::step::Step;
use crate::base::id::TreeId;
use crate::loops::shared::step::{Move, Propose, Shared};
use crate::runs::proposal::{Trailers, Words};

/// Returns how the engine carries out a step that asks a person, or that promotes or proposes the result.
pub(super) fn shared(run: &Run, step: &Step) -> Option<Shared> {
    match step {
        Step::Ask { .. } | Step::Allow => Some(Shared::Ask),
        Step::Promote { artifact } => {
            Some(Shared::Promote { moves: vec![change(run, *artifact)?], makes_folders: true })
        }
        Step::Commit { artifact, form } => Some(Shared::Propose(Propose {
            moves: vec![change(run, *artifact)?],
            earlier: Vec::new(),
            committed: Vec::new(),
            form: *form,
            words: words(run, *artifact),
            version: artifact.short(),
        })),
        _ => None,
    }
}

/// Returns the artifact's changes against what its folder held when the run began.
fn change(run: &Run, to: TreeId) -> Option<Move> {
    Some(Move { path: run.plan.task.into.clone()?, from: run.plan.task.start, to })
}

/// Returns the commit message for the artifact. The branch has the name of the folder.
fn words(run: &Run, artifact: TreeId) -> Words {
    let (task, state) = (&run.plan.task, &run.state);
    let folder = task.into.as_deref().and_then(|into| into.rsplit('/').next());
    let name = folder.filter(|name| !name.is_empty()).unwrap_or(&task.name).to_owned();
    let (said, verdict) = match state.end.as_ref().map(|end| end.ending) {
        Some(Ending::Reached) => ("It passed", "passed"),
        Some(Ending::Forced) => ("It did not pass; a person marked it as passed", "forced"),
        Some(Ending::Accepted) => ("It did not pass; a person accepted it unchanged", "accepted"),
        Some(Ending::Kept(_) | Ending::Aborted | Ending::Failed) | None => ("It did not pass", "none"),
    };
    let score = run.best().map_or(String::new(), |best| {
        let (score, threshold) = (best.evaluation().score, task.rules.threshold);
        format!("\nScore: {}; {} to pass.", score.typed(), threshold.typed())
    });
    let trailers = Trailers { run: &run.plan.run, version: &artifact.short(), verdict };
    let at = state.ended_at.unwrap_or(run.started_at);
    Words::new(&[name], (&format!("Build: {}", task.name), &format!("{said}.{score}")), trailers, at)
}
