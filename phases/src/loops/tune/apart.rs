//! Who is tried in a final comparison, and how: both versions side by side, or the challenger alone against the start's first trials.

use super::measure::{self, SEARCH};
use super::{Basis, Run, Seat, Trial};
use crate::id::CandidateId;
use crate::proof::{self, Look};

impl Run {
    /// How often each version is tried on each scenario of the final comparison.
    pub fn confirm(&self) -> u32 {
        self.state.trials.unwrap_or(self.plan.task.rules.confirm)
    }

    /// Who is tried on fresh trials: both, or the challenger alone.
    pub(super) fn contestants(&self) -> Vec<CandidateId> {
        let start = std::iter::once(self.start()).filter(|_| control(self).is_none());
        start.chain(self.state.challenger).collect()
    }

    /// The looks at the final comparison. There is one at what are no pairs.
    pub fn looks(&self) -> Vec<Look> {
        let looks = self.plan.looks();
        let last = looks.last().map_or(0, |look| look.pairs);
        let alpha = self.plan.task.rules.confidence.alpha();
        if control(self).is_some() { vec![Look { pairs: last, alpha }] } else { looks }
    }
}

/// The start's first trials, where fresh ones of the challenger may be compared with them: nobody has chosen which scenarios either
/// version got, the same judge judged them, and no agent has changed since.
pub(super) fn control(run: &Run) -> Option<Vec<Trial>> {
    let rounds = &run.state.rounds;
    let round = match run.plan.task.regraded() {
        // The newest judge's.
        Some(of) => rounds.last().filter(|_| of.apart)?,
        None => rounds.first().filter(|_| run.plan.task.runs().is_some_and(|(_, alone)| alone))?,
    };
    let is_like = round.era == run.state.era && run.state.panel.first == Seat::First;
    if !is_like || run.plan.basis() != Basis::HeldOut {
        return None;
    }
    let trial = |&scenario: &usize| Trial { scenario, ordinal: SEARCH, era: round.era };
    let is_scored = |trial: &Trial| measure::unit_by(run, run.start(), *trial, Seat::First).score().is_some();
    let control: Vec<Trial> = round.scenarios.iter().map(trial).filter(is_scored).collect();
    let fresh = measure::compared(&run.plan).len();
    proof::can_tell(control.len(), fresh, run.plan.task.rules.confidence.alpha()).then_some(control)
}
