//! Combines the verdicts of machines and of a judge on an artifact.

use super::Run;
use super::answers::{Asked, Verdicts};
use super::contract::{Check, Contract, Criterion};
use super::course::Rounds;
use super::evaluation::{By, Evaluation, Finding, Said, Seen, Verdict, evaluate};
use super::inspect::{Told, Tried};
use super::step::Reading;
use crate::base::id::TreeId;

pub(super) fn asked(run: &Run, contract: &Contract, artifact: TreeId) -> Asked {
    let machines = Machines::of(run, artifact);
    let criteria =
        contract.criteria.iter().filter(|criterion| machines.decide(contract, criterion).is_none());
    let patterns = contract.anti_patterns.iter().filter(|pattern| machines.told(pattern.check).is_none());
    let sprint = run.state.sprint_of(artifact);
    Asked {
        dimensions: contract.dimensions.iter().map(|dimension| dimension.id.clone()).collect(),
        criteria: criteria.cloned().collect(),
        patterns: patterns.cloned().collect(),
        extra: sprint.map(|sprint| sprint.focus.extra.clone()).unwrap_or_default(),
        most_wanted: run.plan.task.rules.extra_items,
    }
}

/// The results of machines for an artifact.
struct Machines {
    told: Vec<Told>,
    tried: Vec<Tried>,
}

impl Machines {
    fn of(run: &Run, artifact: TreeId) -> Self {
        Self { told: run.told(artifact), tried: run.tried(artifact) }
    }

    /// Returns the result of a check, if it could be made.
    fn told(&self, check: Option<Check>) -> Option<&Told> {
        self.told.iter().find(|told| Some(told.check) == check && !told.is_unverified())
    }

    /// Decides a criterion. One fault makes it fail; it passes when its check and all its test scenarios have passed.
    fn decide(&self, contract: &Contract, criterion: &Criterion) -> Option<(Verdict, String)> {
        let check = criterion.check.map(|_| {
            self.told(criterion.check)
                .map_or((Verdict::Unverified, ""), |told| (told.verdict, &*told.evidence))
        });
        let tests = contract.tests_of(&criterion.id).map(|test| {
            let tried = self.tried.iter().find(|tried| tried.scenario == test.id);
            tried.map_or((Verdict::Unverified, ""), |tried| (tried.verdict, &*tried.evidence))
        });
        let all: Vec<(Verdict, &str)> = check.into_iter().chain(tests).collect();
        let with = |verdict: Verdict| all.iter().filter(move |(other, _)| *other == verdict);
        let verdict = match () {
            () if with(Verdict::Failed).next().is_some() => Verdict::Failed,
            () if all.is_empty() || with(Verdict::Unverified).next().is_some() => return None,
            () => Verdict::Passed,
        };
        Some((verdict, with(verdict).map(|(_, evidence)| *evidence).collect::<Vec<_>>().join("; ")))
    }
}

/// Evaluates an artifact under the contract in force.
pub(super) fn evaluation(run: &Run, artifact: TreeId, reading: Reading, verdicts: &Verdicts) -> Evaluation {
    let (state, rules) = (&run.state, &run.plan.task.rules);
    let contract = state.contract().unwrap_or(&run.plan.task.asked);
    let machines = Machines::of(run, artifact);
    let by_machines = contract.criteria.iter().filter_map(|criterion| {
        let (verdict, evidence) = machines.decide(contract, criterion)?;
        let (criterion, evidence) = (criterion.id.clone(), evidence.into());
        Some(Finding { criterion, verdict, evidence, fix: None, by: By::Machine })
    });
    let seen = contract.anti_patterns.iter().filter_map(|pattern| {
        let told = machines.told(pattern.check).filter(|told| told.verdict == Verdict::Failed)?;
        let (pattern, evidence) = (pattern.id.clone(), told.evidence.clone());
        Some(Seen { pattern, evidence, by: By::Machine })
    });
    let said = Said {
        findings: by_machines.chain(verdicts.findings.iter().cloned()).collect(),
        patterns: seen.chain(verdicts.patterns.iter().cloned()).collect(),
        claims: verdicts.claims.clone(),
        extra: verdicts.extra.clone(),
    };
    // The artifact of a second judgement was built from the best before the first one.
    let rounds = &state.course.rounds;
    let before = match reading {
        Reading::First => rounds.len(),
        Reading::Second => rounds.len().saturating_sub(1),
    };
    let before = Rounds { rounds: rounds[..before].to_vec(), answers: state.course.answers.clone() };
    evaluate(contract, &said, &before.owed(contract, rules, state.era), rules.cap)
}
