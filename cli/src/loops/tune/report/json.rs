//! A run of `tune` as one object for scripts. Its keys are a public interface.

mod comparison;

pub use comparison::word as verdict_word;

use serde_json::{Map, Value, json};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::tune::aims::calibration;
use skilltune_phases::loops::tune::search::explanation::{self, Explanation, Fault, LeftAlone};
use skilltune_phases::loops::tune::{Aim, Edit, Improver, Round, RoundResult, Run, Uses};
use skilltune_phases::skills::candidate::Origin;

use crate::loops::tune::report::{calibrating, comparing, uses, without_skill};
use crate::loops::tune::{dangers, improvers, words};
use crate::report::ceilings;
use crate::report::estimate::Estimate;
use crate::report::json::{agents, blocked, cost, costs, most_calls, rights};

/// Returns the last output on stdout with `--format json`.
///
/// For a run with an internal error (exit code 1), outcome and reason are `error`, and `error` has the cause: see
/// `failure`.
pub fn summary(run: &Run) -> Value {
    let mut summary = of_any(run);
    if without_skill::is_one(run) {
        summary["without_skill"] = without_skill::json(run);
    }
    if let Some(shown) = calibration::of(run) {
        summary["calibration"] = calibrating::json(run, &shown);
    }
    if let Some(two) = comparing::of(run) {
        summary["compared"] = comparing::json(run, two);
    }
    summary
}

fn of_any(run: &Run) -> Value {
    let plan = &run.plan;
    let is_search = plan.task.aim == Aim::Improve;
    json!({
        // The result of the final comparison comes first.
        "verdict": comparison::word(run),
        // The dangers in the champion's edits, which a person has to look at before it is applied.
        "dangers": dangers::json(run),
        "run_id": plan.run,
        "loop": plan.kind,
        "target": target(run),
        "outcome": run.outcome(),
        "reason": run.state.stopped,
        "blocked": blocked(run),
        // The ceiling at which it is paused.
        "paused": ceilings::json(run),
        "limits": ceilings::all(run),
        "initial_score": run.initial_score(),
        "final_score": run.final_score(),
        "threshold": plan.task.rules.threshold,
        // Whether it passes the pipeline's condition, which replaces the goal; null if there is none.
        "fail_on": comparison::fail_on(run),
        // A score is only as good as its judge.
        "agents": agents(&plan.roles),
        // The number of calls that each model answered, by role, as far as the agents report it.
        "models": run.models,
        "notes": words::notes(plan).into_iter().chain(words::changes(run)).chain(words::answers_found(run)).collect::<Vec<_>>(),
        // The mechanism that enforces the rights of each role.
        "rights": rights(&plan.roles),
        // Whether scores show the structure of the skill alone, because nothing ran.
        "structural": plan.is_structural(),
        "delivery": plan.task.delivery.word(),
        // Whether an executor could run commands, in any scenario.
        "tools": if plan.task.has_shell() { "shell" } else { "files" },
        // Null if there is no search; the maximum of executor runs is null in rounds.
        "search": is_search.then(|| words::search(plan)),
        "runs": is_search.then(|| words::runs(plan)).flatten(),
        "iterations": run.state.rounds.len(),
        "accepted": run.accepted(),
        "rejected": run.rejected(),
        "champion": run.state.shipment.as_ref().map(|shipment| shipment.champion),
        // The commit of the champion, if one was made.
        "proposal": run.proposed().and_then(Result::ok),
        // Written only at the end.
        "report": run.state.closed.map(|_| format!("{}/final-report.md", plan.folder)),
        "state": format!("{}/iteration-state.json", plan.folder),
        "cost": cost(&run.ledger.total()),
    })
}

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, steps: &[String], estimate: &Estimate) -> Value {
    let plan = &run.plan;
    json!({
        "dry_run": true,
        "loop": plan.kind,
        "target": target(run),
        "threshold": plan.task.rules.threshold,
        "search": words::search(plan),
        // The maximum of executor runs; null in rounds.
        "runs": words::runs(plan),
        "max_iterations": plan.task.rules.max_iterations,
        "scenarios": plan.task.scenarios.len(),
        "held_out": plan.task.scenarios.iter().filter(|scenario| scenario.held_out).count(),
        // In words.
        "first_steps": steps,
        "most_calls": most_calls(most),
        "limits": ceilings::all(run),
        "estimate": estimate.json(),
        "agents": agents(&plan.roles),
        "notes": words::notes(plan),
    })
}

