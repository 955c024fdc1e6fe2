//! The state machine: decides what comes next, as a function of the run alone.
//!
//! ```text
//! plan -> advice -> pass: layers of tasks -> evaluate -> follow: done | fix | amend -> pass ... | ask a person
//! ```

use super::advice;
use super::amend;
use super::batch;
use super::course::{Entry, NextAction};
use super::decision::{Batch, Decision, Due, Ending, Pass, PassKind, Round, WorkEnd};
use super::ending::{finish, finish_because};
use super::evaluate::{Judged, judged};
use super::moving;
use super::next::{after, all, ended, pass_of};
use super::planning;
use super::spec::Id;
use super::stages;
use super::step::{Answer, Choice, Question, Step};
use super::verifying;
use super::{Next, Run};

pub(super) fn next(run: &Run) -> Next<'_> {
    let state = &run.state;
    if run.closed_at.is_some() {
        return Next::End;
    }
    if state.end.is_some() {
        return run.tail().map_or_else(Next::one, |_| Next::Decide(Decision::Close));
    }
    if state.is_ended_by_caller {
        return finish(run, Ending::Caller, run.best_tree());
    }
    if let Some(verify) = &run.plan.task.verify {
        return verifying::next(run, verify);
    }
    let Some(plan) = &state.plan else { return planning::plan(run) };
    if run.plan.task.plan_only {
        return ended(Ending::Planned, None);
    }
    if let Some(found) = state.found.as_ref().filter(|_| moving::is_due(run)) {
        return moving::next(run, plan, found);
    }
    let advice = advice::due(run);
    if !advice.is_empty() {
        return all(advice);
    }
    if let Some((number, begun)) = state.open_batch() {
        return batch::next(run, number, begun);
    }
    let Some(pass) = state.passes.last() else {
        let all = plan.tasks.iter().map(|item| &item.id).filter(|id| run.plan.task.does(id));
        let (from, layers) = (state.tree, plan.layers_of(&all.cloned().collect()));
        return pass_of(Pass { kind: PassKind::Plan, from, layers, new: Vec::new(), note: "".into() });
    };
    if let Some(batch) = next_batch(run, pass) {
        return Next::Decide(Decision::Batch(Box::new(batch)));
    }
    if let Some(disputed) = run.waits_for_a_person() {
        // An earlier result may score as much, and lacks more than a decision.
        return finish_because(run, Ending::HumanEscalation, state.tree, Some(&disputed));
    }
    match state.course.follow(&run.plan.task.rules.caps) {
        NextAction::Evaluate => evaluate(run),
        NextAction::Done => finish(run, Ending::Success, state.tree),
        NextAction::Fix => stages::fix(run),
        NextAction::Patch { falls_back } => amend::next(run, None, falls_back),
        NextAction::Pivot { persona, pattern, falls_back } => {
            amend::next(run, Some((persona, pattern)), falls_back)
        }
        NextAction::Hold => escalate(run),
    }
}

/// Evaluates the merged tree.
pub(super) fn evaluate(run: &Run) -> Next<'_> {
    let tree = run.state.tree;
    let round = match judged(run, tree) {
        Err(steps) => return all(steps),
        Ok(Judged::Bare) => {
            let why = "the project has no command that lints, builds or tests it";
            return finish_because(run, Ending::Incomplete, tree, Some(why));
        }
        Ok(Judged::Unjudged(why)) => {
            return finish_because(run, Ending::Incomplete, run.best_tree(), Some(&why));
        }
        Ok(Judged::Red(red)) => Round { tree, red, evaluation: None },
        Ok(Judged::Whole(evaluation)) => Round { tree, red: Vec::new(), evaluation: Some(evaluation) },
    };
    Next::Decide(Decision::Evaluated(Box::new(round)))
}

impl Run {
    /// Returns that the newest result only lacks a person's decision on disputed criteria, if it does.
    fn waits_for_a_person(&self) -> Option<String> {
        let state = &self.state;
        if !matches!(state.course.entries.last(), Some(Entry::Judged { .. })) {
            return None;
        }
        let evaluation = state.rounds.last()?.evaluation.as_ref()?;
        if !evaluation.waits_for_a_person(state.contract.as_ref()?, &self.plan.task.rules) {
            return None;
        }
        let disputed = evaluation.judgement.criteria.iter().filter(|one| one.is_disputed);
        let ids: Vec<&str> = disputed.map(|one| &*one.id).collect();
        Some(format!(
            "a person has to decide on {}: the oracle fails, and the evaluator finds it met",
            ids.join(", ")
        ))
    }
}

/// Returns the next tasks of a pass: those of its layer that have to be done again, or the next layer.
fn next_batch(run: &Run, pass: &Pass) -> Option<Batch> {
    let state = &run.state;
    let number = state.passes.len() - 1;
    let last = state.batches.last().filter(|begun| begun.pass == number);
    let ends = || last.and_then(|last| last.ends.as_ref()).into_iter().flatten();
    let again = ends().filter_map(|end| match &end.end {
        WorkEnd::Again(why) => Some(due(run, &end.task, Some(why.clone()))),
        WorkEnd::Merged(_) | WorkEnd::Failed(_) | WorkEnd::Skipped => None,
    });
    let again: Vec<Due> = again.collect();
    let from = state.tree;
    if let Some(last) = last.filter(|_| !again.is_empty()) {
        return Some(Batch { layer: last.batch.layer, from, tasks: again, skipped: Vec::new() });
    }
    let layer = last.map_or(0, |last| last.batch.layer + 1);
    let (skipped, tasks): (Vec<Id>, Vec<Id>) =
        pass.layers.get(layer)?.iter().cloned().partition(|task| is_stuck(run, task));
    let tasks = tasks.iter().map(|task| due(run, task, None)).collect();
    Some(Batch { layer, from, tasks, skipped })
}

fn due(run: &Run, task: &Id, again: Option<Box<str>>) -> Due {
    Due { task: task.clone(), go: run.state.goes(task) + 1, again }
}

/// Whether a task that this one needs has failed or was skipped.
fn is_stuck(run: &Run, task: &Id) -> bool {
    let item = run.state.plan.as_ref().and_then(|plan| plan.item(task));
    item.is_some_and(|item| item.after.iter().any(|needed| run.state.has_failed(needed)))
}

/// Asks a person after all personas were used.
fn escalate(run: &Run) -> Next<'_> {
    let round = u32::try_from(run.state.course.entries.len()).unwrap_or(u32::MAX);
    let best = run.best_tree();
    let answered = |answer: &Answer| match answer {
        Answer::Chosen(choice @ Choice::Guide { .. }) => {
            Some(Next::Decide(Decision::Answered { choice: choice.clone() }))
        }
        Answer::Chosen(Choice::Accept | Choice::End) => Some(finish(run, Ending::HumanEscalation, best)),
        _ => None,
    };
    after(run, Step::Ask { question: Question::Escalation, round }, answered, |why| {
        finish_because(run, Ending::HumanEscalation, best, Some(why))
    })
}
