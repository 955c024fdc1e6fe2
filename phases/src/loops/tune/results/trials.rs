//! The judged trials of a run, and what failed in each: input for improving a suite.

use std::collections::{HashMap, HashSet};

use crate::base::answer::says_something;
use crate::base::id::{CandidateId, Digest, TreeId};
use crate::base::name::Name;
use crate::judging::contract::CriterionId;
use crate::judging::judgement::{Finding, Findings, Judgement};
use crate::judging::score::Score;
use crate::loops::tune::compare::{control, panel};
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{Round, Run, Trial};
use crate::suites::checks::How;
use crate::suites::demand::Demand;
use crate::suites::scenario::Scenario;
use crate::suites::transcript::one_line;

/// One judged trial of one version.
#[derive(Clone, Copy, Debug)]
pub struct JudgedTrial<'a> {
    pub candidate: CandidateId,
    pub trial: Trial,
    /// `None` if it was made for the final comparison.
    pub round: Option<u32>,
    pub judgement: &'a Judgement,
}

/// Returns the trials of the rounds, then those of the final comparison. A round that repeats an earlier one has the
/// same trials. Trials without a skill are left out: see `aims::try_`.
pub fn judged_trials(run: &Run) -> Vec<JudgedTrial<'_>> {
    let rounds = &run.state.rounds;
    if run.plan.task.aim.trials().is_some() {
        return judged(run, measured(run), rounds.last().map(|round| round.number));
    }
    let searched = measure::tried(&run.plan);
    let of_round = |round: &Round| judged(run, vec![searched_trials(round, &searched)], Some(round.number));
    rounds.iter().flat_map(of_round).chain(judged(run, compared_trials(run), None)).collect()
}

/// Returns the judged trials that used a skill.
fn judged(run: &Run, versions: Vec<(CandidateId, Vec<Trial>)>, round: Option<u32>) -> Vec<JudgedTrial<'_>> {
    let has_skill = |id: CandidateId| run.candidate(id).is_some_and(|one| one.trees != [TreeId::EMPTY]);
    let versions = versions.into_iter().filter(|(id, _)| has_skill(*id));
    let all =
        versions.flat_map(|(candidate, trials)| trials.into_iter().map(move |trial| (candidate, trial)));
    let judged = all.filter_map(|(candidate, trial)| {
        let judgement = panel::judgement(run, candidate, trial)?;
        Some(JudgedTrial { candidate, trial, round, judgement })
    });
    judged.collect()
}

/// Returns the trials of a round of a search.
fn searched_trials(round: &Round, searched: &[usize]) -> (CandidateId, Vec<Trial>) {
    let trial = |&scenario: &usize| Trial { scenario, ordinal: SEARCH, era: round.era };
    (round.candidate, searched.iter().map(trial).collect())
}

/// Returns the trials of the final comparison by version, the start first. Empty if nothing was compared.
fn compared_trials(run: &Run) -> Vec<(CandidateId, Vec<Trial>)> {
    // A search measures one candidate at a time.
    if run.state.measure.contestants.len() < 2 { Vec::new() } else { measured(run) }
}

/// Returns the trials of the current or last measurement, by version.
fn measured(run: &Run) -> Vec<(CandidateId, Vec<Trial>)> {
    let measure = &run.state.measure;
    let trials: Vec<Trial> =
        measure.scenarios().iter().flat_map(|&scenario| measure.trials_of(scenario)).collect();
    measure.contestants.iter().map(|&candidate| (candidate, trials.clone())).collect()
}

/// Returns the trials that the result of a run rests on, by version: those of the final comparison, the start first. If
/// nothing was compared, those of the last round that measured the remaining version.
pub fn last(run: &Run) -> Vec<(CandidateId, Vec<Trial>)> {
    let compared = compared_trials(run);
    if !compared.is_empty() {
        return compared;
    }
    let left = run.state.shipment.as_ref().map_or_else(|| run.head(), |shipment| shipment.champion);
    let Some(round) = run.scored_round(left).or(run.state.rounds.last()) else { return Vec::new() };
    vec![searched_trials(round, &measure::tried(&run.plan))]
}

