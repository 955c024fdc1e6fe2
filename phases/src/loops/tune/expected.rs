//! The expected calls of a search by drafts in which no call fails: the maximum, and a typical number.
//!
//! Retries of fallen scenarios are left out: they are rare and not part of the budget.

use super::{Aim, Plan, Seat, drafting, measure, most_anchors, number, turns};
use crate::base::role::Role;
use crate::loops::{Expected, MostCalls};

/// In simulated searches, after this many trials of each scenario the newest version has been tried on all scenarios,
/// and there is nothing more to find.
const TRIALS_OF_EACH: usize = 7;
/// In the same searches four trials lead to six edits, nine to nine, and a hundred to thirty: the more is fixed, the
/// fewer trials name a fault that is probably real.
const EDITS_PER_ROOT: usize = 3;

/// The trials of a search and of its final comparison, and the edits.
#[derive(Clone, Copy)]
struct Effort {
    search: usize,
    comparison: usize,
    /// Edits of each improver.
    edits: u64,
}

/// Returns `None` for other kinds of search, which are not predictable.
pub(super) fn of(plan: &Plan) -> Option<Expected> {
    if plan.task.aim != Aim::Improve {
        return None;
    }
    let (runs, alone) = plan.task.runs()?;
    let search = drafting::trials(plan)?;
    let edits = number(drafting::rounds(plan) - 1);
    let most = Effort { search, comparison: runs - search, edits: turns::most(plan, edits) };
    let search = search.min(TRIALS_OF_EACH * measure::searched(plan).len());
    let versions = if alone { 1 } else { 2 };
    let trials_of_each = drafting::MOST_LEFT.max(plan.task.rules.confirm) as usize;
    let comparison = (versions * trials_of_each * measure::compared(plan).len()).min(runs - search);
    let improvers = number(plan.improvers().count()).max(1);
    let edits = edits.min(number(EDITS_PER_ROOT * search.isqrt())).div_ceil(improvers);
    let likely = Effort { search, comparison, edits };
    Some(Expected { most: calls(plan, most), likely: calls(plan, likely) })
}

fn calls(plan: &Plan, effort: Effort) -> MostCalls {
    let Effort { search, comparison, edits } = effort;
    let judges = |scenarios: &[usize]| scenarios.iter().any(|scenario| plan.task.is_judged(*scenario));
    let searched = if judges(&measure::searched(plan)) { search } else { 0 };
    let compared = if judges(&measure::compared(plan)) { number(comparison) } else { 0 };
    let judge = |seat: Seat| {
        let of_search = if seat == Seat::First { number(searched) } else { 0 };
        (seat.role(), of_search + compared + most_anchors(plan, compared))
    };
    let judges = Seat::ALL.into_iter().filter(|seat| plan.roles.get(&seat.role()).is_some()).map(judge);
    let executor = (Role::EXECUTOR, number((search + comparison) * plan.task.target.members.len()));
    let improvers = plan.improvers().map(|by| (by.role(), edits));
    std::iter::once(executor).chain(judges).chain(improvers).collect()
}
