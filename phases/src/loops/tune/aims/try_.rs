//! Tries all scenarios without a skill. Nothing follows from their scores.

use super::{AimRules, measure_start, scores};
use crate::judging::score::Score;
use crate::loops::tune::{Aim, Decision, Ending, Next, Round, Run};
use crate::suites::scenario::Scenario;

pub(super) struct Try;

impl AimRules for Try {
    fn next<'a>(&self, run: &'a Run, round: Option<&'a Round>) -> Next<'a> {
        measure_start(run, round, Vec::new()).unwrap_or(Next::Decide(Decision::Close(Ending::Exercised)))
    }

    fn is_judged(&self, run: &Run) -> bool {
        results(run).iter().all(WithoutSkill::is_whole)
    }
}

/// One scenario, tried without the skill.
#[derive(Clone, Debug, PartialEq)]
pub struct WithoutSkill<'a> {
    pub scenario: &'a Scenario,
    /// The scores of the trials that have one.
    pub scores: Vec<Score>,
    /// The planned number of trials.
    pub trials: usize,
}

impl WithoutSkill<'_> {
    pub fn is_whole(&self) -> bool {
        self.scores.len() == self.trials
    }

    /// Whether all its trials meet all demands. Unknown while some are missing and none has failed.
    pub fn passes(&self) -> Option<bool> {
        let is_full = |score: &Score| *score == Score::FULL;
        if self.scores.iter().all(is_full) { self.is_whole().then_some(true) } else { Some(false) }
    }
}

/// Returns the results so far, in the order of the scenarios. Empty if the run uses a skill.
pub fn results(run: &Run) -> Vec<WithoutSkill<'_>> {
    let Aim::Try { trials } = run.plan.task.aim else { return Vec::new() };
    if run.state.rounds.is_empty() {
        return Vec::new();
    }
    let of = |(scenario, scores)| WithoutSkill { scenario, scores, trials: trials as usize };
    run.plan.task.scenarios.iter().zip(scores(run)).map(of).collect()
}
