//! A search by trials of one scenario each: every fault that a trial names, and that is probably real, is edited at
//! once.
//!
//! ```text
//! the start on a few scenarios -> its faults, up to six -> edit -> the next scenario -> its faults, up to three -> edit ...
//! ```
//!
//! After a failed edit the next faults follow: of the same round, then of another scenario, then the first ones again.
//! With two improvers, each is asked before that. `max_errors` failed edits in a row end the search.
//!
//! Drafts are not tested one by one: that costs more trials than it saves. The final comparison tests once, at the end,
//! and gets the newest version. With few runs, the last trials are those of the comparison: each is the first one on a
//! held-out scenario, and is scored before its faults are edited.

use std::collections::BTreeSet;

use super::rounds;
use crate::base::id::CandidateId;
use crate::judging::contract::CriterionId;
use crate::judging::proof;
use crate::judging::stop::Reason;
use crate::loops::tune::compare::{control, panel};
use crate::loops::tune::evidence::credit;
use crate::loops::tune::evidence::faults::Fault;
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{Basis, Decision, Edit, Next, Plan, Round, Run, Search, Trial};
use crate::suites::demand::Demand;

/// The most faults edited at once, after the first trials and after each later one.
const AT_FIRST: usize = 6;
const LATER: usize = 3;
/// The start is first tried on this many scenarios.
const FEWEST_FIRST: usize = 2;
const MOST_FIRST: usize = 10;
/// With fewer trials, a gain cannot be seen.
const FEWEST_TO_TELL: usize = 10;

impl Plan {
    /// Sets up a search by drafts with this many runs, divided between search and final comparison. `drawn`: the
    /// held-out scenarios were drawn, not chosen by a person.
    pub fn draft_with(&mut self, runs: u32, drawn: bool) {
        self.task.rules.search = Search::Draft { runs, drawn, tests: 0 };
        self.task.rules.confirm = self.task.rules.confirm.max(confirm(self));
        let tests = u32::try_from(tests(self)).unwrap_or(0);
        self.task.rules.search = Search::Draft { runs, drawn, tests };
        self.task.rules.max_iterations = u32::try_from(rounds(self)).unwrap_or(u32::MAX);
    }

    /// Sets aside a share of the chance of error for this many extensions of the final comparison, or for as many as
    /// leave a share with which it can win.
    pub fn set_aside(&mut self, extensions: u32) {
        let fits = |extensions: &u32| {
            let mut plan = self.clone();
            plan.extend_at_most(*extensions);
            plan.can_win()
        };
        let extensions = (1..=extensions).rev().find(fits).unwrap_or(0);
        self.extend_at_most(extensions);
    }

    fn extend_at_most(&mut self, extensions: u32) {
        self.task.rules.extensions = extensions;
        if let Search::Draft { runs, drawn, .. } = self.task.rules.search {
            self.draft_with(runs, drawn);
        }
    }

    fn can_win(&self) -> bool {
        let (fresh, alpha) = (measure::planned(self).len(), self.task.rules.alpha());
        let is_unpaired = self.task.runs().is_some_and(|(_, alone)| alone);
        self.basis().is_tested()
            && !self.interim_analyses().is_empty()
            && (!is_unpaired || proof::can_tell(first(self).len(), fresh, alpha))
    }
}

/// Returns the number of trials of a search, without those reserved for the final comparison.
pub fn trials(plan: &Plan) -> Option<usize> {
    let (runs, alone) = plan.task.runs()?;
    let versions = if alone { 1 } else { 2 };
    Some(runs.saturating_sub(versions * plan.task.rules.confirm as usize * measure::planned(plan).len()))
}

/// Returns the most rounds that those trials allow, and the tests among them.
pub fn rounds(plan: &Plan) -> usize {
    (trials(plan).unwrap_or(0) + plan.task.tests() + 1).saturating_sub(first(plan).len()).max(1)
}

/// Returns how many trials are tests too. With more runs than a few for each scenario, trials of one version that is no
/// longer edited show more; and further trials of an extension need scenarios that no improver has seen.
fn tests(plan: &Plan) -> usize {
    let (rules, Some((runs, true))) = (&plan.task.rules, plan.task.runs()) else { return 0 };
    let is_scarce = runs < RUNS_OF_EACH * plan.task.scenarios.len();
    if !is_scarce || rules.confirm > 1 || rules.extensions > 0 || plan.basis() != Basis::HeldOut {
        return 0;
    }
    let held_out = plan.task.scenarios.iter().filter(|scenario| scenario.held_out).count();
    held_out.min(runs.div_ceil(5) + MORE_TESTS)
}

const RUNS_OF_EACH: usize = 4;
/// A test that the search learns from costs it nothing, so there are more than a fifth.
const MORE_TESTS: usize = 2;

