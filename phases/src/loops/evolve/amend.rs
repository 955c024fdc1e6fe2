//! Flows B and C: the evaluator may change the criteria, then the tasks of what is unmet, changed or new are done again.

use std::collections::BTreeSet;

use super::amendment::Amendment;
use super::course::{Pattern, Persona};
use super::decision::{Amended, Decision, Pass, PassKind};
use super::evaluation::{Contract, Evaluation};
use super::next::after;
use super::plan::{Item, Planned};
use super::spec::Id;
use super::step::{Answer, Choice, Question, Step};
use super::{Next, Run};
use crate::base::id::TreeId;
use crate::runs::run::StepState;

/// The point of view of flow C, and the pattern that it answers.
type Pivot = (Persona, Pattern);

/// Asks for an amendment, and for approval if it changes what was there. If `falls_back`, the tree goes back to the last
/// green one.
pub(super) fn next(run: &Run, pivot: Option<Pivot>, falls_back: bool) -> Next<'_> {
    let state = &run.state;
    let (Some(contract), Some(plan)) = (&state.contract, &state.plan) else { return Next::End };
    let (round, persona) = (state.amendments, pivot.map(|(persona, _)| persona));
    let nothing = |_: &str| amended(contract.clone(), None, persona, None);
    after(
        run,
        Step::Amend { round, persona },
        |answer| {
            let Answer::Amended(amendment) = answer else { return None };
            let ask = Step::Ask { question: Question::Amendment, round };
            let approved = match run.state_of(&ask) {
                _ if !amendment.needs_approval() => None,
                StepState::Open => return Some(Next::one(ask)),
                StepState::Answered(answer) => Some(*answer == Answer::Chosen(Choice::Approve)),
                StepState::GivenUp(_) => Some(false),
            };
            let part =
                if approved == Some(false) { amendment.without_changes() } else { (**amendment).clone() };
            Some(impacted(run, (contract, plan), (&part, approved), (pivot, falls_back)))
        },
        nothing,
    )
}

/// Returns the tasks that follow from an amendment.
fn impacted<'a>(
    run: &'a Run,
    (contract, plan): (&Contract, &Planned),
    (amendment, approved): (&Amendment, Option<bool>),
    (pivot, falls_back): (Option<Pivot>, bool),
) -> Next<'a> {
    let persona = pivot.map(|(persona, _)| persona);
    // A persona that has nothing to add gives no reason to try again.
    if pivot.is_some() && amendment.is_empty() {
        return amended(contract.clone(), approved, persona, None);
    }
    let (new_contract, ids) = contract.amended(amendment);
    let step = Step::Divide { round: run.state.amendments + 1 };
    let mut new: Vec<Item> = Vec::new();
    if !ids.is_empty() {
        match run.state_of(&step) {
            StepState::Open => return Next::one(step),
            StepState::Answered(Answer::Divided(tasks)) => new.clone_from(tasks),
            // Without tasks, nothing could meet the new criteria.
            StepState::Answered(_) | StepState::GivenUp(_) => {
                return amended(contract.clone(), approved, persona, None);
            }
        }
    }
    let from = if falls_back { run.last_green() } else { run.best_tree() };
    let mut tasks = run.tasks_of_unmet(contract, plan);
    tasks.extend(touched(amendment, plan));
    if falls_back {
        tasks.extend(run.merged_since(from));
    }
    tasks.extend(new.iter().map(|item| item.id.clone()));
    let whole = Planned { tasks: plan.tasks.iter().chain(&new).cloned().collect(), ..plan.clone() };
    let tasks = run.with_needs(&whole, from, tasks);
    let kind = match pivot {
        None => PassKind::Patch,
        Some((persona, pattern)) => PassKind::Pivot { persona, pattern },
    };
    let (layers, note) = (whole.layers_of(&tasks), amendment.description.clone());
    let pass = (!tasks.is_empty()).then_some(Pass { kind, from, layers, new, note });
    amended(new_contract, approved, persona, pass)
}

