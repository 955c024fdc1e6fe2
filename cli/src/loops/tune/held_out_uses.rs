//! Counts how often the held-out scenarios of a plan have decided before: each time one more version may win by luck.

use std::collections::HashSet;

use skilltune_phases::loops::tune::{Basis, Plan, Run, Tune};
use skilltune_phases::skills::target::Member;

use crate::runs::Runs;

/// Returns the number of uses before this run. Each run stores it, so that the count survives deleted runs.
pub fn before(plan: &Plan, runs: &Runs) -> u32 {
    let own = held_out(plan);
    let names = |plan: &Plan| members(plan, |member| member.name.to_string());
    let paths = |plan: &Plan| members(plan, |member| member.path.clone());
    // Regrading the same trials is one more use; the skills of such a run have no place.
    let has_no_place = |plan: &Plan| plan.task.regraded().is_some();
    let is_like = |other: &Plan| {
        let is_same_place = has_no_place(plan) || has_no_place(other) || paths(other) == paths(plan);
        names(other) == names(plan) && is_same_place && !own.is_disjoint(&held_out(other))
    };
    runs.like::<Tune>(is_like).iter().map(so_far).max().unwrap_or(0)
}

/// Returns the uses before this run plus its own.
pub fn so_far(run: &Run) -> u32 {
    let tested = run.state.shipment.as_ref().is_some_and(|shipment| shipment.effect.is_some());
    run.plan.task.held_out_uses + u32::from(tested && run.plan.basis() == Basis::HeldOut)
}

fn members(plan: &Plan, what: impl Fn(&Member) -> String) -> Vec<String> {
    plan.task.target.members.iter().map(what).collect()
}

fn held_out(plan: &Plan) -> HashSet<(String, String)> {
    let scenarios = plan.task.scenarios.iter().filter(|scenario| scenario.held_out);
    scenarios.map(|scenario| (scenario.id.to_string(), scenario.description.clone())).collect()
}
