//! The outcome of a run, as one word and one exit code.

use serde::Serialize;

use crate::base::ending::Class;
use crate::judging::stop::Reason;
use crate::loops::tune::{Ending, Run, Search, Shipment, Verdict};

/// The run's outcome for scripts: what happened to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The champion is in the target.
    Improved,
    /// A champion is kept, and the target left unchanged, as requested.
    Kept,
    /// The target is unchanged.
    Unchanged,
    /// The champion is a commit for review, and the target is unchanged.
    Proposed,
    /// The target contains a person's edit, which was left alone.
    Conflict,
    /// The scenarios were tried, without a skill or with the target as it is.
    #[serde(rename = "tried")]
    Exercised,
    /// Two versions were compared.
    Compared,
    /// Nothing could be judged.
    Unjudged,
    /// The run waits for an answer.
    Held,
    /// The run has not finished and can be resumed.
    Paused,
}

/// Returns how the run ended, for its exit code.
pub(crate) fn class(run: &Run) -> Class {
    let Some(ending) = run.state.closed else { return Class::Open };
    if ending == Ending::Exercised {
        let is_judged = run.plan.task.aim.rules().is_judged(run);
        return if is_judged { Class::Reached } else { Class::Unjudged };
    }
    let verdict = run.state.shipment.as_ref().map_or(Verdict::Unjudged, |shipment| shipment.verdict);
    let is_compared = run.state.shipment.as_ref().is_some_and(Shipment::is_compared);
    // A search by drafts may have measured the start even if all edits of it failed.
    let is_by_rounds = run.plan.task.rules.search == Search::Rounds;
    let has_failed = run.state.stopped == Some(Reason::Failed) && !is_compared && is_by_rounds;
    if verdict == Verdict::Unjudged || has_failed {
        return Class::Unjudged;
    }
    if ending == Ending::Compared {
        return if verdict == Verdict::Won { Class::Reached } else { Class::Short };
    }
    // With a suite, the search's results on its own scenarios do not count as reaching the goal.
    let counts = verdict == Verdict::Won || run.plan.is_structural() || run.plan.task.scenarios.len() == 1;
    let met = run.final_score().is_some_and(|score| score >= run.plan.task.rules.threshold);
    let met = if run.plan.task.fail_on.is_set() {
        run.fail_reasons().is_empty()
    } else {
        counts && met && !run.champion_is_unused()
    };
    if met && ending != Ending::Conflict { Class::Reached } else { Class::Short }
}
