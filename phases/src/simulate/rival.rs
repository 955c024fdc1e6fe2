//! A search that is not ours, in the same world: it tries and improves versions as it likes, and the same agents answer.
//!
//! It names versions by numbers: 0 is the start. What is counted is counted here, so that no search can try for free.

use std::collections::HashMap;

use serde::Serialize;

use super::policy::Policy;
use super::workshop::Workshop;
use super::world::World;
use crate::contract::{CriterionId, Verdict};
use crate::demand;
use crate::id::TreeId;
use crate::loops::tune::{Plan, drafting, measure};
use crate::proof::{self, Conclusion, Confidence};
use crate::score::Score;

/// A search of somebody else, with its budget of executor runs.
#[derive(Debug)]
pub struct Rival {
    world: World,
    workshop: Workshop,
    versions: Vec<TreeId>,
    /// The score of the first trial of each version on each scenario.
    first: HashMap<(usize, usize), f64>,
    /// What `draft` would do with this budget.
    plan: Plan,
}

/// One trial: its score in points, and what the judge says of each statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    pub score: f64,
    pub statements: Vec<Statement>,
}

/// Statements of several scenarios may have the same words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    pub id: CriterionId,
    pub words: String,
    pub is_met: bool,
}

impl Rival {
    pub fn new(world: World, runs: u32, confidence: Confidence) -> Self {
        let plan = Policy::Draft.plan(&world, runs, confidence);
        let (workshop, versions) = (Workshop::of(&world), vec![TreeId(world.start.version())]);
        Self { world, workshop, versions, first: HashMap::new(), plan }
    }

    /// How many scenarios there are.
    pub fn scenarios(&self) -> usize {
        self.world.scenarios.len()
    }

    /// Those that the final comparison leaves to a search. The first of them are those of the control.
    pub fn searched(&self) -> Vec<usize> {
        measure::searched(&self.plan)
    }

    /// How many executor runs it leaves.
    pub fn search_runs(&self) -> usize {
        drafting::trials(&self.plan).unwrap_or(0)
    }

    /// How often an executor was run.
    pub fn runs(&self) -> u32 {
        self.workshop.runs()
    }

    /// What a version is truly worth; nothing, if there is no such version.
    pub fn truth(&self, version: usize) -> Option<f64> {
        Some(self.world.truth(self.workshop.skill(*self.versions.get(version)?)?))
    }

    /// A fresh trial of a version, as a round of ours would make it.
    pub fn attempt(&mut self, version: usize, scenario: usize) -> Option<Tried> {
        let tree = *self.versions.get(version)?;
        let of = self.world.scenarios.get(scenario)?;
        let artifacts = self.workshop.execute(&self.world, tree, scenario)?;
        let verdicts = self.workshop.judge(&self.world, artifacts)?;
        let judged = of.demands.iter().zip(verdicts.iter().map(|(_, verdict)| *verdict));
        let score = demand::scored(judged.clone()).composite.map_or(0.0, Score::points);
        self.first.entry((version, scenario)).or_insert(score);
        let statement = |(one, verdict)| Statement {
            id: of.criterion(one),
            words: one.told(),
            is_met: verdict == Verdict::Pass,
        };
        Some(Tried { score, statements: judged.map(statement).collect() })
    }

    /// The number of a new version, made by an improver who is told these statements.
    pub fn improve(&mut self, version: usize, missed: &[CriterionId]) -> Option<usize> {
        let tree = *self.versions.get(version)?;
        self.versions.push(self.workshop.improve(&self.world, tree, missed.iter())?);
        Some(self.versions.len() - 1)
    }

    /// By how many points a version is better than the start, if that is shown as `draft` shows it: fresh trials of this
    /// version alone meet the first ones of the start, on the scenarios where `draft` would have made those. Which
    /// trials these are is settled before the search, so that no search can choose a low control.
    ///
    /// It shows nothing to a search that has seen what is held out.
    pub fn confirm(&mut self, version: usize) -> Option<f64> {
        let is_held_out = |scenario: usize| self.plan.task.scenarios[scenario].held_out;
        if self.first.keys().any(|(_, scenario)| is_held_out(*scenario)) {
            return None;
        }
        let control = self.firsts(0, drafting::first(&self.plan))?;
        let held_out = measure::compared(&self.plan);
        let each = (self.runs_left() / held_out.len().max(1)).clamp(1, drafting::MOST_LEFT as usize);
        let fresh: Option<Vec<f64>> =
            held_out.into_iter().map(|scenario| self.mean(version, scenario, each)).collect();
        let fresh = fresh?;
        let effect = proof::apart(&control, &fresh, self.plan.task.rules.confidence.alpha());
        (effect.conclusion() == Conclusion::Win).then_some(effect.points)
    }

    /// The scores of the first trials. Those that were not made yet are made now.
    fn firsts(&mut self, version: usize, scenarios: Vec<usize>) -> Option<Vec<f64>> {
        let first = |scenario| match self.first.get(&(version, scenario)) {
            Some(score) => Some(*score),
            None => Some(self.attempt(version, scenario)?.score),
        };
        scenarios.into_iter().map(first).collect()
    }

    /// That of so many fresh trials.
    fn mean(&mut self, version: usize, scenario: usize, trials: usize) -> Option<f64> {
        let scores: Option<Vec<f64>> =
            (0..trials).map(|_| Some(self.attempt(version, scenario)?.score)).collect();
        let scores = scores?;
        Some(scores.iter().sum::<f64>() / scores.iter().map(|_| 1.0).sum::<f64>())
    }

    fn runs_left(&self) -> usize {
        let all = self.plan.task.runs().map_or(0, |(runs, _)| runs);
        all.saturating_sub(self.runs() as usize)
    }
}
