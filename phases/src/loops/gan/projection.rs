//! The files of the original, written from our run and never read back: `sprint-N.json`, `evaluation-report-N.json` and
//! the state.
//!
//! Scores are fractions there, as in the original.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Run;
use super::contract::Contract;
use super::course::Round;
use super::evaluation::{Claim, Evaluation, Finding, Verdict};
use super::inspect::Means;
use super::state::Sprint;
use super::test_scenario::{Act, Tool};
use crate::base::id::TreeId;
use crate::base::json;
use crate::judging::contract::CriterionId;
use crate::judging::score::Score;

/// Returns the state file. `{iteration, score}` is all that the original keeps of a run.
pub fn state(run: &Run) -> String {
    let newest = run.state.course.rounds.last();
    let score = |round: &Round| fraction(round.evaluation().score);
    page(&json!({
        "run": run.plan.run,
        "outcome": run.outcome(),
        "iteration": run.state.sprints.last().map_or(0, |sprint| sprint.number),
        "score": newest.map(score),
        "best_score": run.best().map(score),
        "threshold": fraction(run.plan.task.rules.threshold),
        "updated_at": run.updated_at,
    }))
}

/// Returns the goals of a sprint and its outcome, with `{iteration, score}` as in the original.
pub fn sprint(run: &Run, sprint: &Sprint) -> String {
    let Some(contract) = run.contract_of(sprint.contract) else { return page(&Value::Null) };
    let rules = &run.plan.task.rules;
    let mut judged = run.state.course.rounds.iter().rev();
    let judged =
        judged.find(|one| run.number_of(one) == sprint.number && one.first.contract == sprint.contract);
    let found = judged.map(Round::found);
    let found = found.as_ref();
    let criteria = contract.criteria.iter().map(|criterion| {
        json!({
            "id": criterion.id,
            "criterion": criterion.criterion,
            "verification": criterion.verification,
            "status": status(found.map(|found| &*found.findings), &criterion.id),
            "dimension": criterion.dimension,
            "must_pass": criterion.must_pass,
            "weight": criterion.weight,
            "origin": criterion.origin,
        })
    });
    let extra = sprint.focus.extra.iter().map(|item| {
        json!({
            "id": item.id,
            "criterion": item.text,
            "verification": item.verification,
            "status": status(found.map(|found| &*found.extra), &item.id),
        })
    });
    let minimums = contract.dimensions.iter().filter_map(|dimension| {
        let minimum = rules.minimum(contract, &dimension.id)?;
        Some((dimension.id.as_str().to_owned(), fraction(minimum)))
    });
    page(&json!({
        "sprint_id": format!("{}-sprint-{}", run.plan.run.as_str(), sprint.number),
        "iteration": sprint.number,
        "score": found.map(|found| fraction(found.score)),
        "priority_dimension": sprint.focus.priority,
        "unmet": sprint.focus.unmet,
        "acceptance_checklist": criteria.collect::<Vec<_>>(),
        "extra_checklist": extra.collect::<Vec<_>>(),
        "test_scenarios": scenarios(run, contract, sprint.artifact),
        "pass_conditions": minimums.collect::<BTreeMap<_, _>>(),
        "threshold": fraction(rules.threshold),
        "contract": sprint.contract,
        "negotiation_history": negotiation(run),
        "implementation_notes": run.notes(sprint),
        "created_at": sprint.begun,
    }))
}

/// Returns the findings of the `number`th round.
pub fn report(run: &Run, number: usize, round: &Round) -> String {
    let found = &round.found();
    let blocks = run.blocks(round);
    let contract = run.contract_of(found.contract);
    page(&json!({
        "iteration": number,
        "sprint": run.number_of(round),
        "artifact": round.artifact,
        "contract": found.contract,
        "verdict": if blocks.is_empty() { "pass" } else { "fail" },
        "overall": fraction(found.score),
        "passed_share": fraction(found.share),
        "threshold": fraction(run.plan.task.rules.threshold),
        "kept_from_passing_by": blocks.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "dimensions": dimensions(contract, found, run.cited_in(round)),
        "criteria": found.findings.iter().map(finding).collect::<Vec<_>>(),
        "anti_patterns": found.patterns,
        "regressions": found.fallen,
        "extra": found.extra.iter().map(finding).collect::<Vec<_>>(),
        "judged_twice": round.second.is_some(),
        "judgements_apart": round.disagreement(&run.plan.task.rules).map(fraction),
        "not_looked_at": run.limits(round.artifact).collect::<Vec<_>>(),
    }))
}

