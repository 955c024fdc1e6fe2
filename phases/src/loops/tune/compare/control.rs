//! The versions that a final comparison tries: both side by side, or only the challenger, against the start's first
//! trials.

use crate::judging::proof;
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{Basis, Run, Seat, Trial};

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
    let fresh = measure::compared(&run.plan).len();
    proof::can_tell(control.len(), fresh, run.plan.task.rules.alpha()).then_some(control)
}
