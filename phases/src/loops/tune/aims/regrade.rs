//! Judges the final comparison of an older run again: it reuses the results of its executors and executes nothing.
//!
//! ```text
//! older run + suite as it is now -> scenarios whose task is the same + the answers of their executors -> a comparison of its own
//! ```
//!
//! The answers are the first records of the new run, so its journal is complete on its own. A trial without an answer
//! is missing. If the older run compared trials of the challenger with the start's first ones, the latter are measured
//! first, in a separate round.

use std::collections::HashSet;

use super::measure_start;
use crate::base::delivery::Delivery;
use crate::base::id::TreeId;
use crate::loops::tune::compare::control;
use crate::loops::tune::trial::graded;
use crate::loops::tune::trial::measure::{self, Measure};
use crate::loops::tune::{
    Answer, Done, LeftOut, Next, Outcome, Plan, Regraded, Round, Run, Step, StoredTest, Trial,
};
use crate::runs::event::{Failure, Spent};
use crate::skills::candidate::Candidate;
use crate::suites::scenario::Scenario;

/// An older comparison, ready to be judged again.
#[derive(Clone, Debug)]
pub struct Regrading {
    pub scenarios: Vec<Scenario>,
    /// The two versions.
    pub start: Candidate,
    pub challenger: Candidate,
    pub regraded: Regraded,
    /// Those whose faults an improver has seen in an earlier run: they came last.
    pub seen: Vec<usize>,
    /// How often each version was tried on each scenario.
    pub confirm: u32,
    /// The answers of its executors.
    pub answers: Vec<Done>,
}

/// The reason why a run has no comparison to judge again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoComparison {
    /// It has not ended.
    Open,
    /// It ended without a comparison.
    None,
}

/// Reuses what fits the current suite. Scenarios are matched by name.
pub fn regrade(old: &Run, suite: &[Scenario]) -> Result<Regrading, NoComparison> {
    let stored = Stored::of(old)?;
    let (mut scenarios, mut numbers, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, before) in old.plan.task.scenarios.iter().enumerate().filter(|(nth, _)| stored.has(*nth)) {
        match stored.as_now(nth, suite) {
            Ok(now) => {
                numbers.push(nth);
                scenarios.push(now);
            }
            Err(why) => left_out.push((before.id.clone(), why)),
        }
    }
    let is_new = |now: &&Scenario| old.plan.task.scenarios.iter().all(|before| before.id != now.id);
    left_out.extend(suite.iter().filter(is_new).map(|now| (now.id.clone(), LeftOut::New)));
    let mut taken = Taken::default();
    for (new, (&nth, now)) in numbers.iter().zip(&scenarios).enumerate() {
        stored.take(nth, (new, now), &mut taken);
    }
    let Taken { answers, trials, judged, .. } = taken;
    let tests = stored.tests(&numbers);
    let seen = (0..numbers.len()).filter(|new| old.plan.task.seen.contains(&numbers[*new])).collect();
    let of = old.plan.task.regraded();
    let regraded = Regraded {
        run: of.map_or(&old.plan.run, |of| &of.run).clone(),
        searched: old.plan.task.is_of_search(),
        era: stored.era,
        unpaired: !stored.control.is_empty(),
        tests,
        numbers: numbers.into_iter().map(|nth| old.plan.task.number(nth)).collect(),
        trials,
        judged,
        left_out,
    };
    let [start, challenger] = stored.contestants.map(Candidate::clone);
    Ok(Regrading { scenarios, seen, start, challenger, regraded, confirm: old.confirm(), answers })
}

/// Has the current judge judge the start's first trials, if the challenger's trials are compared with them.
pub(crate) fn control<'a>(run: &'a Run, round: Option<&'a Round>) -> Option<Next<'a>> {
    run.plan.task.regraded().filter(|of| of.unpaired)?;
    let round = round.filter(|round| round.era == run.state.era);
    measure_start(run, round, measure::searched(&run.plan))
}

/// A finished comparison.
struct Stored<'a> {
    run: &'a Run,
    contestants: [&'a Candidate; 2],
    /// The measures of its trials, and of the retries of fallen scenarios.
    measures: Vec<&'a Measure>,
    /// The start's first trials, if only the challenger was tried.
    control: Vec<Trial>,
    era: u32,
}

/// The parts of an older comparison that are reused.
#[derive(Default)]
struct Taken {
    answers: Vec<Done>,
    known: HashSet<Step>,
    trials: u32,
    judged: u32,
}

impl<'a> Stored<'a> {
    fn of(run: &'a Run) -> Result<Self, NoComparison> {
        run.state.closed.ok_or(NoComparison::Open)?;
        let measure = &run.state.measure;
        let control = control::trials(run).unwrap_or_default();
        let (start, challenger) = match measure.contestants[..] {
            [start, challenger] => (start, challenger),
            [challenger] if !control.is_empty() => (run.start(), challenger),
            _ => return Err(NoComparison::None),
        };
        let both = run.candidate(start).zip(run.candidate(challenger)).ok_or(NoComparison::None)?;
        let again = run.state.retrial.as_ref().map(|retrial| &retrial.measure);
        let measures = std::iter::once(measure).chain(again).collect();
        Ok(Self { run, contestants: [both.0, both.1], measures, control, era: measure.era() })
    }

