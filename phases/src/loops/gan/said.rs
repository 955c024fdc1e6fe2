//! What machines and a judge have said of an artifact, as one.

use super::Run;
use super::answers::{Asked, Verdicts};
use super::contract::{Check, Contract};
use super::course::Course;
use super::evaluation::{By, Evaluation, Finding, Said, Seen, Verdict, evaluate};
use super::inspect::Told;
use super::step::Reading;
use crate::id::TreeId;

pub(super) fn asked(run: &Run, contract: &Contract, artifact: TreeId) -> Asked {
    let told = run.told(artifact);
    let is_open = |check: Option<Check>| by_machine(&told, check).is_none();
    let criteria = contract.criteria.iter().filter(|criterion| is_open(criterion.check));
    let patterns = contract.anti_patterns.iter().filter(|pattern| is_open(pattern.check));
    let sprint = run.state.sprint_of(artifact);
    Asked {
        dimensions: contract.dimensions.iter().map(|dimension| dimension.id.clone()).collect(),
        criteria: criteria.cloned().collect(),
        patterns: patterns.cloned().collect(),
        extra: sprint.map(|sprint| sprint.focus.extra.clone()).unwrap_or_default(),
    }
}

/// What a machine has told, if it has.
fn by_machine(told: &[Told], check: Option<Check>) -> Option<&Told> {
    told.iter().find(|told| Some(told.check) == check && !told.is_unverified())
}

/// The evaluation of an artifact under the contract in force.
pub(super) fn evaluation(run: &Run, artifact: TreeId, reading: Reading, verdicts: &Verdicts) -> Evaluation {
    let (state, rules) = (&run.state, &run.plan.task.rules);
    let contract = state.contract().unwrap_or(&run.plan.task.asked);
    let told = run.told(artifact);
    let by_machines = contract.criteria.iter().filter_map(|criterion| {
        let Told { verdict, evidence, .. } = by_machine(&told, criterion.check)?;
        let (criterion, evidence) = (criterion.id.clone(), evidence.clone());
        Some(Finding { criterion, verdict: *verdict, evidence, fix: None, by: By::Machine })
    });
    let seen = contract.anti_patterns.iter().filter_map(|pattern| {
        let told = by_machine(&told, pattern.check).filter(|told| told.verdict == Verdict::Failed)?;
        let (pattern, evidence) = (pattern.id.clone(), told.evidence.clone());
        Some(Seen { pattern, evidence, by: By::Machine })
    });
    let said = Said {
        findings: by_machines.chain(verdicts.findings.iter().cloned()).collect(),
        patterns: seen.chain(verdicts.patterns.iter().cloned()).collect(),
        claims: verdicts.claims.clone(),
        extra: verdicts.extra.clone(),
    };
    // What a second judge is asked about was built from what was best before the first one.
    let rounds = &state.course.rounds;
    let before = match reading {
        Reading::First => rounds.len(),
        Reading::Second => rounds.len().saturating_sub(1),
    };
    let before = Course { rounds: rounds[..before].to_vec(), answers: state.course.answers.clone() };
    evaluate(contract, &said, &before.owed(contract, rules, state.era), rules.cap)
}
