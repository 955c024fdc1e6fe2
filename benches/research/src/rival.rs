//! An external search in the same world: it tries and improves versions as it likes, and the same agents answer.
//!
//! It names versions by numbers: 0 is the start. Runs are counted here, so that no search gets free trials.

use std::collections::HashMap;

use serde::Serialize;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::judging::proof::{self, Conclusion, Confidence, Weights};
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::search::drafting;
use skilltune_phases::loops::tune::trial::measure;
use skilltune_phases::loops::tune::{Improver, Plan, Search};
use skilltune_phases::research;
use skilltune_phases::suites::demand::{self, Demand};

use super::policy::Policy;
use super::workshop::Workshop;
use super::world::World;

/// An external search with its budget of executor runs.
#[derive(Debug)]
pub struct Rival {
    world: World,
    workshop: Workshop,
    versions: Vec<TreeId>,
    /// The first trial of each version on each scenario: its output and its score.
    first: HashMap<(usize, usize), (TreeId, f64)>,
    /// The plan of `draft` for this budget.
    plan: Plan,
}

/// One trial: its score in points, and the judge's verdict on each statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    pub score: f64,
    pub statements: Vec<Statement>,
}

/// Statements of different scenarios may have the same words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    pub id: CriterionId,
    pub words: String,
    pub is_met: bool,
}

impl Rival {
    pub fn new(world: World, runs: u32, confidence: Confidence) -> Self {
        let mut plan = Policy::Draft.plan(&world, runs, confidence);
        // An external search does not edit between the trials that count.
        if let Search::Draft { tests, .. } = &mut plan.task.rules.search {
            *tests = 0;
        }
        let (workshop, versions) = (Workshop::of(&world), vec![TreeId(world.start[0].version())]);
        Self { world, workshop, versions, first: HashMap::new(), plan }
    }

    /// Returns the number of scenarios.
    pub fn scenarios(&self) -> usize {
        self.world.scenarios.len()
    }

    /// Returns the scenarios that the final comparison leaves to a search. The first of them are those of the control.
    pub fn searched(&self) -> Vec<usize> {
        measure::searched(&self.plan)
    }

    /// Returns the number of executor runs that it leaves.
    pub fn search_runs(&self) -> usize {
        drafting::trials(&self.plan).unwrap_or(0)
    }

    /// Returns the number of executor runs so far.
    pub fn runs(&self) -> u32 {
        self.workshop.runs()
    }

    /// Returns the true worth of a version; `None` if there is no such version.
    pub fn truth(&self, version: usize) -> Option<f64> {
        Some(self.world.truth(std::slice::from_ref(self.workshop.skill(*self.versions.get(version)?)?)))
    }

    /// Makes a new trial of a version, like a round of ours.
    pub fn attempt(&mut self, version: usize, scenario: usize) -> Option<TrialResult> {
        let (artifacts, verdicts) = self.execute(version, scenario)?;
        let (score, of) = (score(&self.world, scenario, &verdicts), &self.world.scenarios[scenario]);
        self.first.entry((version, scenario)).or_insert((artifacts, score));
        let statement = |(one, (_, verdict)): (&Demand, &(_, Verdict))| Statement {
            id: of.criterion(one),
            words: one.improver_text(),
            is_met: *verdict == Verdict::Pass,
        };
        Some(TrialResult { score, statements: of.demands.iter().zip(&verdicts).map(statement).collect() })
    }

    fn execute(&mut self, version: usize, scenario: usize) -> Option<(TreeId, Verdicts)> {
        let tree = *self.versions.get(version)?;
        self.world.scenarios.get(scenario)?;
        let artifacts = self.workshop.execute(&self.world, tree, None, scenario)?;
        Some((artifacts, self.workshop.judge(&self.world, &[artifacts])?.verdicts))
    }

    /// Creates a new version with an improver that gets these statements, and returns its number.
    pub fn improve(&mut self, version: usize, missed: &[CriterionId]) -> Option<usize> {
        let tree = *self.versions.get(version)?;
        self.versions.push(self.workshop.improve(&self.world, tree, missed.iter(), Improver::First)?);
        Some(self.versions.len() - 1)
    }

    /// Returns the gain of a version over the start in points, if it is shown as in `draft`: new trials of this version
    /// alone are compared with the first trials of the start, all judged twice, on the scenarios where `draft` would
    /// have made them. These trials are fixed before the search, so that no search can choose a low control.
    ///
    /// Returns `None` for a search that has seen held-out scenarios.
    pub fn confirm(&mut self, version: usize) -> Option<f64> {
        let is_held_out = |scenario: usize| self.plan.task.scenarios[scenario].held_out;
        if self.first.keys().any(|(_, scenario)| is_held_out(*scenario)) {
            return None;
        }
        let control = self.firsts(0, research::first_scenarios(&self.plan))?;
        let held_out = measure::planned(&self.plan);
        let each = (self.runs_left() / held_out.len().max(1)).clamp(1, research::MOST_TRIALS as usize);
        let fresh: Option<Vec<f64>> =
            held_out.into_iter().map(|scenario| self.mean(version, scenario, each)).collect();
        let fresh = fresh?;
        let effect =
            proof::unpaired_effect(&control, &fresh, Weights::Equal, self.plan.task.rules.confidence.alpha());
        (effect.conclusion() == Conclusion::Win).then_some(effect.points)
    }

    /// Returns the scores of the first trials, judged twice. Makes the missing trials now.
    fn firsts(&mut self, version: usize, scenarios: Vec<usize>) -> Option<Vec<f64>> {
        let first = |scenario| {
            if !self.first.contains_key(&(version, scenario)) {
                self.attempt(version, scenario)?;
            }
            let (artifacts, score) = *self.first.get(&(version, scenario))?;
            Some(f64::midpoint(score, self.again(scenario, artifacts)?))
        };
        scenarios.into_iter().map(first).collect()
    }

    /// Returns the mean score of this many new trials, each judged twice.
    fn mean(&mut self, version: usize, scenario: usize, trials: usize) -> Option<f64> {
        let trial = |_| {
            let (artifacts, verdicts) = self.execute(version, scenario)?;
            let first = score(&self.world, scenario, &verdicts);
            Some(f64::midpoint(first, self.again(scenario, artifacts)?))
        };
        let scores: Option<Vec<f64>> = (0..trials).map(trial).collect();
        let scores = scores?;
        Some(scores.iter().sum::<f64>() / scores.iter().map(|_| 1.0).sum::<f64>())
    }

    /// Returns the score by a judge that is asked once more.
    fn again(&mut self, scenario: usize, artifacts: TreeId) -> Option<f64> {
        let verdicts = self.workshop.judge(&self.world, &[artifacts])?.verdicts;
        Some(score(&self.world, scenario, &verdicts))
    }

    fn runs_left(&self) -> usize {
        research::runs(&self.plan).saturating_sub(self.runs() as usize)
    }
}

type Verdicts = Vec<(CriterionId, Verdict)>;

/// Returns the score in points.
fn score(world: &World, scenario: usize, verdicts: &Verdicts) -> f64 {
    let judged = world.scenarios[scenario].demands.iter().zip(verdicts.iter().map(|(_, verdict)| *verdict));
    demand::scored(judged).composite.map_or(0.0, Score::points)
}
