//! The seams of simulated searches (`benches/research`): only the feature `research` exports them.

use crate::loops::tune::search::drafting;
use crate::loops::tune::{Decision, Plan, Round, Run};

/// The most trials of each scenario in the final comparison of a search by drafts.
pub const MOST_TRIALS: u32 = drafting::MOST_LEFT;

/// Returns the runs of each member in a search by drafts; 0 in another search.
pub fn runs(plan: &Plan) -> usize {
    plan.task.runs().map_or(0, |(runs, _)| runs)
}

/// Returns the scenarios on which a search by drafts tries the start first.
pub fn first_scenarios(plan: &Plan) -> Vec<usize> {
    drafting::first(plan)
}

/// Targets the member with the lowest score, whichever is at fault.
pub fn target_lowest(run: &Run, round: &Round) -> Decision {
    drafting::of_lowest(run, round)
}
