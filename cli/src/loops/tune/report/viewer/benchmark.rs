//! `benchmark.json`: all trials and their means. skill-creator's aggregator would name no model and always count three
//! runs.

use serde_json::{Map, Value, json};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::Run;

use super::{Eval, Graded, safe};
use crate::loops::tune::{verdicts, words};

const CONFIGURATIONS: &str = "with_skill is the candidate, or the remaining version if nothing was compared; without_skill is the original skill.";
const UNWEIGHTED: &str = "pass_rate is the unweighted share of demands met; the verdict uses weights and is tested across scenarios.";

pub(super) fn benchmark(run: &Run, evals: &[Eval<'_>]) -> Value {
    let members = &run.plan.task.target.members;
    let most = evals.iter().flat_map(|eval| &eval.configurations).map(|(_, runs)| runs.len()).max();
    json!({
        "metadata": {
            "skill_name": safe(&words::target(run)),
            "skill_path": members.first().map(|member| safe(&member.path)).unwrap_or_default(),
            "executor_model": safe(&run.plan.roles.of(&Role::EXECUTOR).shown()),
            "analyzer_model": safe(&run.plan.roles.of(&Role::EVALUATOR).shown()),
            "timestamp": format!("{:.0}", run.closed_at.unwrap_or(run.updated_at)),
            "evals_run": evals.iter().map(|eval| eval.id).collect::<Vec<_>>(),
            "runs_per_configuration": most.unwrap_or(0),
        },
        "runs": evals.iter().flat_map(runs).collect::<Vec<_>>(),
        "run_summary": summary(evals),
        "notes": notes(run),
    })
}

fn notes(run: &Run) -> Vec<String> {
    let shipment = run.state.shipment.as_ref();
    let verdict = shipment.map(|shipment| format!("Verdict: {}.", safe(&verdicts::verdict(run, shipment))));
    let more = [verdicts::caution(run), Some(CONFIGURATIONS.to_owned()), Some(UNWEIGHTED.to_owned())];
    verdict.into_iter().chain(more.into_iter().flatten()).collect()
}

fn runs(eval: &Eval<'_>) -> Vec<Value> {
    let of = |configuration: &str, one: &Graded| {
        json!({
            "eval_id": eval.id,
            "eval_name": eval.scenario.id.as_str(),
            "configuration": configuration,
            "run_number": one.number,
            "result": {
                "pass_rate": one.pass_rate(),
                "passed": one.passed,
                "failed": one.total() - one.passed,
                "total": one.total(),
                "time_seconds": one.seconds(),
                "tokens": one.usage.tokens.unwrap_or(0),
                "tool_calls": 0,
                "errors": 0,
            },
            "expectations": one.expectations,
            "notes": [],
        })
    };
    let configurations = eval.configurations.iter();
    configurations.flat_map(|(name, runs)| runs.iter().map(move |one| of(name, one))).collect()
}

/// Puts the candidate first: the viewer takes the first as the tested version.
fn summary(evals: &[Eval<'_>]) -> Map<String, Value> {
    let configurations =
        evals.first().map(|eval| eval.configurations.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let all = |name: &str| {
        let its = evals.iter().flat_map(|eval| &eval.configurations).filter(move |(known, _)| *known == name);
        its.flat_map(|(_, runs)| runs).collect::<Vec<_>>()
    };
    let mut summary = Map::new();
    let mut means: Vec<[f64; 3]> = Vec::new();
    for name in configurations.unwrap_or_default() {
        let [rates, times, tokens] = [Graded::pass_rate, Graded::seconds, tokens]
            .map(|of| all(name).into_iter().map(of).collect::<Vec<f64>>());
        means.push([mean(&rates), mean(&times), mean(&tokens)]);
        let stats =
            json!({ "pass_rate": stats(&rates), "time_seconds": stats(&times), "tokens": stats(&tokens) });
        summary.insert(name.to_owned(), stats);
    }
    let delta = match means[..] {
        [candidate, start] => {
            let by = |nth: usize| candidate[nth] - start[nth] + 0.0;
            json!({
                "pass_rate": format!("{:+.2}", by(0)),
                "time_seconds": format!("{:+.1}", by(1)),
                "tokens": format!("{:+.0}", by(2)),
            })
        }
        _ => json!({ "pass_rate": "-", "time_seconds": "-", "tokens": "-" }),
    };
    summary.insert("delta".to_owned(), delta);
    summary
}

#[expect(clippy::cast_precision_loss, reason = "tokens of a trial are far below 2^52")]
fn tokens(one: &Graded) -> f64 {
    one.usage.tokens.unwrap_or(0) as f64
}

fn stats(values: &[f64]) -> Value {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let others = values.iter().skip(1).map(|_| 1.0).sum::<f64>();
    let stddev = if others > 0.0 { (squares / others).sqrt() } else { 0.0 };
    let least = values.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let most = values.iter().copied().reduce(f64::max).unwrap_or(0.0);
    json!({ "mean": rounded(mean), "stddev": rounded(stddev), "min": rounded(least), "max": rounded(most) })
}

fn mean(values: &[f64]) -> f64 {
    let count: f64 = values.iter().map(|_| 1.0).sum();
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / count }
}

/// Rounds to four places, as the aggregator does.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