fn dimensions(contract: Option<&Contract>, found: &Evaluation, cited: &[Claim]) -> Vec<Value> {
    let name = |id| contract.and_then(|contract| contract.dimension(id)).map(|one| (&one.name, one.weight));
    let dimensions = found.dimensions.iter().map(|dimension| {
        let (name, weight) = name(&dimension.id).unzip();
        let cited = cited.iter().find(|claim| claim.dimension == dimension.id);
        json!({
            "id": dimension.id,
            "name": name,
            "weight": weight,
            "score": fraction(dimension.level),
            "passed_share": fraction(dimension.share),
            "capped_by": dimension.capped_by,
            "level_cited_by_the_evaluator": dimension.claimed.map(fraction),
            "reason_for_that_level": cited.map(|claim| &claim.why),
        })
    });
    dimensions.collect()
}

fn finding(finding: &Finding) -> Value {
    json!({
        "id": finding.criterion,
        "status": word(finding.verdict),
        "evidence": finding.evidence,
        "fix": finding.fix,
        "by": finding.by,
    })
}

fn status(found: Option<&[Finding]>, id: &CriterionId) -> &'static str {
    let finding = found.and_then(|found| found.iter().find(|finding| finding.criterion == *id));
    finding.map_or("pending", |finding| word(finding.verdict))
}

pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Unverified => "unverified",
    }
}

/// Returns the machine checks: those of the profile, and the test scenarios.
fn scenarios(run: &Run, contract: &Contract, artifact: Option<TreeId>) -> Vec<Value> {
    let with_browser = run.plan.task.browser.is_some();
    let (check_results, scenario_results) = artifact
        .map(|artifact| (run.check_results(artifact), run.scenario_results(artifact)))
        .unwrap_or_default();
    let status = |verdict: Option<Verdict>| verdict.map_or("pending", word);
    let checks = contract.criteria.iter().filter_map(|criterion| Some((criterion, criterion.check?)));
    let checks = checks.map(|(criterion, check)| {
        let found = check_results.iter().find(|result| result.check == check);
        let means = if with_browser && check.is_of_browser() { Means::Browser } else { Means::Source };
        json!({
            "name": check,
            "description": criterion.verification,
            "tool": found.map_or(means, |result| result.by),
            "command": check,
            "criterion": criterion.id,
            "status": status(found.map(|result| result.verdict)),
            "evidence": found.map(|result| &result.evidence),
        })
    });
    let tests = contract.test_scenarios.iter().map(|test| {
        let found = scenario_results.iter().find(|result| result.scenario == test.id);
        let (tool, command) = match &test.run {
            Tool::Browser(acts) => ("browser", json!(acts.iter().map(Act::words).collect::<Vec<_>>())),
            Tool::Command(argv) => ("command", json!(argv)),
        };
        json!({
            "name": test.id,
            "description": test.description,
            "tool": tool,
            "command": command,
            "criterion": test.criterion,
            "status": status(found.map(|result| result.verdict)),
            "evidence": found.map(|result| &result.evidence),
        })
    });
    let numbered = (1..).zip(checks.chain(tests)).map(|(nth, mut scenario)| {
        scenario["id"] = format!("TS-{nth:02}").into();
        scenario
    });
    numbered.collect()
}

fn negotiation(run: &Run) -> Vec<Value> {
    let Some(talk) = &run.state.negotiation else { return Vec::new() };
    let drafted = json!({ "by": "evaluator", "drafted": talk.draft });
    let rounds = (1..).zip(&talk.rounds).flat_map(|(round, said)| {
        let proposed = json!({ "by": "builder", "round": round, "proposed": said.proposals });
        let ruled = json!({ "by": "evaluator", "round": round, "ruled": said.rulings });
        std::iter::once(proposed).chain((!said.rulings.is_empty()).then_some(ruled))
    });
    std::iter::once(drafted).chain(rounds).collect()
}

fn page(value: &Value) -> String {
    json::page(value)
}

/// Divides whole numbers once. Otherwise 57 of 100 would be written as 0.5700000000000001.
fn fraction(score: Score) -> f64 {
    (score.points() * 1e6).round() / 1e8
}
