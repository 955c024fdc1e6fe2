//! Counts the calls of a run: the maximum, and the expected number.

use super::compare::panel;
use super::search::{drafting, turns};
use super::trial::measure;
use super::{Plan, Search, Seat, state};
use crate::base::role::Role;
use crate::loops::{Expected, MostCalls};

/// The start and the champion of the search.
const CONTESTANTS: u64 = 2;
/// In simulated searches, after this many trials of each scenario the newest version has been tried on all scenarios,
/// and there is nothing more to find.
const TRIALS_OF_EACH: usize = 7;
/// In the same searches 12 trials lead to six edits, 38 to 14, and 118 to 18: the more is fixed, the fewer trials name a
/// fault that is probably real.
const EDITS_PER_FOUR_ROOTS: usize = 9;

/// Returns the most calls that a run can make: every step tried twice, every draft tried on all scenarios.
pub(super) fn most(plan: &Plan) -> MostCalls {
    let is_edit = |role: &Role| plan.improvers().any(|by| by.role() == *role);
    // In a search by drafts, another edit follows a failed one without a trial.
    let edits = |role: &Role| match plan.task.rules.search {
        Search::Draft { .. } if is_edit(role) => u64::from(plan.task.rules.max_errors),
        Search::Draft { .. } | Search::Rounds => 1,
    };
    let calls = plan.task.aim.rules().calls(plan);
    calls.iter().map(|(role, calls)| (role.clone(), u64::from(state::TRIES) * edits(role) * calls)).collect()
}

/// Returns the calls of trials of all scenarios.
pub(super) fn of_trials(plan: &Plan) -> MostCalls {
    let (trials, scenarios) = (plan.task.aim.trials().unwrap_or(0), 0..plan.task.scenarios.len());
    let judged = scenarios.clone().filter(|&scenario| plan.task.is_judged(scenario)).count();
    let calls = |count: usize| u64::from(trials) * number(count);
    MostCalls::from([(Role::EXECUTOR, calls(scenarios.len())), (Role::EVALUATOR, calls(judged))])
}

/// Returns the calls of a search in which no call fails.
pub(super) fn of_search(plan: &Plan) -> MostCalls {
    let rounds = u64::from(plan.task.rules.max_iterations);
    let searched = measure::searched(plan);
    let in_rounds = |among: &dyn Fn(usize) -> bool| match drafting::trials(plan) {
        Some(trials) => number(trials),
        None => rounds * number(searched.iter().filter(|&&scenario| among(scenario)).count()),
    };
    let is_text_judged = plan.task.has_demands() && plan.task.rules.search == Search::Rounds;
    let texts = if is_text_judged { rounds } else { 0 };
    let members = number(plan.task.target.members.len());
    let edits = if plan.repeats_itself() { members } else { 1 };
    let executed = (in_rounds(&|_| true) + most_fresh_trials(plan, &|_| true)) * members;
    let judged = in_rounds(&|scenario| plan.task.is_judged(scenario)) + texts;
    let executor = (Role::EXECUTOR, executed);
    let most = turns::most(plan, rounds.saturating_sub(1));
    let improvers = plan.improvers().map(|by| (by.role(), edits * most));
    let of_panel = judges_of_comparison(plan).map(|(role, calls)| {
        let own = if role == Role::EVALUATOR { judged } else { 0 };
        (role, own + calls)
    });
    std::iter::once(executor).chain(of_panel).chain(improvers).collect()
}

/// Returns the calls of a comparison of two given versions.
pub(super) fn of_comparison(plan: &Plan) -> MostCalls {
    // Stored trials need no executor.
    let is_executed = plan.task.regraded().is_none();
    let executor = is_executed.then(|| (Role::EXECUTOR, most_fresh_trials(plan, &|_| true)));
    executor.into_iter().chain(judges_of_comparison(plan)).collect()
}

