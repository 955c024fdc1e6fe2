//! The progress of a run, as a few facts or one.

use skilltune_phases::loops::reflex::Run;

use crate::loops::reflex::report::words;
use crate::text::figures;

/// Returns the progress as facts. `on_disk` is the hash of the artifact's file, if there is one.
pub fn facts(run: &Run, on_disk: Option<&str>) -> Vec<(&'static str, String)> {
    let state = &run.state;
    let most = run.plan.task.rules.max_iterations;
    let place = format!("{} of {most}, level {}, {}", state.iteration, state.level, state.current().word());
    let mut facts = vec![
        ("iteration", place),
        ("time", format!("{} (completed phases)", words::time(run))),
        ("artifact", words::artifact(run, on_disk)),
    ];
    facts.extend(words::score(run, on_disk).map(|score| ("score", score)));
    facts.extend(words::distance(run, on_disk).map(|distance| ("distance", distance)));
    facts.extend(run.result().map(|_| ("file", words::artifact_path(run))));
    facts
}

/// Returns the progress so far and its limit.
pub fn progress(run: &Run) -> String {
    let most = run.plan.task.rules.max_iterations;
    format!("iteration {} of {most}, {}", run.state.iteration, words::time(run))
}

/// Returns the score of its best text, and at which level.
pub fn result(run: &Run, on_disk: Option<&str>) -> String {
    let judged = run.best().filter(|_| words::score(run, on_disk).is_some());
    let score = figures::score(judged.and_then(|judged| judged.evaluation.score));
    let level = judged.map_or(run.state.level, |judged| judged.evaluation.level);
    format!("{score:>5} at {level}")
}

#[cfg(test)]
mod tests;
