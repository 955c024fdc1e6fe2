//! Checks that a record names only what the plan has. A journal may come from someone else, and the fold and all pages
//! look up members, scenarios and demands by their numbers.

use super::decision::{Decision, Shipment, UnpairedSamples};
use super::step::{Step, Trial};
use super::{Event, Plan};
use crate::base::id::TreeId;
use crate::skills::target::Place;

pub(super) fn knows(plan: &Plan, event: &Event) -> bool {
    match event {
        Event::Started(plan) => is_whole(plan),
        Event::Done(done) => has_step(plan, &done.step),
        Event::Decided(decision) => has_decision(plan, decision),
        Event::Noted(_) => true,
    }
}

/// More trials of each version than any setting allows. Pages iterate over all of them.
const MOST_TRIALS: u32 = 10_000;

/// Whether the plan has a member, each version has a tree for each member, and the trials are bounded.
fn is_whole(plan: &Plan) -> bool {
    let members = plan.task.target.members.len();
    let is_bounded = are_bounded(plan, plan.task.rules.confirm);
    let is_version = |trees: &[TreeId]| trees.len() == members;
    let mut tests = plan.task.regraded().into_iter().flat_map(|of| &of.tests);
    is_bounded
        && members > 0
        && plan.task.aim.sides().is_none_or(|sides| is_version(&sides.trees))
        && tests.all(|test| has_scenario(plan, test.scenario) && is_version(&test.trees))
}

/// Returns whether a comparison that begins with these trials of each version has few enough after all its
/// extensions.
fn are_bounded(plan: &Plan, trials: u32) -> bool {
    trials.max(1).saturating_mul(plan.task.rules.extensions.saturating_add(1)) <= MOST_TRIALS
}

fn has_step(plan: &Plan, step: &Step) -> bool {
    match step {
        Step::SetUp { scenario, .. } => has_scenario(plan, *scenario),
        Step::Exercise { member, trial, .. } | Step::Inspect { member, trial, .. } => {
            has_member(plan, *member) && has_trial(plan, *trial)
        }
        Step::Check { trial, demand, .. } => {
            plan.task.scenarios.get(trial.scenario).is_some_and(|scenario| *demand < scenario.demands.len())
        }
        Step::Grade { trial, .. } | Step::Judge { trial, .. } => has_trial(plan, *trial),
        Step::Improve { member, .. } => has_member(plan, *member),
        Step::JudgeText { .. } | Step::Ask(_) | Step::Promote { .. } | Step::Propose { .. } => true,
    }
}

fn has_decision(plan: &Plan, decision: &Decision) -> bool {
    let all = |scenarios: &[usize]| scenarios.iter().all(|&scenario| has_scenario(plan, scenario));
    match decision {
        Decision::Open { scenarios, .. } | Decision::Consult { scenarios } => all(scenarios),
        Decision::Target { member, .. } => member.is_none_or(|member| has_member(plan, member)),
        Decision::Focus(member) | Decision::NoDraft { member, .. } => has_member(plan, *member),
        Decision::Draft(candidate) => {
            candidate.trees.len() == plan.task.target.members.len()
                && candidate.origin.as_ref().is_none_or(|origin| has_member(plan, origin.member))
        }
        Decision::Retry { scenarios, won } => all(scenarios) && has_shipment(plan, won),
        Decision::Ship(shipment) => has_shipment(plan, shipment),
        Decision::Compare { trials, .. } => trials.is_none_or(|trials| are_bounded(plan, trials)),
        Decision::Scored(_)
        | Decision::Calibrate(_)
        | Decision::Keep(_)
        | Decision::Drop { .. }
        | Decision::Turn(_)
        | Decision::Stop(_)
        | Decision::LookAgain { .. }
        | Decision::Dismiss { .. }
        | Decision::Close(_) => true,
    }
}

fn has_shipment(plan: &Plan, shipment: &Shipment) -> bool {
    let unpaired = shipment
        .unpaired
        .iter()
        .flat_map(|UnpairedSamples { start, challenger, .. }| start.iter().chain(challenger));
    let pairs = shipment.pairs.iter().map(|pair| pair.scenario);
    let mut named = pairs.chain(unpaired.map(|(scenario, _)| *scenario)).chain(shipment.fell.iter().copied());
    named.all(|scenario| has_scenario(plan, scenario))
}

fn has_trial(plan: &Plan, trial: Trial) -> bool {
    has_scenario(plan, trial.scenario)
}

fn has_scenario(plan: &Plan, scenario: usize) -> bool {
    scenario < plan.task.scenarios.len()
}

fn has_member(plan: &Plan, member: Place) -> bool {
    member.0 < plan.task.target.members.len()
}