/// With fewer trials, nothing can be drafted.
pub const FEWEST: usize = FEWEST_FIRST + 2;

/// Returns the fresh trials of each version on each scenario that are reserved for the final comparison: about a
/// quarter of the runs, or one.
pub fn confirm(plan: &Plan) -> u32 {
    let pairs = measure::planned(plan).len().max(1);
    match plan.task.runs() {
        Some((_, true)) | None => 1,
        Some((runs, false)) => {
            u32::try_from(runs / (SHARE_OF_COMPARISON * 2 * pairs)).unwrap_or(u32::MAX).clamp(1, MOST_TRIALS)
        }
    }
}

const SHARE_OF_COMPARISON: usize = 4;
const MOST_TRIALS: u32 = 20;

/// Returns how often each scenario of the final comparison is tried, if the search has left more runs than are
/// reserved.
pub(crate) fn trials_left(run: &Run) -> Option<u32> {
    let (runs, _) = run.plan.task.runs()?;
    if control::tests(run).is_some() {
        return None;
    }
    // The challenger is not among the contestants yet.
    let each = (run.contestants().len() + 1) * measure::planned(&run.plan).len().max(1);
    let left = u32::try_from(runs.saturating_sub(made(run).count()) / each).unwrap_or(u32::MAX);
    Some(left.min(MOST_LEFT)).filter(|left| *left > run.plan.task.rules.confirm)
}

/// Returns the scenario of each trial that the search has made.
fn made(run: &Run) -> impl Iterator<Item = usize> + '_ {
    run.state.rounds.iter().flat_map(|round| round.scenarios.iter().copied())
}

/// Counts the trials that were not tests.
fn used(run: &Run) -> usize {
    let is_test = |scenario: usize| run.plan.task.tests() > 0 && run.plan.task.scenarios[scenario].held_out;
    made(run).filter(|scenario| !is_test(*scenario)).count()
}

/// More trials of each scenario would add little.
pub(crate) const MOST_LEFT: u32 = 10;

/// Returns the scenarios on which the start is tried first. The challenger is compared with those trials.
pub(crate) fn first(plan: &Plan) -> Vec<usize> {
    let searched = measure::searched(plan);
    let more = if plan.task.tests() > 0 { MORE_TESTS } else { 0 };
    let trials = trials(plan).unwrap_or(0) + more;
    let some = (trials * 3).div_ceil(10).clamp(FEWEST_FIRST, MOST_FIRST);
    searched.into_iter().take(some).collect()
}

pub(crate) fn search<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let Some(measured) = &round.measured else { return measure::next(run, round.candidate) };
    if measured.score.is_some() && round.result.is_none() {
        return Next::Decide(Decision::Keep(round.candidate));
    }
    if let Some(reason) = over(run) {
        return Next::Decide(Decision::Stop(reason));
    }
    match (&round.edit, &round.targets) {
        (Some(Edit::Draft { candidate, .. }), _) => open(run, *candidate).unwrap_or_else(finished),
        (None, Some(targets)) if !targets.is_empty() => rounds::improve(run, round),
        (None, None | Some(_)) | (Some(Edit::Nothing { .. }), _) => after_no_edit(run, round),
    }
}

/// Decides what follows a trial or a failed edit.
fn after_no_edit<'a>(run: &'a Run, round: &'a Round) -> Next<'a> {
    let (times, faults) = least_edited(run, round);
    let edit = |faults| Next::Decide(target(run, faults, round));
    if times == 0 && !faults.is_empty() {
        edit(faults)
    } else if round.targets.is_none() {
        edit(Vec::new())
    } else {
        let open = open(run, run.head());
        open.unwrap_or_else(|| if faults.is_empty() { finished() } else { edit(faults) })
    }
}

fn finished<'a>() -> Next<'a> {
    Next::Decide(Decision::Stop(Reason::Finished))
}

/// Returns the version that the last edit made, even if it has no trials yet.
pub(crate) fn newest(run: &Run) -> CandidateId {
    match run.state.rounds.last().and_then(|round| round.edit.as_ref()) {
        Some(Edit::Draft { candidate, .. }) => *candidate,
        Some(Edit::Nothing { .. }) | None => run.head(),
    }
}

fn over(run: &Run) -> Option<Reason> {
    let most = run.plan.task.rules.max_errors;
    if control::tests(run).is_some_and(|tests| tests.iter().all(|(_, version)| version.is_some())) {
        Some(Reason::Exhausted)
    } else if run.failed_edits().filter(|edit| edit.is_refused()).count() >= most as usize {
        Some(Reason::Refused)
    } else if run.failed_in_a_row() >= most {
        Some(Reason::Failed)
    } else if has_seen_enough(run) && (run.state.beliefs.edits_pay() < HARDLY || is_worse(run)) {
        Some(Reason::Stalled)
    } else {
        None
    }
}

