//! The report of a run and its dry run as objects for scripts. Their keys are a public interface.

use serde_json::{Value, json};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::reflex::{Judged, Run};

use crate::report::estimate::{Estimate, most_calls};
use crate::report::{ceilings, json};

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, estimate: &Estimate) -> Value {
    let (task, rules) = (&run.plan.task, &run.plan.task.rules);
    let keys = json!({
        "alias": task.alias,
        "task": task.prompt,
        "template": task.criteria.name,
        // The rules of both levels, and the score that passes each.
        "criteria": task.criteria,
        "max_iterations": rules.max_iterations,
        "max_seconds": rules.max_seconds,
        "limits": ceilings::all(run),
        "stall": rules.stall,
        "commands": task.commands.run,
        "most_calls": most_calls(most),
    });
    json::sketch(run, &keys, estimate)
}

/// Returns what only `report.json` has: the rules, the findings on each version, and how it was checked.
pub fn details(run: &Run) -> Value {
    json!({
        "criteria": run.proposed(),
        "evaluations": run.state.judged.iter().map(|judged| evaluation(run, judged)).collect::<Value>(),
        "checks": run.state.checks,
    })
}

fn evaluation(run: &Run, judged: &Judged) -> Value {
    let Judged { iteration, artifact, evaluation, dropped, plan, issues, era: _ } = judged;
    json!({
        "iteration": iteration,
        "level": evaluation.level.to_string(),
        "artifact": artifact.hash,
        "changed": artifact.changed,
        "score": evaluation.score,
        "passed": evaluation.passed,
        "dropped": dropped,
        "best": run.best().is_some_and(|best| std::ptr::eq(best, judged)),
        "results": evaluation.results,
        "plan": plan,
        "issues": issues,
    })
}

#[cfg(test)]
mod tests;