    /// Returns the tests of a search on these scenarios, under their new numbers.
    fn tests(&self, numbers: &[usize]) -> Vec<StoredTest> {
        let measure = &self.run.state.measure;
        let test = |scenario: &usize| {
            let version = self.run.candidate(measure.version(self.contestants[1].id, *scenario))?;
            let scenario = numbers.iter().position(|nth| nth == scenario)?;
            Some(StoredTest { scenario, trees: version.trees.clone() })
        };
        let scenarios = measure.scenarios().iter().filter(|_| measure.is_of_tests());
        scenarios.filter_map(test).collect()
    }

    /// Whether the comparison includes trials of a scenario.
    fn has(&self, scenario: usize) -> bool {
        self.trials(scenario).next().is_some()
    }

    /// Returns the current version of a scenario, if its trials can be judged by that.
    fn as_now(&self, nth: usize, suite: &[Scenario]) -> Result<Scenario, LeftOut> {
        let before = &self.run.plan.task.scenarios[nth];
        let now = suite.iter().find(|now| now.id == before.id).ok_or(LeftOut::Gone)?;
        if let Some(changed) = changed(&self.run.plan, nth, now) {
            return Err(changed);
        }
        let has_checks = now.demands.iter().any(|demand| demand.how.check().is_some());
        let was_kept = |answer: &Answer| matches!(answer, Answer::Exercised { kept: Some(_), .. });
        if has_checks && !self.outcomes(nth).all(was_kept) {
            return Err(LeftOut::NotKept);
        }
        Ok(Scenario { held_out: before.held_out, ..now.clone() })
    }

    fn trials(&self, scenario: usize) -> impl Iterator<Item = (&'a Candidate, Trial)> + '_ {
        let of_control = self.control.iter().filter(move |trial| trial.scenario == scenario);
        let of_control = of_control.map(|trial| (self.contestants[0], *trial));
        let fresh = self.contestants.into_iter().flat_map(move |candidate| {
            let is_tried = move |measure: &&&Measure| {
                measure.contestants.contains(&candidate.id) && measure.scenarios().contains(&scenario)
            };
            let measures = self.measures.iter().filter(is_tried);
            measures.flat_map(move |measure| {
                let version = self.run.candidate(measure.version(candidate.id, scenario));
                measure.trials_of(scenario).filter_map(move |trial| Some((version?, trial)))
            })
        });
        of_control.chain(fresh)
    }

    fn outcomes(&self, scenario: usize) -> impl Iterator<Item = &'a Answer> {
        self.trials(scenario).flat_map(|(candidate, trial)| measure::exercised(self.run, candidate, trial))
    }

    /// Adds the executors' answers for a scenario, under its new number.
    fn take(&self, nth: usize, (new, now): (usize, &Scenario), taken: &mut Taken) {
        if let Some((Step::SetUp { files, .. }, answer)) = measure::was_set_up(self.run, nth) {
            taken.add(Step::SetUp { scenario: new, files }, Ok(answer.clone()));
        }
        let is_judged = now.demands.is_empty() || graded::expectations(now).is_some();
        for (candidate, trial) in self.trials(nth) {
            let ended = measure::executions(self.run, candidate, trial);
            let has_failed = ended.last().is_some_and(|(_, outcome)| outcome.is_err());
            let is_whole = ended.len() == candidate.trees.len();
            taken.trials += u32::from(is_whole || has_failed);
            taken.judged += u32::from(is_whole && !has_failed && is_judged);
            for (step, outcome) in ended {
                let Step::Exercise { member, skill, input, .. } = step else { continue };
                let trial = Trial { scenario: new, era: self.era, ..trial };
                let step = Step::Exercise { member, skill, trial, input, graded: !now.demands.is_empty() };
                taken.add(step, outcome.cloned().map_err(Failure::clone));
            }
        }
    }
}

impl Taken {
    /// Adds an answer once, as both versions of a chain may share a member.
    fn add(&mut self, step: Step, outcome: Outcome) {
        if self.known.insert(step.clone()) {
            let spent = Spent { cached: true, ..Spent::default() };
            self.answers.push(Done {
                step,
                attempt: 0,
                call: None,
                outcome,
                spent,
                model: None,
                windows: Vec::new(),
                machine: None,
            });
        }
    }
}

/// Returns what changed for the executors of a scenario, if anything.
fn changed(plan: &Plan, nth: usize, now: &Scenario) -> Option<LeftOut> {
    let (task, before) = (&plan.task, &plan.task.scenarios[nth]);
    // Only agents that get the skill's text see the success criteria.
    let prompted = |one: &Scenario| match task.delivery {
        Delivery::Inline => one.success_criteria.clone(),
        Delivery::Installed { .. } | Delivery::Slash { .. } => String::new(),
    };
    let has_same_prompt = before.description == now.description
        && before.requirements == now.requirements
        && before.input_args == now.input_args
        && before.command == now.command
        && prompted(before) == prompted(now);
    [
        (has_same_prompt, LeftOut::TaskChanged),
        (before.files == now.files, LeftOut::FilesChanged),
        ((&before.setup, before.git) == (&now.setup, now.git), LeftOut::SetupChanged),
        (task.tools(nth) == now.tools.unwrap_or(task.tools), LeftOut::ToolsChanged),
    ]
    .into_iter()
    .find_map(|(is_same, changed)| (!is_same).then_some(changed))
}

impl Regrading {
    /// Returns all trees that must be in the store.
    pub fn trees(&self) -> Vec<TreeId> {
        let left = self.answers.iter().filter_map(|done| done.outcome.as_ref().ok()).flat_map(Answer::trees);
        let versions = [&self.start, &self.challenger].into_iter().flat_map(|one| one.trees.iter().copied());
        let tested = self.regraded.tests.iter().flat_map(|test| test.trees.iter().copied());
        versions.chain(tested).chain(left).collect()
    }
}
