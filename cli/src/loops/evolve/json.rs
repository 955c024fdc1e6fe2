//! A run of `evolve` as data. The keys are a public interface: one meaning has one key in all loops.

use serde_json::{Value, json};
use skilltune_phases::loops::evolve::measuring::Control;
use skilltune_phases::loops::evolve::spec::Criterion;
use skilltune_phases::loops::evolve::{Answer, Gate, Run};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::runs::event::PlacedBy;

use crate::loops::evolve::repeated;
use crate::loops::evolve::words::{self, Amending};
use crate::loops::evolve::{oracles, receipts};

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
    if run.plan.task.verify.is_some() {
        return repeated::json(run);
    }
    let evaluation = run.evaluation();
    json!({
        "score": evaluation.map(|one| one.score),
        "alignment": evaluation.map(|one| one.alignment),
        "done": evaluation.map(|one| one.is_done),
        // What was judged, and the verdicts on the result.
        "contract": run.state.contract,
        "evaluation": evaluation,
        // What each criterion rests on, if machines looked at the result.
        "receipts": receipts::of(run),
        "tasks": run.tasks(),
        "graph": run.graph(),
        "commands": commands(run),
        "drift": run.drift(),
        "weakened": run.state.end.as_ref().map(|end| &end.weakened),
        "result": run.result(),
        "promoted": matches!(run.handed_over(), Some(Answer::Promoted)),
        "rolled_back": run.placed == Some(PlacedBy::Rollback),
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
        "interface": run.interface(),
        "oracles": all_oracles(run),
        "control": run.control().as_ref().map(control),
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
            "counted": (stage == Stage::Test).then(|| words::tests_counted(run.counted(tree))),
        }))
    };
    Stage::ALL.into_iter().filter_map(one).collect()
}

/// Returns the newest oracle of each criterion that has one, by their ids; null if the run has none.
fn all_oracles(run: &Run) -> Value {
    let one = |criterion: &Criterion| {
        let (go, oracle) = oracles::newest(run, &criterion.id)?;
        let oracle = json!({ "argv": oracle.argv, "shows": oracle.shows, "go": go });
        Some((criterion.id.to_string(), oracle))
    };
    let all: Value = run.plan.task.spec.criteria.iter().filter_map(one).collect();
    if oracles::may_have(run) { all } else { Value::Null }
}

/// Returns what one executor made alone.
fn control(Control { tree, red, evaluation }: &Control) -> Value {
    json!({ "tree": tree, "red": red, "evaluation": evaluation })
}

/// Returns what experts advise, by the ids of the tasks that got any advice.
fn advice(run: &Run) -> Value {
    let tasks = run.state.plan.iter().flat_map(|plan| &plan.tasks);
    tasks.filter_map(|item| Some((item.id.to_string(), json!(run.advice_of(&item.id)?)))).collect()
}

fn amending((amendment, persona, said): &Amending<'_>) -> Value {
    json!({ "amendment": amendment, "persona": persona, "answer": said })
}
