//! The judges' notes about a candidate, collected over its scenarios: for the improver, the state and the report.

use std::collections::BTreeMap;

use crate::base::id::CandidateId;
use crate::judging::contract::{CriterionId, Verdict};
use crate::judging::judgement::{Finding, Findings, Judgement, Suggestion};
use crate::loops::tune::compare::panel;
use crate::loops::tune::trial::measure::{self, SEARCH, Unit};
use crate::loops::tune::{Run, Trial};
use crate::skills::target::Place;

/// More than this is noise to a reader, human or model.
const MOST: usize = 8;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    pub strengths: Vec<Box<str>>,
    pub weaknesses: Vec<Box<str>>,
    pub suggestions: Vec<Suggestion>,
}

impl Notes {
    pub fn of(run: &Run, candidate: CandidateId, era: u32) -> Self {
        let mut notes = Self::default();
        for judgement in all(run, candidate, era) {
            merge(&mut notes.strengths, &judgement.strengths);
            merge(&mut notes.weaknesses, &judgement.weaknesses);
            merge(&mut notes.suggestions, &judgement.suggestions);
        }
        notes.suggestions.sort_by_key(|suggestion| suggestion.priority);
        notes
    }
}

/// The result of a criterion over all scenarios: its worst finding, and how often it was met.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionResult<'a> {
    pub worst: Finding<'a>,
    pub met: usize,
    pub of: usize,
}

/// Returns the result of each criterion, demands of scenarios before criteria of the contract. Skips those without a
/// verdict.
pub fn criterion_results(
    run: &Run,
    candidate: CandidateId,
    era: u32,
    member: Option<Place>,
) -> Vec<CriterionResult<'_>> {
    let name = member.map(|place| run.plan.member(place).name.as_str());
    let mut by_criterion: BTreeMap<&CriterionId, CriterionResult<'_>> = BTreeMap::new();
    for judgement in all(run, candidate, era) {
        let verified = findings(judgement, name).iter().filter(|one| one.verdict != Verdict::Unverified);
        for finding in verified {
            let result = CriterionResult { worst: finding, met: 0, of: 0 };
            by_criterion.entry(finding.criterion).or_insert(result).add(finding);
        }
    }
    let demanded = run
        .plan
        .task
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.demands.iter().map(|demand| scenario.criterion(demand)));
    let asked = run.plan.task.contract.criteria.iter().map(|criterion| criterion.id.clone());
    demanded.chain(asked).filter_map(|id| by_criterion.remove(&id)).collect()
}

/// Returns the judgements of a candidate's trials, and that of its text.
fn all(run: &Run, candidate: CandidateId, era: u32) -> impl Iterator<Item = &Judgement> {
    let trials = judgements(run, candidate, era).map(|(_, judgement)| judgement);
    trials.chain(measure::text_judgement(run, candidate, era))
}

impl<'a> CriterionResult<'a> {
    /// Adds a finding. On a tie the last one is reported.
    fn add(&mut self, finding: Finding<'a>) {
        if badness(finding.verdict) >= badness(self.worst.verdict) {
            self.worst = finding;
        }
        self.met += usize::from(finding.verdict == Verdict::Pass);
        self.of += 1;
    }
}

/// Returns the findings about a chain's member or, if the judge made none, those about the whole.
fn findings<'a>(judgement: &'a Judgement, member: Option<&str>) -> &'a Findings {
    let own = member.and_then(|name| judgement.members.get(name));
    &own.unwrap_or(&judgement.whole).findings
}

fn badness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Unverified => 0,
        Verdict::Pass => 1,
        Verdict::Partial => 2,
        Verdict::Fail => 3,
    }
}

/// Returns the judgements of a candidate in the search, in the canonical order of the scenarios.
pub fn judgements(run: &Run, candidate: CandidateId, era: u32) -> impl Iterator<Item = (usize, &Judgement)> {
    measure::tried(&run.plan).into_iter().filter_map(move |scenario| {
        let trial = Trial { scenario, ordinal: SEARCH, era };
        Some((scenario, panel::judgement(run, candidate, trial)?))
    })
}

/// Returns the scenarios of the search in which a member's agent did not finish, and why.
pub fn unfinished(run: &Run, candidate: CandidateId, era: u32, place: Place) -> Vec<(usize, String)> {
    let searched = measure::tried(&run.plan).into_iter();
    let failed = searched.filter_map(|scenario| {
        match panel::unit(run, candidate, Trial { scenario, ordinal: SEARCH, era }) {
            Unit::Failed { member, failure } if member == place => Some((scenario, failure.why.clone())),
            _ => None,
        }
    });
    failed.collect()
}

fn merge<T: Clone + PartialEq>(into: &mut Vec<T>, more: &[T]) {
    for one in more {
        if into.len() < MOST && !into.contains(one) {
            into.push(one.clone());
        }
    }
}
