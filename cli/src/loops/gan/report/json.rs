//! The report of a run and its dry run as objects for scripts. Their keys are a public interface.

use serde_json::{Value, json};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::gan::Run;
use skilltune_phases::loops::gan::course::{Answered, Round};

use crate::report::estimate::{Estimate, most_calls};
use crate::report::{ceilings, json};

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, estimate: &Estimate) -> Value {
    let task = &run.plan.task;
    let keys = json!({
        "name": task.name,
        "level": task.level,
        "negotiated": task.negotiated,
        "profile": task.profile,
        "criteria": task.asked.criteria,
        "sections": task.given.sections,
        "rules": task.rules,
        "into": task.into,
        "artifact_dir": task.artifact_dir,
        "limits": ceilings::all(run),
        "most_calls": most_calls(most),
    });
    json::sketch(run, &keys, estimate)
}

/// Returns what only `report.json` has: the contracts, and the findings of each round.
pub fn details(run: &Run) -> Value {
    json!({
        "contracts": run.state.contracts,
        "judged": run.state.course.rounds.iter().map(|one| round(run, one)).collect::<Value>(),
        "answers": run.state.course.answers.iter().map(answered).collect::<Value>(),
    })
}

fn round(run: &Run, round: &Round) -> Value {
    json!({
        "sprint": run.number_of(round),
        "artifact": round.artifact,
        "passed": run.blocks(round).is_empty(),
        "kept_from_passing_by": run.blocks(round).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "first": round.first,
        "second": round.second,
        // The levels that the judge whose evaluation counts cites. None of them counts.
        "cited": run.cited_in(round),
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
