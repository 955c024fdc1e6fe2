//! The run as one object for scripts. Its keys are a public interface: one meaning has one key, as in `tune`.

use serde_json::{Value, json};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::reflex::{ArtifactStatus, Judged, Run};

use crate::loops::reflex::report::words;
use crate::report::estimate::Estimate;
use crate::report::{ceilings, json, words as shared_words};

/// Returns the last output on stdout with `--format json`; `on_disk` is the hash of the artifact's file, if it was
/// read.
pub fn summary(run: &Run, on_disk: Option<&str>) -> Value {
    let (plan, state) = (&run.plan, &run.state);
    let best = run.best();
    let level = best.map_or(state.level, |best| best.evaluation.level);
    let status = run.artifact_status(on_disk);
    // A score and a distance apply only to what was judged.
    let judged = best.filter(|_| status == ArtifactStatus::Evaluated);
    json!({
        "run_id": plan.run,
        "loop": plan.kind,
        "alias": plan.task.alias,
        "task": plan.task.prompt,
        "template": plan.task.criteria.name,
        "outcome": run.outcome(),
        // In the original's words.
        "status": run.status().word(),
        "reason": state.stop.as_ref().map(|stop| stop.reason),
        "note": state.stop.as_ref().and_then(|stop| stop.note.as_ref()),
        "blocked": json::blocked(run),
        // The ceiling at which it is paused.
        "paused": ceilings::json(run),
        "limits": ceilings::all(run),
        "score": judged.and_then(|judged| judged.evaluation.score),
        "threshold": plan.task.criteria.thresholds.at(level),
        // The level of the score and of the threshold, in the original's letters.
        "level": level.to_string(),
        "iterations": state.iteration,
        "max_iterations": plan.task.rules.max_iterations,
        "completed_phase_seconds": state.clock.seconds(),
        "max_completed_phase_seconds": plan.task.rules.max_seconds,
        "artifact": {
            "hash": run.result().map(|artifact| &artifact.hash),
            "path": run.result().map(|_| words::artifact_path(run)),
            "status": status.word(),
        },
        "distance": judged.and_then(|_| run.distance()),
        "agents": json::agents(&plan.roles),
        "models": run.models,
        "notes": shared_words::remarks(&plan.roles).into_iter().chain(shared_words::changes(run)).collect::<Vec<_>>(),
        "rights": json::rights(&plan.roles),
        // Written only at the end.
        "report": run.closed_at.map(|_| format!("{}/final-report.md", plan.folder)),
        "state": format!("{}/iteration-state.json", plan.folder),
        "cost": json::cost(&run.ledger.total()),
    })
}

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, estimate: &Estimate) -> Value {
    let plan = &run.plan;
    let (task, rules) = (&plan.task, &plan.task.rules);
    json!({
        "dry_run": true,
        "loop": plan.kind,
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
        "most_calls": json::most_calls(most),
        "estimate": estimate.json(),
        "agents": json::agents(&plan.roles),
        "notes": shared_words::remarks(&plan.roles),
    })
}

/// Returns `report.json`: the summary, the findings on each version, and how it was checked.
pub fn report(run: &Run) -> Value {
    let mut report = summary(run, None);
    report["costs"] = json::costs(run);
    report["evaluations"] = run.state.judged.iter().map(evaluation).collect();
    report["checks"] = json!(run.state.checks);
    report
}

fn evaluation(judged: &Judged) -> Value {
    let Judged { iteration, artifact, evaluation, dropped, plan, issues, era: _ } = judged;
    json!({
        "iteration": iteration,
        "level": evaluation.level.to_string(),
        "artifact": artifact.hash,
        "changed": artifact.changed,
        "score": evaluation.score,
        "passed": evaluation.passed,
        "dropped": dropped,
        "results": evaluation.results,
        "plan": plan,
        "issues": issues,
    })
}

#[cfg(test)]
mod tests;
