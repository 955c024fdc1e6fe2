//! A person has changed the project while the run was paused. Until the first evaluation, the run goes on with the project
//! as it was found: the merged work is put on it, and tasks that have not begun are planned again if files that they name
//! have changed. If the two do not go together, the run stays with the project as it was.

use std::collections::BTreeSet;

use super::decision::{Decision, Moved, Pass, PassKind, WorkEnd};
use super::next::after;
use super::plan::{Item, Planned};
use super::spec::Id;
use super::state::Begun;
use super::step::{Answer, Followed, Step};
use super::task::Base;
use super::{Next, Run};
use crate::base::id::TreeId;
use crate::runs::run::StepState;

/// Whether the run can move now: no work waits to be merged on the project as it was, or to be done again.
pub(super) fn is_due(run: &Run) -> bool {
    let is_again = |end: &WorkEnd| matches!(end, WorkEnd::Again(_));
    let has_work = |begun: &Begun| begun.batch.tasks.iter().any(|due| run.made(due, begun).is_some());
    run.state.open_batch().is_none_or(|(_, begun)| !has_work(begun)) && !run.state.ends.values().any(is_again)
}

pub(super) fn next<'a>(run: &'a Run, plan: &'a Planned, found: &Base) -> Next<'a> {
    let (from, tree) = (run.base(), run.state.tree);
    let answered = |answer: &'a Answer| match answer {
        Answer::Followed(followed) => Some(follow(run, plan, found.tree, followed)),
        _ => None,
    };
    after(run, Step::Follow { from, tree, to: found.tree }, answered, |why| stayed(&[], why))
}

fn follow<'a>(run: &'a Run, plan: &Planned, found: TreeId, followed: &Followed) -> Next<'a> {
    let Followed { changed, named, trees, refused } = followed;
    // All evaluations of a run are about one project.
    if !run.state.rounds.is_empty() {
        return stayed(changed, "a result was judged before");
    }
    if let Some(why) = refused {
        return stayed(changed, why);
    }
    let tree = trees.last().copied().unwrap_or(found);
    let pending = run.pending(plan);
    let again: Vec<Id> = named.iter().filter(|id| pending.contains(*id)).cloned().collect();
    let mut moved = Moved {
        changed: changed.clone(),
        works: trees.clone(),
        again: Vec::new(),
        plan: Planned { tree: Some(found), ..plan.clone() },
        pass: None,
    };
    let replan = Step::Replan { tasks: again.clone(), tree };
    match run.state_of(&replan) {
        _ if again.is_empty() => {}
        StepState::Open => return Next::one(replan),
        StepState::Answered(Answer::Divided(tasks)) => {
            moved.plan = moved.plan.replaced(&again, tasks);
            let to_come = to_come(&pending, &again, tasks);
            let layers = moved.plan.layers_of(&to_come);
            let is_under_way = !run.state.passes.is_empty();
            let pass = Pass { kind: PassKind::Plan, from: tree, layers, new: Vec::new(), note: "".into() };
            moved.pass = is_under_way.then_some(pass);
            moved.again = again;
        }
        // The tasks stay as they were.
        StepState::Answered(_) | StepState::GivenUp(_) => {}
    }
    Next::Decide(Decision::Moved(Box::new(moved)))
}

fn stayed<'a>(changed: &[Box<str>], why: &str) -> Next<'a> {
    Next::Decide(Decision::Stayed { changed: changed.to_vec(), why: why.into() })
}

/// Returns the tasks that have to be done after some were planned again.
fn to_come(pending: &BTreeSet<Id>, again: &[Id], new: &[Item]) -> BTreeSet<Id> {
    let kept = pending.iter().filter(|id| !again.contains(id));
    kept.chain(new.iter().map(|item| &item.id)).cloned().collect()
}

impl Run {
    /// Returns the tasks of the plan that have not begun and still will.
    fn pending(&self, plan: &Planned) -> BTreeSet<Id> {
        let state = &self.state;
        // A batch without any work begins again.
        let begun = || state.batches.iter().filter(|begun| begun.ends.is_some());
        let has_begun = |id: &Id| begun().any(|begun| begun.batch.tasks.iter().any(|due| due.task == *id));
        let is_pending = |id: &&Id| {
            let is_due = match state.passes.last() {
                Some(pass) => pass.tasks().any(|task| task == *id),
                None => self.plan.task.does(id),
            };
            is_due && !has_begun(id) && !matches!(state.ends.get(*id), Some(WorkEnd::Skipped))
        };
        plan.tasks.iter().map(|item| &item.id).filter(is_pending).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
