//! Searches for a better version of the target, by rounds or by drafts. At the end the champion of the search meets the
//! start, and is applied or proposed only if it is shown to be better.

use super::{AimRules, compare};
use crate::base::id::CandidateId;
use crate::judging::stop::Reason;
use crate::loops::MostCalls;
use crate::loops::tune::search::{drafting, rounds};
use crate::loops::tune::trial::measure;
use crate::loops::tune::{
    Answer, Apply, Decision, Ending, Hold, Next, Plan, Round, Run, Search, Step, calls,
};

pub(super) struct Improve;

impl AimRules for Improve {
    fn next<'a>(&self, run: &'a Run, round: Option<&'a Round>) -> Next<'a> {
        if run.state.stopped.is_some() {
            return finish(run);
        }
        match (run.plan.task.rules.search, round) {
            (Search::Rounds, None) => measure::open(run, run.start(), Vec::new()),
            (Search::Rounds, Some(round)) => rounds::search(run, round),
            (Search::Draft { .. }, None) => measure::open(run, run.start(), drafting::first(&run.plan)),
            (Search::Draft { .. }, Some(round)) => drafting::search(run, round),
        }
    }

    fn calls(&self, plan: &Plan) -> MostCalls {
        calls::of_search(plan)
    }
}

fn finish(run: &Run) -> Next<'_> {
    let Some(shipment) = &run.state.shipment else { return compare::compare(run, challenger(run)) };
    let ending = match run.tail() {
        Err(step) => return Next::one(step),
        Ok(Some(Answer::Promoted)) => Ending::Applied,
        Ok(Some(Answer::Conflict { .. })) => Ending::Conflict,
        Ok(Some(Answer::Proposed(_))) => Ending::Proposed,
        Ok(_) if shipment.champion == run.start() => Ending::Unchanged,
        Ok(_) => Ending::Kept,
    };
    Next::Decide(Decision::Close(ending))
}

/// Returns the best candidate of the search, by its newest judges.
fn challenger(run: &Run) -> Option<CandidateId> {
    let best = match run.plan.task.rules.search {
        Search::Rounds => run.best().map(|(best, _)| best),
        Search::Draft { .. } if run.state.stopped == Some(Reason::Stalled) => None,
        Search::Draft { .. } => Some(drafting::newest(run)),
    };
    best.filter(|best| *best != run.start())
}

/// Returns the steps with which a champion is promoted or proposed.
pub(crate) fn tail(run: &Run) -> Vec<Step> {
    let (Some(shipment), task) = (&run.state.shipment, &run.plan.task) else { return Vec::new() };
    let champion = shipment.champion;
    if champion == run.start() || !task.searches() {
        return Vec::new();
    }
    // A dangerous champion is never applied unattended, even if it is surely better.
    let is_safe = !run.needs_a_person();
    let sure = run.basis().is_sure() && is_safe;
    let promote = Step::Promote { from: run.start(), to: champion };
    match task.apply {
        Apply::Unattended if sure => vec![promote],
        // A champion of a single task ships if the user allowed it.
        Apply::Auto if sure || (is_safe && task.scenarios.len() <= 1) => vec![promote],
        Apply::Never | Apply::Unattended | Apply::Auto => Vec::new(),
        // The reviewer of the commit sees how sure it is.
        Apply::Propose(form) => vec![Step::Propose { candidate: champion, form }],
        Apply::Ask => vec![Step::Ask(Hold::Apply { champion, sure }), promote],
    }
}
