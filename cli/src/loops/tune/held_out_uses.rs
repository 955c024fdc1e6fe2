//! Counts how often the held-out scenarios of a plan have decided before: each time one more version may win by luck.
//! Finds those whose faults a search has shown to an improver, after they had counted.

use std::collections::HashSet;

use skilltune_phases::loops::tune::{Basis, Plan, Run, Tune};
use skilltune_phases::skills::target::Member;
use skilltune_phases::suites::scenario::Scenario;

use crate::runs::Runs;

/// Sets the number of uses before this run, and the scenarios that were seen. Each run stores both, so that they survive
/// deleted runs.
pub fn note(plan: &mut Plan, runs: &Runs) {
    let before = before(plan, runs);
    let seen: HashSet<Task> = before.iter().flat_map(tested).collect();
    plan.task.held_out_uses = before.iter().map(so_far).max().unwrap_or(0);
    if plan.task.searches() {
        let scenarios = plan.task.scenarios.iter().enumerate();
        let known = scenarios.filter(|(_, scenario)| scenario.held_out && seen.contains(&task(scenario)));
        plan.task.seen = known.map(|(nth, _)| nth).collect();
    }
}

fn before(plan: &Plan, runs: &Runs) -> Vec<Run> {
    let own = held_out(plan);
    let names = |plan: &Plan| members(plan, |member| member.name.to_string());
    let paths = |plan: &Plan| members(plan, |member| member.path.clone());
    // Regrading the same trials is one more use; the skills of such a run have no place.
    let has_no_place = |plan: &Plan| plan.task.regraded().is_some();
    let is_like = |other: &Plan| {
        let is_same_place = has_no_place(plan) || has_no_place(other) || paths(other) == paths(plan);
        names(other) == names(plan) && is_same_place && !own.is_disjoint(&held_out(other))
    };
    runs.like::<Tune>(is_like)
}

/// Returns the held-out scenarios that a run or one before it has tried while it searched.
fn tested(run: &Run) -> Vec<Task> {
    let tried = run.state.rounds.iter().flat_map(|round| &round.scenarios);
    let known = tried.chain(&run.plan.task.seen).filter_map(|nth| run.plan.task.scenarios.get(*nth));
    known.filter(|scenario| scenario.held_out).map(task).collect()
}

/// Returns the uses before this run plus its own.
pub fn so_far(run: &Run) -> u32 {
    let tested = run.state.shipment.as_ref().is_some_and(|shipment| shipment.effect.is_some());
    run.plan.task.held_out_uses + u32::from(tested && run.plan.basis() == Basis::HeldOut)
}

fn members(plan: &Plan, what: impl Fn(&Member) -> String) -> Vec<String> {
    plan.task.target.members.iter().map(what).collect()
}

/// The id and the description of a scenario.
type Task = (String, String);

fn task(scenario: &Scenario) -> Task {
    (scenario.id.to_string(), scenario.description.clone())
}

fn held_out(plan: &Plan) -> HashSet<Task> {
    plan.task.scenarios.iter().filter(|scenario| scenario.held_out).map(task).collect()
}
