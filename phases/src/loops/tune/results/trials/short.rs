//! Trials that fell short: material for new demands in a suite.

use super::{JudgedTrial, judged_trials, wanting};
use crate::base::id::Digest;
use crate::judging::score::Score;
use crate::loops::tune::Run;
use crate::suites::demand::Demand;
use crate::suites::scenario::Scenario;

/// A trial, and what failed in it.
#[derive(Clone, Debug)]
pub struct Short<'a> {
    pub judged: JudgedTrial<'a>,
    pub demands: Vec<Demand>,
}

/// Returns all trials of a run that fell short.
pub fn short(run: &Run) -> Vec<Short<'_>> {
    let all = judged_trials(run).into_iter().map(|judged| Short { demands: wanting(run, &judged), judged });
    all.filter(|short| !short.demands.is_empty()).collect()
}

/// Returns the worst of them, on a tie the newest.
pub fn worst<'s, 'a>(short: impl Iterator<Item = &'s Short<'a>>) -> Option<&'s Short<'a>> {
    let points =
        |short: &Short<'_>| short.judged.judgement.whole.scored.composite.map_or(f64::MAX, Score::points);
    short.reduce(|worst, next| if points(next) <= points(worst) { next } else { worst })
}

/// Returns what the suite of a run does not ask yet: the worst trial of the remaining version for each scenario. A
/// scenario with demands, or with the task of one that has them, is in the suite already; a held-out one would become
/// known to the search.
pub fn unasked(run: &Run) -> Vec<Short<'_>> {
    let scenarios = &run.plan.task.scenarios;
    let left = run.state.shipment.as_ref().map_or_else(|| run.head(), |shipment| shipment.champion);
    let of_left: Vec<Short<'_>> =
        short(run).into_iter().filter(|short| short.judged.candidate == left).collect();
    let is_asked = |task: &Scenario| {
        scenarios.iter().any(|one| one.has_task_of(task) && (!one.demands.is_empty() || one.held_out))
    };
    let open = (0..scenarios.len()).filter(|&nth| !is_asked(&scenarios[nth]));
    let worst_of = |nth| worst(of_left.iter().filter(|short| short.judged.trial.scenario == nth));
    open.filter_map(worst_of).cloned().collect()
}

impl Short<'_> {
    /// Returns a digest that is the same for all trials of one version at one task: another trial has other faults, or
    /// the same ones in other words.
    pub fn mark(&self, run: &Run) -> Digest {
        let scenario = &run.plan.task.scenarios[self.judged.trial.scenario];
        let files = scenario.files.map(|files| files.to_string()).unwrap_or_default();
        let version = self.judged.candidate.to_string();
        let parts = [version.as_str(), &scenario.description, &scenario.input_args, &files];
        Digest::of_parts(parts.map(str::as_bytes))
    }
}
