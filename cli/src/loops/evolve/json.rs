//! A run of `evolve` as data. The keys are a public interface: one meaning has one key in all loops.

use serde_json::{Value, json};
use skilltune_phases::loops::evolve::{Answer, Gate, Run};
use skilltune_phases::loops::shared::commands::Stage;

use crate::loops::evolve::words::{self, Amending};

pub fn subject(run: &Run) -> Value {
    let (task, end) = (&run.plan.task, run.state.end.as_ref());
    json!({
        "name": task.name,
        "specification": task.file,
        "folder": task.root,
        "tools": words::tools(task),
        "apply": words::apply(task.apply),
        "rules": task.rules,
        "outcome": run.outcome(),
        "ending": end.map(|end| end.ending),
        "note": end.and_then(|end| end.why.as_ref()),
    })
}

pub fn result(run: &Run) -> Value {
    let evaluation = run.evaluation();
    json!({
        "score": evaluation.map(|one| one.score),
        "alignment": evaluation.map(|one| one.alignment),
        "done": evaluation.map(|one| one.is_done),
        // What was judged, and the verdicts on the result.
        "contract": run.state.contract,
        "evaluation": evaluation,
        "tasks": run.tasks(),
        "graph": run.graph(),
        "commands": commands(run),
        "drift": run.drift(),
        "weakened": run.state.end.as_ref().map(|end| &end.weakened),
        "result": run.result(),
        "promoted": matches!(run.handed_over(), Some(Answer::Promoted)),
        "conflict": matches!(run.handed_over(), Some(Answer::Conflict { .. })),
        // The commit of the result, if one was made, or why there is none.
        "proposal": run.proposed().and_then(Result::ok),
        "not_proposed": run.proposed().and_then(Result::err),
    })
}

/// Returns what only `report.json` has: the course of the run.
pub fn details(run: &Run) -> Value {
    json!({
        "plan": run.state.plan,
        "advice": advice(run),
        "rounds": run.state.rounds,
        "amendments": words::amendments(run).iter().map(amending).collect::<Value>(),
        "guidance": run.state.guidance,
    })
}

/// Returns each command of the result, how it ended before the run, and how with the result.
fn commands(run: &Run) -> Value {
    let start = run.base();
    let tree = run.result().unwrap_or(start);
    let one = |stage: Stage| {
        let ran = run.ran(tree, stage);
        let gate = run.gate(tree, stage).filter(|gate| *gate != Gate::Missing)?;
        Some(json!({
            "stage": stage,
            "argv": ran.map(|(command, _)| &command.argv),
            "before": run.ran(start, stage).and_then(|(_, end)| end),
            "after": ran.and_then(|(_, end)| end),
            "verdict": words::gate(gate).replace(' ', "_"),
        }))
    };
    Stage::ALL.into_iter().filter_map(one).collect()
}

/// Returns what experts advise, by the ids of the tasks that got any advice.
fn advice(run: &Run) -> Value {
    let tasks = run.state.plan.iter().flat_map(|plan| &plan.tasks);
    tasks.filter_map(|item| Some((item.id.to_string(), json!(run.advice_of(&item.id)?)))).collect()
}

fn amending((amendment, persona, said): &Amending<'_>) -> Value {
    json!({ "amendment": amendment, "persona": persona, "answer": said })
}