/// Whether half of the trials are made and the skill is much worse than at first: such an improver will not fix it.
fn is_worse(run: &Run) -> bool {
    2 * used(run) >= trials(&run.plan).unwrap_or(0) && run.state.beliefs.lost() > MUCH
}

/// As a share of all statements.
const MUCH: f64 = 0.2;

/// Whether there are enough trials after edits to see if edits help.
fn has_seen_enough(run: &Run) -> bool {
    run.state.rounds.len() > FEWEST_TO_TELL
}

/// Below this chance of success, the runs are not worth it.
const HARDLY: f64 = 0.1;

fn most_at_once(round: &Round) -> usize {
    if round.number == 1 { AT_FIRST } else { LATER }
}

/// Selects the faults to edit now.
fn target(run: &Run, faults: Vec<CriterionId>, round: &Round) -> Decision {
    let (member, mut criteria) = credit::of_one_member(run, faults);
    criteria.truncate(most_at_once(round));
    Decision::Target { criteria, member }
}

/// Returns the probably real faults of the newest version with the fewest failed edits, and the number of those edits.
/// One edit of each improver counts as one.
fn least_edited(run: &Run, round: &Round) -> (usize, Vec<CriterionId>) {
    let words = |id| run.plan.task.statement(id);
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

/// Targets the member with the lowest score, whichever is at fault. Only simulated searches do so.
#[cfg(feature = "research")]
pub(crate) fn of_lowest(run: &Run, round: &Round) -> Decision {
    let mut criteria: Vec<CriterionId> = real_faults(round).map(|fault| fault.criterion.clone()).collect();
    criteria.truncate(most_at_once(round));
    Decision::Target { criteria, member: Some(rounds::weakest(run, run.head(), round)) }
}

/// Returns the faults of a round that are probably real, those that failed in most of its trials first.
fn real_faults(round: &Round) -> impl Iterator<Item = &Fault> {
    let mut real: Vec<&Fault> = round.faults.iter().filter(|fault| fault.chance < PROBABLY_MET).collect();
    real.sort_by(|one, other| other.times.cmp(&one.times).then(one.chance.total_cmp(&other.chance)));
    real.into_iter()
}

/// Statements with this chance or more are left alone, even after one failure.
pub(crate) const PROBABLY_MET: f64 = 0.7;

/// Opens the most informative scenario that this version was not tried on or, if none is left, the next test.
fn open(run: &Run, candidate: CandidateId) -> Option<Next<'_>> {
    let scenario = most_informative(run, candidate).or_else(|| next_test(run));
    match scenario {
        Some(scenario) => Some(measure::open(run, candidate, vec![scenario])),
        // Checked only here, so that faults of the last trial are still edited.
        None if is_used_up(run) => Some(Next::Decide(Decision::Stop(Reason::Exhausted))),
        None => None,
    }
}

fn is_used_up(run: &Run) -> bool {
    used(run) >= trials(&run.plan).unwrap_or(0)
}

fn next_test(run: &Run) -> Option<usize> {
    let mut tests = control::tests(run)?.into_iter();
    tests.find_map(|(scenario, version)| version.is_none().then_some(scenario))
}

fn most_informative(run: &Run, candidate: CandidateId) -> Option<usize> {
    if is_used_up(run) {
        return None;
    }
    let is_open = |scenario: &usize| {
        let trial = Trial { scenario: *scenario, ordinal: SEARCH, era: run.state.era };
        !panel::is_settled(run, candidate, trial)
    };
    let open =
        measure::searched(&run.plan).into_iter().filter(is_open).map(|one| (one, informativeness(run, one)));
    // On a tie the first one wins: the order follows the run's seed.
    open.reduce(|best, one| if one.1 > best.1 { one } else { best }).map(|(scenario, _)| scenario)
}

/// Returns how informative a trial of a scenario would be: the doubt about its statements, reduced if the scenario was
/// tried recently. An edit that fits one scenario too closely would not be noticed there.
fn informativeness(run: &Run, scenario: usize) -> f64 {
    let demands = &run.plan.task.scenarios[scenario].demands;
    let all: f64 = demands.iter().map(|demand| f64::from(demand.weight)).sum();
    let doubt = |demand: &Demand| {
        let chance = run.state.beliefs.chance(&demand.words());
        f64::from(demand.weight) * chance * (1.0 - chance)
    };
    let doubt = if all > 0.0 { demands.iter().map(doubt).sum::<f64>() / all } else { 1.0 };
    let since = run.state.rounds.iter().rev().position(|round| round.scenarios.contains(&scenario));
    let age = since.and_then(|since| u32::try_from(since + 1).ok()).map_or(f64::INFINITY, f64::from);
    doubt * (1.0 - (-age / SHORT_WHILE).exp())
}

/// Measured in trials.
const SHORT_WHILE: f64 = 5.0;