fn amended<'a>(
    contract: Contract,
    approved: Option<bool>,
    persona: Option<Persona>,
    pass: Option<Pass>,
) -> Next<'a> {
    Next::Decide(Decision::Amended(Box::new(Amended { contract, approved, persona, pass })))
}

/// Returns the tasks of changed criteria, and those that new constraints touch.
fn touched(amendment: &Amendment, plan: &Planned) -> BTreeSet<Id> {
    let is_changed =
        |item: &&Item| item.covers.iter().any(|id| amendment.changes.iter().any(|change| change.id == *id));
    let changed = plan.tasks.iter().filter(is_changed).map(|item| item.id.clone());
    let constrained = amendment.constraints.iter().flat_map(|one| one.tasks.iter().cloned());
    changed.chain(constrained).collect()
}

impl Run {
    /// Returns the tasks of the criteria that the best evaluation does not find met: also of those that were added after
    /// it, because their work is taken back. A broken constraint or a false statement of the goal concerns every task
    /// that covers a criterion.
    fn tasks_of_unmet(&self, contract: &Contract, plan: &Planned) -> BTreeSet<Id> {
        let Some(evaluation) = self.basis() else { return BTreeSet::new() };
        // Work on a disputed criterion helps no more: a person decides.
        let met = evaluation.judgement.criteria.iter().filter(|one| one.is_met || one.is_disputed);
        let met: BTreeSet<&Id> = met.map(|one| &one.id).collect();
        let unmet: BTreeSet<&Id> =
            contract.criteria.iter().map(|one| &one.id).filter(|id| !met.contains(id)).collect();
        let is_all = unmet.is_empty() && !evaluation.is_done;
        let concerns = |item: &&Item| {
            !item.covers.is_empty() && (is_all || item.covers.iter().any(|id| unmet.contains(id)))
        };
        plan.tasks.iter().filter(concerns).map(|item| item.id.clone()).collect()
    }

    /// Returns these tasks with what depends on them, and with what any of these needs and a tree does not have: without
    /// it, it would be skipped, or done on nothing.
    pub fn with_needs(&self, plan: &Planned, from: TreeId, mut tasks: BTreeSet<Id>) -> BTreeSet<Id> {
        let works = self.works_of(from);
        let is_done = |id: &Id| works.iter().any(|work| work.task == *id) && !self.state.has_failed(id);
        loop {
            tasks = plan.downstream(&tasks);
            let needed = tasks.iter().filter_map(|id| plan.item(id)).flat_map(|item| &item.after);
            let missing: Vec<Id> =
                needed.filter(|id| !tasks.contains(*id) && !is_done(id)).cloned().collect();
            if missing.is_empty() {
                return tasks;
            }
            tasks.extend(missing);
        }
    }

    /// Returns the tasks of the plan that were merged after a tree. Without them, their fixes have nothing to fix.
    fn merged_since(&self, tree: TreeId) -> impl Iterator<Item = Id> {
        let merged = &self.state.merged;
        let from = merged.iter().rposition(|work| work.after == tree).map_or(0, |at| at + 1);
        let tasks = merged[from..].iter().map(|work| work.task.clone());
        let is_fix = |task: &Id| {
            let item = self.state.plan.as_ref().and_then(|plan| plan.item(task));
            item.is_none_or(Item::is_fix)
        };
        tasks.filter(move |task| !is_fix(task))
    }

    /// Returns the evaluation of the tree that the next tasks start from: the best one, else the newest.
    pub fn basis(&self) -> Option<&Evaluation> {
        let best = self.state.best().and_then(|round| round.evaluation.as_ref());
        best.or_else(|| self.state.rounds.iter().rev().find_map(|round| round.evaluation.as_ref()))
    }

    /// Returns the last tree whose commands were green, else the unchanged project.
    fn last_green(&self) -> TreeId {
        self.state.last_green().unwrap_or_else(|| self.base())
    }
}