/// Returns the trials of the start and those of the candidate that a report shows, each with its version: all of a run
/// that tries one version, and otherwise those that the result rests on. One version has only its own side.
pub fn sides(run: &Run) -> [Vec<(CandidateId, Trial)>; 2] {
    let measure = &run.state.measure;
    if run.state.challenger.is_some() && measure.contestants.len() == 1 {
        let control = control::trials(run).unwrap_or_default();
        let of_start = control.into_iter().map(|trial| (run.start(), trial)).collect();
        return [of_start, measure.units(measure.scenarios().len()).collect()];
    }
    let tries_one = run.plan.task.aim.trials().is_some();
    let mut versions = if tries_one { measured(run) } else { last(run) }.into_iter();
    let side = |(id, trials): (CandidateId, Vec<Trial>)| -> Vec<(CandidateId, Trial)> {
        trials.into_iter().map(|trial| (id, trial)).collect()
    };
    match (versions.next(), versions.next()) {
        (Some(start), Some(candidate)) => [side(start), side(candidate)],
        (Some(only), None) if only.0 != run.start() => [Vec::new(), side(only)],
        (only, _) => [only.map(side).unwrap_or_default(), Vec::new()],
    }
}

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

/// Turns a judge's criticism into a statement for the next trial.
const FAULT: &str = "The result does not have this fault: ";

/// The most characters of a judge's text in one statement.
const LONGEST: usize = 400;
/// More faults than this are only noise.
const MOST: usize = 20;

/// Returns what failed in a trial, as demands: the missed demands of its scenario or, if it has none, the judge's
/// criticism of the result.
fn wanting(run: &Run, judged: &JudgedTrial<'_>) -> Vec<Demand> {
    let task = &run.plan.task;
    let scenario = &task.scenarios[judged.trial.scenario];
    let judgement = judged.judgement;
    if task.is_graded(judged.trial.scenario) {
        let missed = verdicts(scenario, judgement).filter(|(_, met)| !met);
        return missed.map(|(demand, _)| demand.clone()).collect();
    }
    let mut faults = Faults { run, demands: Vec::new(), known: HashSet::new() };
    for (name, assessment) in &judgement.members {
        faults.add_findings(&assessment.findings, name.parse().ok().as_ref());
    }
    faults.add_findings(&judgement.whole.findings, None);
    for weakness in &judgement.weaknesses {
        faults.add(weakness, None);
    }
    faults.demands
}

/// Returns which demands of its scenario a trial met, as far as they were verified.
pub fn verdicts<'a>(
    scenario: &'a Scenario,
    judgement: &'a Judgement,
) -> impl Iterator<Item = (&'a Demand, bool)> {
    let met = |finding: Finding<'a>| Some((finding.criterion, finding.verdict.is_met()?));
    let met_by_criterion: HashMap<&CriterionId, bool> =
        judgement.whole.findings.iter().filter_map(met).collect();
    scenario
        .demands
        .iter()
        .filter_map(move |demand| Some((demand, *met_by_criterion.get(&scenario.criterion(demand))?)))
}

fn missed(findings: &Findings) -> impl Iterator<Item = (&CriterionId, &str)> {
    let missed = findings.iter().filter(|finding| finding.verdict.is_met() == Some(false));
    missed.map(|finding| (finding.criterion, finding.evidence))
}

/// A judge's criticism of a result, without duplicates.
struct Faults<'a> {
    run: &'a Run,
    demands: Vec<Demand>,
    known: HashSet<String>,
}

impl Faults<'_> {
    /// Adds only criteria about the effect: the others are about the skill's text, which no result has.
    fn add_findings(&mut self, findings: &Findings, member: Option<&Name>) {
        for (id, evidence) in missed(findings) {
            let Some(criterion) = self.run.plan.task.contract.criterion(id).filter(|one| one.of_effect)
            else {
                continue;
            };
            if says_something(evidence) {
                self.add(evidence, member);
            } else {
                self.add(&format!("not so: {}", criterion.text), member);
            }
        }
    }

    fn add(&mut self, words: &str, member: Option<&Name>) {
        let words = one_line(words, LONGEST);
        if self.demands.len() == MOST || !says_something(&words) || !self.known.insert(words.clone()) {
            return;
        }
        let id = format!("expectation-{}", self.demands.len() + 1).parse().expect("a number is plain");
        let how = How::Question { text: format!("{FAULT}{words}").into() };
        self.demands.push(Demand { member: member.cloned(), ..Demand::new(id, how) });
    }
}
