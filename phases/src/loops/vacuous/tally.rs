//! The results of past trials of a scenario. A scenario that every version meets, or none, does not tell versions
//! apart.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Trials, Vacuous, Why};
use crate::base::id::CandidateId;
use crate::base::name::Name;
use crate::judging::score::Score;
use crate::loops::tune::Run;
use crate::loops::tune::aims::try_;
use crate::loops::tune::results::trials::{JudgedTrial, verdicts};
use crate::suites::demand::Demand;
use crate::suites::scenario::Scenario;

/// Fewer trials, or trials of one version, are not enough evidence.
const LEAST_TRIALS: usize = 4;
const LEAST_VERSIONS: usize = 2;

/// The trials of one scenario over all runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    whole: Count,
    demands: BTreeMap<Name, Count>,
    known: HashSet<(CandidateId, u32, u32, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Count {
    met: usize,
    missed: usize,
    /// Trials that met it in part.
    between: usize,
    versions: BTreeSet<CandidateId>,
}

impl Tally {
    /// Adds a trial of a run if it had the same scenario id and task. A demand counts if the run asked the same, and
    /// the scenario counts if the run asked all the same.
    pub fn add(&mut self, run: &Run, one: &JudgedTrial<'_>, scenario: &Scenario) {
        let planned = &run.plan.task.scenarios[one.trial.scenario];
        let is_same = planned.id == scenario.id && planned.description == scenario.description;
        // Runs of the same version share their answers.
        let trial = (one.candidate, one.trial.ordinal, one.trial.era, run.plan.epoch);
        if is_same && self.known.insert(trial) {
            self.add_trial(one, planned, scenario);
        }
    }

    fn add_trial(&mut self, one: &JudgedTrial<'_>, planned: &Scenario, scenario: &Scenario) {
        let is_asked = |demand: &&Demand| scenario.demands.iter().any(|own| is_alike(own, demand));
        let is_all = planned.demands.len() == scenario.demands.len()
            && planned.demands.iter().all(|demand| is_asked(&demand));
        if let (true, Some(score)) = (is_all, one.judgement.whole.scored.composite) {
            let met = if score == Score::FULL { Some(true) } else { (score == Score::ZERO).then_some(false) };
            self.whole.add(one.candidate, met);
        }
        for (demand, met) in verdicts(planned, one.judgement).filter(|(demand, _)| is_asked(demand)) {
            self.demands.entry(demand.id.clone()).or_default().add(one.candidate, Some(met));
        }
    }
}

/// Returns whether both ask the same. Their weights do not matter.
fn is_alike(one: &Demand, other: &Demand) -> bool {
    (&one.id, &one.how, &one.member) == (&other.id, &other.how, &other.member)
}

impl Count {
    fn add(&mut self, version: CandidateId, met: Option<bool>) {
        match met {
            Some(true) => self.met += 1,
            Some(false) => self.missed += 1,
            None => self.between += 1,
        }
        self.versions.insert(version);
    }

    fn why(&self) -> Option<Why> {
        let shown = Trials { trials: self.met + self.missed + self.between, versions: self.versions.len() };
        let is_enough = shown.trials >= LEAST_TRIALS && shown.versions >= LEAST_VERSIONS;
        match (self.met == shown.trials, self.missed == shown.trials) {
            (true, _) if is_enough => Some(Why::NeverFails(shown)),
            (_, true) if is_enough => Some(Why::NeverPasses(shown)),
            _ => None,
        }
    }
}

/// Returns what the trials never tell apart: the scenario, or else single demands of it.
pub fn never(scenario: &Scenario, tally: &Tally) -> Vec<Vacuous> {
    let vacuous = |demand: Option<&Demand>, why: Why| Vacuous {
        scenario: scenario.id.clone(),
        demand: demand.map(|demand| demand.id.clone()),
        why,
    };
    if let Some(why) = tally.whole.why() {
        return vec![vacuous(None, why)];
    }
    let demands = scenario.demands.iter();
    demands.filter_map(|demand| Some(vacuous(Some(demand), tally.demands.get(&demand.id)?.why()?))).collect()
}

/// Returns the scenario if it passes without the skill, an empty list if it does not, or None if the run does not show
/// it.
pub fn passes_without(run: &Run, scenario: &Scenario) -> Option<Vec<Vacuous>> {
    let asked = scenario.without_skill()?;
    let result = try_::results(run).into_iter().find(|one| *one.scenario == asked)?;
    let why = Why::PassesWithout { trials: result.trials };
    let named = Vacuous { scenario: scenario.id.clone(), demand: None, why };
    result.passes().map(|passes| if passes { vec![named] } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Digest, TreeId};
    use crate::skills::candidate::Candidate;

    fn why(met: &[(u8, Option<bool>)]) -> Option<&'static str> {
        let version = |nth: u8| Candidate::original(vec![TreeId(Digest::of(&[nth]))]).id;
        let mut count = Count::default();
        for &(nth, met) in met {
            count.add(version(nth), met);
        }
        count.why().map(|why| why.id())
    }

    #[test]
    fn four_trials_of_two_versions_that_agree_show_something() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(why(&[(1, yes), (1, yes), (2, yes), (2, yes)]), Some("never-fails"));
        assert_eq!(why(&[(1, no), (2, no), (2, no), (2, no)]), Some("never-passes"));
        assert_eq!(why(&[(1, yes), (1, yes), (2, yes)]), None, "too few trials");
        assert_eq!(why(&[(1, yes), (1, yes), (1, yes), (1, yes)]), None, "one version");
        assert_eq!(why(&[(1, yes), (1, yes), (2, yes), (2, yes), (2, no)]), None);
        assert_eq!(why(&[(1, no), (1, no), (2, no), (2, no), (2, None)]), None, "something was met");
        assert_eq!(why(&[]), None);
    }
}
