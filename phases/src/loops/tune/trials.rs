//! The judged trials of a run, and what was found wanting in each: what a suite can learn from them.

use std::collections::{HashMap, HashSet};

use super::measure::{self, SEARCH, Unit};
use super::{Run, Trial};
use crate::answer::says_something;
use crate::checks::How;
use crate::contract::{CriterionId, Verdict};
use crate::demand::Demand;
use crate::id::CandidateId;
use crate::judgement::{Finding, Findings, Judgement};
use crate::name::Name;
use crate::scenario::Scenario;
use crate::transcript::one_line;

/// One judged trial of one version.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    pub candidate: CandidateId,
    pub trial: Trial,
    /// None, if it was made for the final comparison.
    pub round: Option<u32>,
    pub judgement: &'a Judgement,
}

/// Those of the rounds, then those of the final comparison. A round that repeats one before it has the same trials.
pub fn tried(run: &Run) -> Vec<Tried<'_>> {
    let searched = measure::searched(&run.plan);
    let of_round = |round: &super::Round| {
        let (candidate, era, number) = (round.candidate, round.era, round.number);
        let trial = move |&scenario: &usize| Trial { scenario, ordinal: SEARCH, era };
        searched.iter().map(trial).map(move |trial| (candidate, trial, Some(number))).collect::<Vec<_>>()
    };
    let rounds = run.state.rounds.iter().flat_map(of_round);
    let places = rounds.chain(compared(run));
    let judged = places.filter_map(|(candidate, trial, round)| match measure::unit(run, candidate, trial) {
        Unit::Judged(judgement) => Some(Tried { candidate, trial, round, judgement }),
        Unit::Missing(_) | Unit::Next(_) | Unit::Late => None,
    });
    judged.collect()
}

fn compared(run: &Run) -> Vec<(CandidateId, Trial, Option<u32>)> {
    let measure = &run.state.measure;
    if run.state.stopped.is_none() || measure.contestants.len() < 2 {
        return Vec::new();
    }
    let era = run.state.era;
    let trial = |&scenario: &usize| {
        (1..=measure.trials_each()).map(move |nth| Trial { scenario, ordinal: SEARCH + nth, era })
    };
    let trials: Vec<Trial> = measure.scenarios().iter().flat_map(trial).collect();
    let contestants = measure.contestants.iter();
    contestants.flat_map(|&candidate| trials.iter().map(move |&trial| (candidate, trial, None))).collect()
}

/// How what a judge has found wanting is asked of the next trial.
const FAULT: &str = "The result does not have this fault: ";

/// As much of a judge's words as one statement holds, in characters.
const LONGEST: usize = 400;
/// More faults than this are no more than noise.
const MOST: usize = 20;

/// What a trial was found wanting in, as demands: those of its scenario that it missed, or, where the scenario has none, what
/// the judge had to say against the result.
pub fn wanting(run: &Run, tried: &Tried<'_>) -> Vec<Demand> {
    let task = &run.plan.task;
    let scenario = &task.scenarios[tried.trial.scenario];
    let judgement = tried.judgement;
    if task.is_graded(tried.trial.scenario) {
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

/// Which demands of its scenario a trial met, as far as somebody could tell.
pub fn verdicts<'a>(
    scenario: &'a Scenario,
    judgement: &'a Judgement,
) -> impl Iterator<Item = (&'a Demand, bool)> {
    let met = |finding: Finding<'a>| match finding.verdict {
        Verdict::Pass => Some((finding.criterion, true)),
        Verdict::Fail | Verdict::Partial => Some((finding.criterion, false)),
        Verdict::Unverified => None,
    };
    let told: HashMap<&CriterionId, bool> = judgement.whole.findings.iter().filter_map(met).collect();
    scenario.demands.iter().filter_map(move |demand| Some((demand, *told.get(&scenario.criterion(demand))?)))
}

fn missed(findings: &Findings) -> impl Iterator<Item = (&CriterionId, &str)> {
    let is_missed = |verdict| matches!(verdict, Verdict::Fail | Verdict::Partial);
    let missed = findings.iter().filter(move |finding| is_missed(finding.verdict));
    missed.map(|finding| (finding.criterion, finding.evidence))
}

/// What a judge had against a result, each thing once.
struct Faults<'a> {
    run: &'a Run,
    demands: Vec<Demand>,
    known: HashSet<String>,
}

impl Faults<'_> {
    /// Of the criteria about the effect alone: the others are about the skill's text, which no result has.
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
