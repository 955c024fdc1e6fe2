//! What a run does for each aim, in one file per aim.

pub mod calibrate;
pub(super) mod compare;
pub(super) mod improve;
pub mod regrade;
pub mod try_;

use crate::judging::score::Score;
use crate::loops::MostCalls;
use crate::loops::tune::compare::panel;
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{Aim, Next, Plan, Round, Run, Trial, calls};

/// What a run of one aim does.
pub(super) trait AimRules {
    /// Returns what follows, until the run closes. `round` is the newest one.
    fn next<'a>(&self, run: &'a Run, round: Option<&'a Round>) -> Next<'a>;

    /// Counts the calls of a run in which no call fails; by default those of one round that tries all scenarios.
    fn calls(&self, plan: &Plan) -> MostCalls {
        calls::of_trials(plan)
    }

    /// Returns whether a run that compared nothing has judged enough.
    fn is_judged(&self, _: &Run) -> bool {
        true
    }
}

impl Aim {
    pub(super) fn rules(&self) -> &'static dyn AimRules {
        match self {
            Self::Improve => &improve::Improve,
            Self::Try { .. } => &try_::Try,
            Self::Calibrate { .. } => &calibrate::Calibrate,
            Self::Compare(_) => &compare::Compare,
        }
    }
}

/// Measures the start in a round of its own. Returns `None` when that is done.
fn measure_start<'a>(run: &'a Run, round: Option<&Round>, scenarios: Vec<usize>) -> Option<Next<'a>> {
    let Some(round) = round else { return Some(measure::open(run, run.start(), scenarios)) };
    round.measured.is_none().then(|| measure::next(run, round.candidate))
}

/// Returns the scores of each scenario's trials, without those that have none.
fn scores(run: &Run) -> Vec<Vec<Score>> {
    let (trials, scenarios) = (run.plan.task.aim.trials().unwrap_or(0), 0..run.plan.task.scenarios.len());
    let Some(round) = run.state.rounds.last() else { return scenarios.map(|_| Vec::new()).collect() };
    let trial = |scenario, nth| Trial { scenario, ordinal: SEARCH + nth, era: round.era };
    let score = |scenario, nth| panel::score_of(run, round.candidate, trial(scenario, nth));
    scenarios.map(|scenario| (0..trials).filter_map(|nth| score(scenario, nth)).collect()).collect()
}
