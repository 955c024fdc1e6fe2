//! Combines the verdicts of machines and of a judge on an artifact.

use super::Run;
use super::answers::{Asked, Verdicts};
use super::contract::{Check, Contract, Criterion};
use super::course::Rounds;
use super::evaluation::{By, Evaluation, Finding, PatternHit, RawVerdicts, Verdict, evaluate};
use super::inspect::{Inspection, MachineResult, ScenarioResult};
use super::step::{Answer, Reading};
use crate::base::id::TreeId;
use crate::judging::contract::CriterionId;
use crate::suites::checks::CheckResult;

pub(super) fn asked(run: &Run, contract: &Contract, artifact: TreeId) -> Asked {
    let machines = Machines::of(run, artifact);
    let criteria =
        contract.criteria.iter().filter(|criterion| machines.decide(contract, criterion).is_none());
    let patterns = contract.anti_patterns.iter().filter(|pattern| machines.result(pattern.check).is_none());
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
    checks: Vec<MachineResult>,
    scenarios: Vec<ScenarioResult>,
}

impl Machines {
    fn of(run: &Run, artifact: TreeId) -> Self {
        Self { checks: run.check_results(artifact), scenarios: run.scenario_results(artifact) }
    }

    /// Returns the result of a check, if it could be made.
    fn result(&self, check: Option<Check>) -> Option<&MachineResult> {
        self.checks.iter().find(|result| Some(result.check) == check && !result.is_unverified())
    }

    /// Decides a criterion. One fault makes it fail; it passes when its check and all its test scenarios have passed.
    fn decide(&self, contract: &Contract, criterion: &Criterion) -> Option<(Verdict, String)> {
        let check = criterion.check.map(|_| {
            self.result(criterion.check)
                .map_or((Verdict::Unverified, ""), |result| (result.verdict, &*result.evidence))
        });
        let tests = contract.tests_of(&criterion.id).map(|test| {
            let result = self.scenarios.iter().find(|result| result.scenario == test.id);
            result.map_or((Verdict::Unverified, ""), |result| (result.verdict, &*result.evidence))
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

/// Returns the answer to a step whose command tries a test scenario.
pub(super) fn of_command(scenario: &CriterionId, result: &CheckResult) -> Answer {
    let verdict = match result.met {
        Some(true) => Verdict::Passed,
        Some(false) => Verdict::Failed,
        None => Verdict::Unverified,
    };
    let evidence = format!("{scenario}: {}", result.details).into();
    let scenarios = vec![ScenarioResult { scenario: scenario.clone(), verdict, evidence }];
    let inspection = Box::new(Inspection { scenarios, ..Inspection::default() });
    Answer::Inspected { inspection, screens: None }
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
    let hits = contract.anti_patterns.iter().filter_map(|pattern| {
        let result = machines.result(pattern.check).filter(|result| result.verdict == Verdict::Failed)?;
        let (pattern, evidence) = (pattern.id.clone(), result.evidence.clone());
        Some(PatternHit { pattern, evidence, by: By::Machine })
    });
    let raw = RawVerdicts {
        findings: by_machines.chain(verdicts.findings.iter().cloned()).collect(),
        patterns: hits.chain(verdicts.patterns.iter().cloned()).collect(),
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
    evaluate(contract, &raw, &before.owed(contract, rules, state.era), rules.cap)
}
