//! The versions that a final comparison tries: both side by side, or only the challenger, against the start's first
//! trials. With few runs, the last trials of the search are those of the challenger.

use crate::base::id::CandidateId;
use crate::judging::proof;
use crate::loops::tune::trial::measure::{self, Measure, SEARCH};
use crate::loops::tune::{Basis, Run, Seat, StoredTest, Trial};

/// Returns the start's first trials if fresh trials of the challenger can be compared with them: the scenarios of both
/// versions were drawn, not chosen, the same judge judged them, and no agent has changed since.
pub(crate) fn trials(run: &Run) -> Option<Vec<Trial>> {
    let rounds = &run.state.rounds;
    let round = match run.plan.task.regraded() {
        // The trials as the newest judge judged them.
        Some(of) => rounds.last().filter(|_| of.unpaired)?,
        None => rounds.first().filter(|_| run.plan.task.runs().is_some_and(|(_, alone)| alone))?,
    };
    let is_like = round.era == run.state.era && run.state.panel.first == Seat::First;
    if !is_like || run.plan.basis() != Basis::HeldOut {
        return None;
    }
    let trial = |&scenario: &usize| Trial { scenario, ordinal: SEARCH, era: round.era };
    let is_scored = |trial: &Trial| measure::unit_by(run, run.start(), *trial, Seat::First).score().is_some();
    let control: Vec<Trial> = round.scenarios.iter().map(trial).filter(is_scored).collect();
    let fresh = measure::planned(&run.plan).len();
    proof::can_tell(control.len(), fresh, run.plan.task.rules.alpha()).then_some(control)
}

/// A held-out scenario, and the version that the search has tried on it, if it has.
pub(crate) type Test = (usize, Option<CandidateId>);

/// Returns the trials of the search that are the challenger's side of the final comparison, in their order. Returns
/// `None` if the challenger is tried itself.
pub(crate) fn tests(run: &Run) -> Option<Vec<Test>> {
    let stored = run.plan.task.regraded().map_or(&[][..], |of| &of.tests);
    if (run.plan.task.tests() == 0 && stored.is_empty()) || trials(run).is_none() {
        return None;
    }
    if !stored.is_empty() {
        let test = |test: &StoredTest| (test.scenario, Some(test.version().id));
        return Some(stored.iter().map(test).collect());
    }
    let tried = |scenario: usize| {
        let mut rounds = run.state.rounds.iter().filter(|round| round.era == run.state.era);
        rounds.find(|round| round.scenarios.contains(&scenario)).map(|round| round.candidate)
    };
    let tests = measure::planned(&run.plan).into_iter().map(|scenario| (scenario, tried(scenario)));
    Some(tests.collect())
}

/// Returns the measurement that the final comparison begins with.
pub(crate) fn measure(run: &Run) -> Measure {
    let (Some(tests), Some(challenger)) = (tests(run), run.state.challenger) else {
        return Measure::fresh(run, compared(run), run.contestants()).by(run.state.panel.first);
    };
    // The challenger makes the tests that the search has not made.
    let version = |(scenario, version): Test| (scenario, version.unwrap_or(challenger));
    let (scenarios, versions) = tests.into_iter().map(version).unzip();
    Measure::of_tests(run, challenger, scenarios, versions)
}

/// Returns the scenarios of the final comparison. An improver may have seen the faults of some, if the trials on them
/// cannot count: these are left out if enough others remain.
pub(crate) fn compared(run: &Run) -> Vec<usize> {
    let planned = measure::planned(&run.plan);
    if run.plan.task.tests() == 0 || trials(run).is_some() {
        return planned;
    }
    let mut unseen = measure::held_out(&run.plan);
    unseen.retain(|scenario| !is_seen(run, *scenario));
    unseen.truncate(planned.len());
    if unseen.len() < run.plan.task.rules.confidence.fewest_pairs() { planned } else { unseen }
}

fn is_seen(run: &Run, scenario: usize) -> bool {
    run.state.rounds.iter().any(|round| round.scenarios.contains(&scenario))
}

impl Run {
    /// Returns the evidence of its final comparison. Scenarios that the search has seen favour its champion, unless the
    /// trials that count were made before.
    pub fn basis(&self) -> Basis {
        let of_plan = self.plan.basis();
        let is_known = || {
            let compared = compared(self);
            self.plan.task.tests() > 0 && compared.into_iter().any(|scenario| is_seen(self, scenario))
        };
        let is_searched = of_plan == Basis::HeldOut && trials(self).is_none() && is_known();
        if is_searched { Basis::Searched } else { of_plan }
    }
}
