//! The message of the commit that proposes the result: the outcome, the score and the run.

use super::Run;
use super::course::Ending;
use crate::base::id::TreeId;
use crate::runs::proposal::{Trailers, Words};

/// Returns the commit message for the artifact. The branch has the name of the folder.
pub fn words(run: &Run, artifact: TreeId) -> Words {
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
