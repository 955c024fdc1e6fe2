//! A search by trials of one scenario each: every fault that a trial names, and that is probably real, is edited at once.
//!
//! ```text
//! the start on a few scenarios -> its faults, up to six -> edit -> the next scenario -> its faults, up to three -> edit ...
//! ```
//!
//! A failed edit is followed by the next faults: of the same round, then of another scenario, then the first ones again. Of two
//! improvers each is asked first. `max_errors` failed edits in a row end the search.
//!
//! No draft is tested for itself: that costs more trials than it saves. What is shown is shown once, at the end, by the final
//! comparison. The newest version goes there.

use std::collections::BTreeSet;

use super::faults::Fault;
use super::measure::{self, SEARCH};
use super::{Decision, Edit, Next, Plan, Round, Run, Search, Trial, credit, panel};
use crate::contract::CriterionId;
use crate::demand::Demand;
use crate::id::CandidateId;
use crate::stop::Reason;

/// As many faults are edited at once, after the first trials and after each later one.
const AT_FIRST: usize = 6;
const LATER: usize = 3;
/// On so many scenarios the start is tried first.
const FEWEST_FIRST: usize = 2;
const MOST_FIRST: usize = 10;
/// Fewer trials than this do not tell whether anything was gained.
const FEWEST_TO_TELL: usize = 10;

impl Plan {
    /// Has it search by drafts with so many runs, and divides them between search and final comparison. `drawn`: nobody chose
    /// which scenarios are held out.
    pub fn draft_with(&mut self, runs: u32, drawn: bool) {
        self.task.rules.search = Search::Draft { runs, drawn };
        self.task.rules.confirm = self.task.rules.confirm.max(confirm(self));
        self.task.rules.max_iterations = u32::try_from(rounds(self)).unwrap_or(u32::MAX);
    }
}

/// The trials that a search has, without those that are kept for the final comparison.
pub fn trials(plan: &Plan) -> Option<usize> {
    let (runs, alone) = plan.task.runs()?;
    let versions = if alone { 1 } else { 2 };
    Some(runs.saturating_sub(versions * plan.task.rules.confirm as usize * measure::compared(plan).len()))
}

/// As many rounds as those trials come to at most.
pub fn rounds(plan: &Plan) -> usize {
    (trials(plan).unwrap_or(0) + 1).saturating_sub(first(plan).len()).max(1)
}

/// With fewer trials nothing can be drafted.
pub const FEWEST: usize = FEWEST_FIRST + 2;

/// Fresh trials of each version on each scenario that are kept for the final comparison: about a quarter of the runs, or one.
pub fn confirm(plan: &Plan) -> u32 {
    let pairs = measure::compared(plan).len().max(1);
    match plan.task.runs() {
        Some((_, true)) | None => 1,
        Some((runs, false)) => {
            u32::try_from(runs / (SHARE_OF_COMPARISON * 2 * pairs)).unwrap_or(u32::MAX).clamp(1, MOST_TRIALS)
        }
    }
}

const SHARE_OF_COMPARISON: usize = 4;
const MOST_TRIALS: u32 = 20;

/// How often each scenario of the final comparison is tried, if the search has left more runs than are kept for that.
pub(super) fn trials_left(run: &Run) -> Option<u32> {
    let (runs, _) = run.plan.task.runs().filter(|_| run.plan.task.regraded().is_none())?;
    // The challenger is none of them yet.
    let each = (run.contestants().len() + 1) * measure::compared(&run.plan).len().max(1);
    let left = u32::try_from(runs.saturating_sub(used(run)) / each).unwrap_or(u32::MAX);
    Some(left.min(MOST_LEFT)).filter(|left| *left > run.plan.task.rules.confirm)
}

/// The trials that the search has made.
fn used(run: &Run) -> usize {
    run.state.rounds.iter().map(|round| round.scenarios.len()).sum()
}

/// More trials of each scenario would show little more.
pub(crate) const MOST_LEFT: u32 = 10;

/// The scenarios on which the start is tried at first: those trials are what the challenger is compared with.
pub(crate) fn first(plan: &Plan) -> Vec<usize> {
    let searched = measure::searched(plan);
    let some = (trials(plan).unwrap_or(0) * 3).div_ceil(10).clamp(FEWEST_FIRST, MOST_FIRST);
    searched.into_iter().take(some).collect()
}

pub(super) fn search<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let Some(measured) = &round.measured else { return super::measure(run, round) };
    if measured.score.is_some() && round.standing.is_none() {
        return Next::Decide(Decision::Keep(round.candidate));
    }
    if let Some(reason) = over(run) {
        return Next::Decide(Decision::Stop(reason));
    }
    match (&round.edit, &round.targets) {
        (Some(Edit::Draft { candidate, .. }), _) => open(run, round, *candidate).unwrap_or_else(finished),
        (None, Some(targets)) if !targets.is_empty() => super::improve(run, round),
        (None, None | Some(_)) | (Some(Edit::Nothing { .. }), _) => after_no_edit(run, round),
    }
}

/// After a trial, and after a failed edit.
fn after_no_edit<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let (times, faults) = least_edited(run, round);
    let edit = |faults| Next::Decide(target(run, faults, round));
    if times == 0 && !faults.is_empty() {
        edit(faults)
    } else if round.targets.is_none() {
        edit(Vec::new())
    } else {
        let open = open(run, round, run.head());
        open.unwrap_or_else(|| if faults.is_empty() { finished() } else { edit(faults) })
    }
}

fn finished<'a>() -> Next<'a> {
    Next::Decide(Decision::Stop(Reason::Finished))
}

