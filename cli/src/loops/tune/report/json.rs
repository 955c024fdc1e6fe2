//! A run of `tune` as one object for scripts. Its keys are a public interface.

use serde_json::{Value, json};
use skilltune_phases::candidate::Origin;
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::tune::{Edit, Round, Run, Standing, Uses};

use crate::loops::tune::report::uses;
use crate::loops::tune::words;
use crate::report::json::{agents, blocked, cost, most_calls, rights};

/// The last thing on stdout with `--format json`.
///
/// Of a run that we failed (exit code 1) it says `error` as outcome and as reason, and why in `error`: see `failure`.
pub fn summary(run: &Run) -> Value {
    let plan = &run.plan;
    json!({
        "run_id": plan.run,
        "loop": plan.kind,
        "target": target(run),
        "outcome": run.outcome(),
        "reason": run.state.stopped,
        "blocked": blocked(run),
        "initial_score": run.initial_score(),
        "final_score": run.final_score(),
        "threshold": plan.task.rules.threshold,
        // A score is worth what its judge is.
        "agents": agents(&plan.roles),
        // By role, how many calls each model answered, as far as the agents report it.
        "models": run.models,
        "notes": words::notes(plan).into_iter().chain(words::changes(run)).collect::<Vec<_>>(),
        // Who keeps them to what their roles may do.
        "rights": rights(&plan.roles),
        // Whether scores show the structure of the skill alone, because nothing ran.
        "structural": plan.is_structural(),
        "delivery": plan.task.delivery.word(),
        // Whether an executor could run commands, in any scenario.
        "tools": if plan.task.has_shell() { "shell" } else { "files" },
        "iterations": run.state.rounds.len(),
        "accepted": run.accepted(),
        "rejected": run.rejected(),
        "champion": run.state.shipment.as_ref().map(|shipment| shipment.champion),
        // Written at the end, and not before.
        "report": run.state.closed.map(|_| format!("{}/final-report.md", plan.folder)),
        "state": format!("{}/iteration-state.json", plan.folder),
        "cost": cost(&run.ledger.total()),
    })
}

/// What a dry run shows: no run, but what one would be.
pub fn sketch(run: &Run, most: &MostCalls, steps: &[String]) -> Value {
    let plan = &run.plan;
    json!({
        "dry_run": true,
        "loop": plan.kind,
        "target": target(run),
        "threshold": plan.task.rules.threshold,
        "max_iterations": plan.task.rules.max_iterations,
        "scenarios": plan.task.scenarios.len(),
        "held_out": plan.task.scenarios.iter().filter(|scenario| scenario.held_out).count(),
        // In words.
        "first_steps": steps,
        "most_calls": most_calls(most),
        "agents": agents(&plan.roles),
        "notes": words::notes(plan),
    })
}

fn target(run: &Run) -> Value {
    let members = run.plan.task.target.members.iter();
    members.map(|member| json!({ "name": member.name, "path": member.path })).collect()
}

/// `report.json`: the summary, and the rounds.
pub fn report(run: &Run) -> Value {
    let mut report = summary(run);
    report["comparison"] = json!(run.state.shipment);
    report["rounds"] = run.state.rounds.iter().map(|round| self::round(run, round)).collect();
    report
}

fn skill_uses(run: &Run, round: &Round) -> Option<Uses> {
    run.plan.task.delivery.at().map(|_| uses::of_round(run, round))
}

fn round(run: &Run, round: &Round) -> Value {
    let dropped = match &round.standing {
        Some(Standing::Dropped(why)) => Some(why.to_string()),
        Some(Standing::Kept) | None => None,
    };
    let (draft, failure) = match &round.edit {
        Some(Edit::Draft { candidate, .. }) => (Some(candidate), None),
        Some(Edit::Nothing { failure, .. }) => (None, Some(failure)),
        None => (None, None),
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
        // Where it was installed: in how many trials it came to what.
        "skill": skill_uses(run, round),
        "kept": round.standing.as_ref().map(|standing| *standing == Standing::Kept),
        "dropped_because": dropped,
        "edited_member": edited,
        "draft": draft,
        "edit_failure": failure,
    })
}

#[cfg(test)]
mod tests;