fn target(run: &Run) -> Value {
    let members = run.plan.task.target.members.iter();
    members.map(|member| json!({ "name": member.name, "path": member.path })).collect()
}

/// Returns `report.json`: the verdict and its basis, the summary, and the rounds.
pub fn report(run: &Run) -> Value {
    let mut report = Map::new();
    report.insert("verdict".to_owned(), json!(comparison::word(run)));
    report.insert("comparison".to_owned(), json!(comparison::comparison(run)));
    if let Value::Object(summary) = summary(run) {
        report.extend(summary);
    }
    report.insert("costs".to_owned(), costs(run));
    let explained = explanation::of(run);
    let rounds = run.state.rounds.iter().zip(&explained);
    let rounds = rounds.map(|(round, explanation)| self::round(run, round, explanation)).collect();
    report.insert("rounds".to_owned(), rounds);
    // If there are several: how many edits each has made, and what these have gained.
    report.insert("improvers".to_owned(), improvers::json(run));
    report.into()
}

fn skill_uses(run: &Run, round: &Round) -> Option<Uses> {
    run.plan.task.delivery.at().map(|_| uses::of_round(run, round))
}

fn round(run: &Run, round: &Round, explanation: &Explanation) -> Value {
    let dropped = match &round.result {
        Some(RoundResult::Dropped(why)) => Some(why.to_string()),
        Some(RoundResult::Kept) | None => None,
    };
    let (draft, failure) = match &round.edit {
        Some(Edit::Draft { candidate, .. }) => (Some(candidate), None),
        Some(Edit::Nothing { failure, .. }) => (None, Some(failure)),
        None => (None, None),
    };
    let kinds = match &round.edit {
        Some(Edit::Draft { origin, .. }) => Some(&origin.kinds),
        Some(Edit::Nothing { .. }) | None => None,
    };
    let edited = match &round.edit {
        Some(Edit::Draft { origin: Origin { member, .. }, .. } | Edit::Nothing { member, .. }) => {
            Some(*member)
        }
        None => None,
    };
    let edited = edited.map(|member| &run.plan.member(member).name);
    json!({
        "round": round.number,
        "candidate": round.candidate,
        "started_at": round.started_at,
        "measured": round.measured,
        // If it was installed: the number of trials by kind of use.
        "skill": skill_uses(run, round),
        // In a search by single trials: what its edit was for, and what else failed.
        "targets": round.targets.as_ref().map(|_| explanation.targets.iter().map(|one| fault(run, one)).collect::<Value>()),
        "left_alone": words::is_by_single_trials(&run.plan).then(|| left_alone(run, explanation)),
        "kept": round.result.as_ref().map(|result| *result == RoundResult::Kept),
        "dropped_because": dropped,
        "edited_member": edited,
        "edited_by": round.turn.map(Improver::role),
        "draft": draft,
        // The kinds of its edit, one or more of `wording`, `structure`, `script` and `description`.
        "edit_kinds": kinds,
        "edit_failure": failure,
    })
}

fn left_alone(run: &Run, explanation: &Explanation) -> Value {
    let with_reason = |(fault, why): &(Fault, LeftAlone)| {
        let mut entry = self::fault(run, fault);
        entry["why"] = why.word().into();
        entry
    };
    explanation.left_alone.iter().map(with_reason).collect()
}

fn fault(run: &Run, fault: &Fault) -> Value {
    let members = run.plan.task.target.members.iter().zip(&fault.at_fault);
    let at_fault: Map<String, Value> =
        members.map(|(member, share)| (member.name.to_string(), thousandths(*share).into())).collect();
    json!({
        "statement": fault.statement,
        "criterion": fault.criterion,
        "passed": fault.passed,
        "failed": fault.failed,
        "chance_before": thousandths(fault.chance),
        "chance_after": fault.next.map(|next| thousandths(next.chance)),
        // In a chain: how likely each member was at fault.
        "at_fault": (!at_fault.is_empty()).then_some(at_fault),
        "looked_at_again": fault.next.map(|next| next.round),
    })
}

/// Rounds to three digits: more would not be reliable.
fn thousandths(chance: f64) -> f64 {
    (chance * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests;
