//! The run as one object for scripts. Its keys are a public interface: one meaning has one key in all loops.

use serde_json::{Value, json};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::gan::contract::Contract;
use skilltune_phases::loops::gan::course::{Answered, Round};
use skilltune_phases::loops::gan::{Answer, Run};

use crate::loops::gan::report::words;
use crate::report::estimate::Estimate;
use crate::report::{ceilings, json, words as shared_words};

pub fn summary(run: &Run) -> Value {
    let (plan, state) = (&run.plan, &run.state);
    let (task, best) = (&plan.task, run.best());
    json!({
        "run_id": plan.run,
        "loop": plan.kind,
        "name": task.name,
        "brief": task.brief.file,
        "level": task.level,
        "profile": task.profile,
        "outcome": run.outcome(),
        "answered_by": state.course.answers.last().map(|answered| answered.by),
        "note": state.end.as_ref().and_then(|end| end.note.as_ref()),
        "blocked": json::blocked(run),
        "paused": ceilings::json(run),
        "limits": ceilings::all(run),
        "score": best.map(|best| best.evaluation().score),
        "passed_share": best.map(|best| best.evaluation().share),
        "threshold": task.rules.threshold,
        "contract": state.contract().map(Contract::hash),
        "rounds": state.course.rounds.len(),
        "max_rounds": task.rules.max_rounds,
        "result": words::result(run),
        "into": task.into,
        "promoted": matches!(run.handed_over(), Some(Answer::Promoted)),
        "conflict": matches!(run.handed_over(), Some(Answer::Conflict { .. })),
        // The commit of the result, if one was made.
        "proposal": run.proposed().and_then(Result::ok),
        "agents": json::agents(&plan.roles),
        "models": run.models,
        "notes": words::notes(plan).into_iter().chain(shared_words::changes(run)).collect::<Vec<_>>(),
        "rights": json::rights(&plan.roles),
        "report": run.closed_at.map(|_| format!("{}/final-report.md", plan.folder)),
        "state": format!("{}/iteration-state.json", plan.folder),
        "cost": json::cost(&run.ledger.total()),
    })
}

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, estimate: &Estimate) -> Value {
    let (plan, task) = (&run.plan, &run.plan.task);
    json!({
        "dry_run": true,
        "loop": plan.kind,
        "name": task.name,
        "level": task.level,
        "negotiated": task.negotiated,
        "profile": task.profile,
        "criteria": task.asked.criteria,
        "sections": task.given.sections,
        "rules": task.rules,
        "into": task.into,
        "limits": ceilings::all(run),
        "most_calls": json::most_calls(most),
        "estimate": estimate.json(),
        "agents": json::agents(&plan.roles),
        "notes": words::notes(plan),
    })
}

/// Returns `report.json`: the summary, the contracts, and the findings of each round.
pub fn report(run: &Run) -> Value {
    let mut report = summary(run);
    report["costs"] = json::costs(run);
    report["contracts"] = json!(run.state.contracts);
    report["judged"] = run.state.course.rounds.iter().map(|one| round(run, one)).collect();
    report["answers"] = run.state.course.answers.iter().map(answered).collect();
    report
}

fn round(run: &Run, round: &Round) -> Value {
    json!({
        "sprint": run.number_of(round),
        "artifact": round.artifact,
        "passed": run.blocks(round).is_empty(),
        "kept_from_passing_by": run.blocks(round).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "first": round.first,
        "second": round.second,
    })
}

fn answered(answered: &Answered) -> Value {
    json!({
        "after": answered.after,
        "hold": answered.hold,
        "choice": answered.choice,
        "by": answered.by,
    })
}
