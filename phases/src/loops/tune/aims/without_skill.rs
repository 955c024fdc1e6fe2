//! Trials without a skill: the number of calls they need, and their results.

use crate::judging::score::Score;
use crate::loops::tune::compare::panel;
use crate::loops::tune::trial::measure::SEARCH;
use crate::loops::tune::{Aim, Round, Run, Trial};
use crate::suites::scenario::Scenario;

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
    let Some(round) = run.state.rounds.last() else { return Vec::new() };
    let scenarios = run.plan.task.scenarios.iter().enumerate();
    let of = |(nth, scenario)| WithoutSkill {
        scenario,
        scores: scores(run, round, nth, trials),
        trials: trials as usize,
    };
    scenarios.map(of).collect()
}

/// Returns the scores of a scenario's trials in a round, without those that have none.
pub(crate) fn scores(run: &Run, round: &Round, scenario: usize, trials: u32) -> Vec<Score> {
    let trial = |nth| Trial { scenario, ordinal: SEARCH + nth, era: round.era };
    (0..trials).filter_map(|nth| panel::score_of(run, round.candidate, trial(nth))).collect()
}

/// Returns the results of one scenario of a suite, if the run tried its current version.
pub fn of<'a>(run: &'a Run, scenario: &Scenario) -> Option<WithoutSkill<'a>> {
    let asked = scenario.without_skill()?;
    results(run).into_iter().find(|one| *one.scenario == asked)
}