/// Counts calls for the worst case: every judge judges every trial, because all are close or the judge before it was
/// dismissed, and each has its anchors.
fn judges_of_comparison(plan: &Plan) -> impl Iterator<Item = (Role, u64)> {
    let stored = plan.task.regraded().map(|of| u64::from(of.judged));
    let judged = stored.unwrap_or_else(|| most_fresh_trials(plan, &|scenario| plan.task.is_judged(scenario)));
    let anchors = most_anchors(plan, judged);
    let roles = Seat::ALL.into_iter().map(Seat::role).filter(|role| plan.roles.get(role).is_some());
    roles.map(move |role| (role, judged + anchors))
}

/// Returns the most anchors of a judge who judges this many trials of a comparison.
fn most_anchors(plan: &Plan, judged: u64) -> u64 {
    if judged == 0 || !plan.basis().is_tested() {
        return 0;
    }
    let of_interim = number(plan.interim_analyses().len() * panel::MOST_ANCHORS);
    let (of_all, has_tests) = match plan.task.regraded() {
        Some(of) if of.unpaired => (judged, !of.tests.is_empty()),
        None if plan.task.runs().is_some_and(|(_, alone)| alone) => {
            (judged + number(drafting::first(plan).len()), plan.task.tests() > 0)
        }
        Some(_) | None => (0, false),
    };
    let of_each = if has_tests { panel::ANCHORS_OF_TESTS } else { 1 };
    of_interim.max(number(of_each) * of_all)
}

/// Counts the trials of the final comparison. At worst every scenario falls and is retried.
fn most_fresh_trials(plan: &Plan, among: &dyn Fn(usize) -> bool) -> u64 {
    let compared = measure::planned(plan).into_iter().filter(|&scenario| among(scenario)).count();
    let again = if plan.basis().is_tested() { measure::RETRIALS } else { 0 };
    let trials = CONTESTANTS * u64::from(plan.task.rules.confirm + again);
    trials * number(compared)
}

/// The trials of a search and of its final comparison, and the edits.
#[derive(Clone, Copy)]
struct Effort {
    search: usize,
    comparison: usize,
    /// Edits of each improver.
    edits: u64,
}

/// Returns the expected calls of a search by drafts in which no call fails: the maximum, and a typical number. Returns
/// `None` for other kinds of search, which are not predictable. Retries of fallen scenarios are left out: they are rare
/// and not part of the budget.
pub(super) fn expected(plan: &Plan) -> Option<Expected> {
    let (runs, alone) = plan.task.runs()?;
    let search = drafting::trials(plan)?;
    let edits = number(drafting::rounds(plan) - 1);
    let most = Effort { search, comparison: runs - search, edits: turns::most(plan, edits) };
    let search = search.min(TRIALS_OF_EACH * measure::searched(plan).len());
    let versions = if alone { 1 } else { 2 };
    let trials_of_each = drafting::MOST_LEFT.max(plan.task.rules.confirm) as usize;
    let trials_of_each = if plan.task.tests() > 0 { 1 } else { trials_of_each };
    let comparison = (versions * trials_of_each * measure::planned(plan).len()).min(runs - search);
    let improvers = number(plan.improvers().count()).max(1);
    let edited = search + plan.task.tests();
    let edits = edits.min(number(EDITS_PER_FOUR_ROOTS * edited.isqrt() / 4)).div_ceil(improvers);
    let likely = Effort { search, comparison, edits };
    Some(Expected { most: calls_of(plan, most), likely: calls_of(plan, likely) })
}

fn calls_of(plan: &Plan, effort: Effort) -> MostCalls {
    let Effort { search, comparison, edits } = effort;
    let judges = |scenarios: &[usize]| scenarios.iter().any(|scenario| plan.task.is_judged(*scenario));
    let searched = if judges(&measure::searched(plan)) { search } else { 0 };
    let compared = if judges(&measure::planned(plan)) { number(comparison) } else { 0 };
    let judge = |seat: Seat| {
        let of_search = if seat == Seat::First { number(searched) } else { 0 };
        (seat.role(), of_search + compared + most_anchors(plan, compared))
    };
    let judges = Seat::ALL.into_iter().filter(|seat| plan.roles.get(&seat.role()).is_some()).map(judge);
    let executor = (Role::EXECUTOR, number((search + comparison) * plan.task.target.members.len()));
    let improvers = plan.improvers().map(|by| (by.role(), edits));
    std::iter::once(executor).chain(judges).chain(improvers).collect()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
