//! The report of a run and its dry run as objects for scripts. Their keys are a public interface.

mod comparison;

pub use comparison::{fail_on, word as verdict_word};

use serde_json::{Map, Value, json};
use skilltune_orchestrator::engine::{BlamedFile, blamed_files};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::tune::results::ending::RunOutcome;
use skilltune_phases::loops::tune::search::explanation::{self, Explanation, Fault, LeftAlone};
use skilltune_phases::loops::tune::{Edit, Improver, Round, RoundResult, Run, Uses};
use skilltune_phases::runs::event::PlacedBy;
use skilltune_phases::skills::candidate::Origin;
use skilltune_phases::skills::target::Member;

use crate::loops::tune::report::{cases, contexts, uses};
use crate::loops::tune::{improvers, words};
use crate::report::estimate::{Estimate, most_calls};
use crate::report::{ceilings, json as shared};

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, steps: &[String], estimate: &Estimate) -> Value {
    let plan = &run.plan;
    let keys = json!({
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
    });
    shared::sketch(run, &keys, estimate)
}

pub fn target(run: &Run) -> Value {
    // A run that only tries skills writes to no folder; its plan has a name for the lock instead.
    let is_written = run.plan.task.searches();
    let path = |member: &Member| is_written.then(|| member.path.clone());
    let members = run.plan.task.target.members.iter();
    members.map(|member| json!({ "name": member.name, "path": path(member) })).collect()
}

/// Returns what only `report.json` has: the verdict's basis, right after the verdict, the scenarios and the
/// rounds.
pub fn details(run: &Run, objects: &Objects) -> [Value; 2] {
    let explained = explanation::of(run);
    let rounds = run.state.rounds.iter().zip(&explained);
    let last = json!({
        "scenarios": cases::figures(run, objects),
        "rounds": rounds.map(|(round, explanation)| self::round(run, round, explanation)).collect::<Value>(),
        // If there are several: how many edits each has made, and what these have gained.
        "improvers": improvers::json(run),
        "context": contexts::json(objects, run),
        "changes": changes(run, objects),
        // Whether the target has the champion now; null if the run does not search.
        "applied": run.plan.task.searches().then(|| is_applied(run)),
    });
    [json!({ "verdict": comparison::word(run), "comparison": comparison::comparison(run) }), last]
}

/// A command may have replaced the target since the run ended.
fn is_applied(run: &Run) -> bool {
    match run.placed {
        Some(PlacedBy::Rollback) => false,
        Some(_) => true,
        None => run.outcome() == RunOutcome::Improved,
    }
}

/// Returns what differs between the start and the version that a search leaves. Unknown if the store has lost a version.
fn changes(run: &Run, objects: &Objects) -> Option<Value> {
    let file = |BlamedFile { member, path, lines, left_out }: BlamedFile| {
        let (member, path) = (&run.plan.member(member).name, path.to_string());
        json!({ "member": member, "path": path, "lines": lines, "left_out": left_out })
    };
    let files = run.plan.task.searches().then(|| blamed_files(objects, run).ok())??;
    Some(files.into_iter().map(file).collect())
}

#[cfg(test)]
pub fn report(run: &Run) -> Value {
    shared::report(run, &Objects::at(std::path::Path::new("/p/.skilltune/objects")))
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
    let origin = match &round.edit {
        Some(Edit::Draft { origin, .. }) => Some(origin),
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
        // The candidate that was edited into the draft.
        "draft_of": origin.map(|origin| origin.parent),
        // The kinds of its edit, one or more of `wording`, `structure`, `script` and `description`.
        "edit_kinds": origin.map(|origin| &origin.kinds),
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