/// The version that the last edit has made, though it was not tried yet.
pub(super) fn newest(run: &Run) -> CandidateId {
    match run.state.rounds.last().and_then(|round| round.edit.as_ref()) {
        Some(Edit::Draft { candidate, .. }) => *candidate,
        Some(Edit::Nothing { .. }) | None => run.head(),
    }
}

fn over(run: &Run) -> Option<Reason> {
    let most = run.plan.task.rules.max_errors;
    if run.failed_edits().filter(|edit| edit.is_refused()).count() >= most as usize {
        Some(Reason::Refused)
    } else if run.failed_in_a_row() >= most {
        Some(Reason::Failed)
    } else if has_seen_enough(run) && (run.state.beliefs.edits_pay() < HARDLY || is_worse(run)) {
        Some(Reason::Stalled)
    } else {
        None
    }
}

/// Half of the trials are made, and the skill is much worse than it was: such an improver will not mend it.
fn is_worse(run: &Run) -> bool {
    2 * used(run) >= trials(&run.plan).unwrap_or(0) && run.state.beliefs.lost() > MUCH
}

/// A share of all statements.
const MUCH: f64 = 0.2;

/// Fewer trials after edits do not tell whether edits do any good.
fn has_seen_enough(run: &Run) -> bool {
    run.state.rounds.len() > FEWEST_TO_TELL
}

/// A chance that is not worth the runs.
const HARDLY: f64 = 0.1;

fn most_at_once(round: &Round) -> usize {
    if round.number == 1 { AT_FIRST } else { LATER }
}

/// Those of the faults that are edited now.
fn target(run: &Run, faults: Vec<CriterionId>, round: &Round) -> Decision {
    let (member, mut criteria) = credit::of_one_member(run, faults);
    criteria.truncate(most_at_once(round));
    Decision::Target { criteria, member }
}

/// The probably real faults of the newest version that the fewest failed edits were for, and how many these were: one of each
/// improver counts as one.
fn least_edited(run: &Run, round: &Round) -> (usize, Vec<CriterionId>) {
    let words = |id| run.plan.task.question(id);
    let failed: Vec<String> = run.failed_edits().flat_map(|edit| edit.targets.iter().map(words)).collect();
    let improvers = run.plan.improvers().count().max(1);
    let times = |fault: &Fault| failed.iter().filter(|words| **words == fault.statement).count() / improvers;
    let mut known = BTreeSet::new();
    let rounds = run.rounds_since_draft().filter(|one| one.era == round.era);
    let faults = rounds.flat_map(real_faults).filter(|fault| known.insert(&fault.statement));
    let faults: Vec<(usize, &Fault)> = faults.map(|fault| (times(fault), fault)).collect();
    let fewest = faults.iter().map(|(times, _)| *times).min().unwrap_or(0);
    let least = faults.iter().filter(|(times, _)| *times == fewest);
    (fewest, least.map(|(_, fault)| fault.criterion.clone()).collect())
}

/// The same with the member that has the lowest score, whatever is at fault. Only simulated searches ask for it.
pub(crate) fn of_lowest(run: &Run, round: &Round) -> Decision {
    let mut criteria: Vec<CriterionId> = real_faults(round).map(|fault| fault.criterion.clone()).collect();
    criteria.truncate(most_at_once(round));
    Decision::Target { criteria, member: Some(super::weakest(run, run.head(), round)) }
}

/// The faults of a round that are probably real, those that failed in most of its trials first.
fn real_faults(round: &Round) -> impl Iterator<Item = &Fault> {
    let mut real: Vec<&Fault> = round.faults.iter().filter(|fault| fault.chance < PROBABLY_MET).collect();
    real.sort_by(|one, other| other.times.cmp(&one.times).then(one.chance.total_cmp(&other.chance)));
    real.into_iter()
}

/// What is met with this chance or more is left alone, though it failed once.
pub(super) const PROBABLY_MET: f64 = 0.7;

/// The scenario that tells most, of those on which this version was not tried yet; none, where it was tried on all.
fn open<'a>(run: &'a Run, round: &Round, candidate: CandidateId) -> Option<Next<'a>> {
    let is_open = |scenario: &usize| {
        let trial = Trial { scenario: *scenario, ordinal: SEARCH, era: run.state.era };
        !panel::is_settled(run, candidate, trial)
    };
    // Only here: what the last trial has named is still edited.
    if used(run) >= trials(&run.plan).unwrap_or(0) {
        return Some(Next::Decide(Decision::Stop(Reason::Exhausted)));
    }
    let open = measure::searched(&run.plan).into_iter().filter(is_open).map(|one| (one, told(run, one)));
    // Of equals the first: the order is that of the run's seed.
    let (scenario, _) = open.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    let number = round.number + 1;
    Some(Next::Decide(Decision::Open { round: number, candidate, scenarios: vec![scenario] }))
}

/// How much a trial of a scenario would tell: the doubt that there is about its statements, and less of it where the scenario was
/// tried a short while ago. An edit that fits one scenario too closely would not be noticed there.
fn told(run: &Run, scenario: usize) -> f64 {
    let demands = &run.plan.task.scenarios[scenario].demands;
    let all: f64 = demands.iter().map(|demand| f64::from(demand.weight)).sum();
    let doubt = |demand: &Demand| {
        let chance = run.state.beliefs.chance(&demand.shown());
        f64::from(demand.weight) * chance * (1.0 - chance)
    };
    let doubt = if all > 0.0 { demands.iter().map(doubt).sum::<f64>() / all } else { 1.0 };
    let since = run.state.rounds.iter().rev().position(|round| round.scenarios.contains(&scenario));
    let age = since.and_then(|since| u32::try_from(since + 1).ok()).map_or(f64::INFINITY, f64::from);
    doubt * (1.0 - (-age / SHORT_WHILE).exp())
}

/// In trials.
const SHORT_WHILE: f64 = 5.0;
