//! What experts advise on the tasks of the plan, before they begin.
//!
//! One call says which experts are relevant to which tasks. Each of those gives its perspective, and one call makes one
//! advice of several. All of it depends on the plan and the unchanged project alone, so another run finds the answers.
//! A call that fails costs its advice, never the run. Tasks that the plan did not have at first get no advice.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Run;
use super::spec::Id;
use super::step::{Answer, Consensus, Perspective, Relevant, Step};
use super::task::Task;
use crate::runs::run::StepState;

/// What a run knows about the advice on a task, for people and scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice<'a> {
    /// The experts that were asked, the most relevant first.
    pub experts: Vec<Opinion<'a>>,
    /// What follows from several perspectives. A single one needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consensus: Option<&'a Consensus>,
}

/// An expert, why it is relevant, and its perspective, if it gave one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Opinion<'a> {
    #[serde(flatten)]
    pub relevant: &'a Relevant,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perspective: Option<&'a Perspective>,
}

/// Returns the open steps of the advice; none once the first tasks may begin.
pub(super) fn due(run: &Run) -> Vec<Step> {
    let is_due = run.state.passes.is_empty() && run.plan.task.is_advised();
    let Some(plan) = run.state.plan.as_ref().filter(|_| is_due) else { return Vec::new() };
    if is_open(run, &Step::Match) {
        return vec![Step::Match];
    }
    plan.tasks.iter().flat_map(|item| due_for(run, &item.id)).collect()
}

/// Returns the open steps for one task. The consensus waits only for the perspectives on this task.
fn due_for(run: &Run, task: &Id) -> Vec<Step> {
    let advise =
        run.advisers(task).into_iter().map(|(expert, _)| Step::Advise { task: task.clone(), expert });
    let perspectives: Vec<Step> = advise.filter(|step| is_open(run, step)).collect();
    let agree = Step::Agree { task: task.clone() };
    if perspectives.is_empty() && run.perspectives(task).count() > 1 && is_open(run, &agree) {
        return vec![agree];
    }
    perspectives
}

fn is_open(run: &Run, step: &Step) -> bool {
    matches!(run.state_of(step), StepState::Open)
}

/// Returns the calls of the evaluator and those of experts for this many tasks, with this many experts each.
pub(super) fn calls(task: &Task, tasks: u64, experts: u64) -> (u64, u64) {
    if !task.is_advised() {
        return (0, 0);
    }
    let experts = experts.min(task.advice.most.into()).min(task.experts.len() as u64);
    let consensus = if experts > 1 { tasks } else { 0 };
    (1 + consensus, tasks * experts)
}

impl Run {
    /// Returns the advice on a task; none if no expert is relevant to it.
    pub fn advice_of(&self, task: &str) -> Option<Advice<'_>> {
        let opinion =
            move |(expert, relevant)| Opinion { relevant, perspective: self.perspective(task, expert) };
        let experts: Vec<Opinion<'_>> = self.advisers(task).into_iter().map(opinion).collect();
        (!experts.is_empty()).then(|| Advice { experts, consensus: self.consensus(task) })
    }

    /// Returns what an executor gets of the advice on its task: the only perspective, or the consensus of several.
    pub(super) fn guidance(&self, task: &str) -> Option<String> {
        let mut perspectives = self.perspectives(task);
        let (_, first) = perspectives.next()?;
        if perspectives.next().is_none() {
            return Some(first.text.to_string());
        }
        let consensus = self.consensus(task)?;
        let settled = consensus.conflicts.iter().map(|one| format!("- {}: {}", one.about, one.settled));
        let settled: Vec<String> = settled.collect();
        let conflicts =
            (!settled.is_empty()).then(|| format!("Where the experts differ:\n{}", settled.join("\n")));
        Some(std::iter::once(consensus.text.to_string()).chain(conflicts).collect::<Vec<_>>().join("\n\n"))
    }

    /// Returns the perspectives on a task, with the experts that gave them, the most relevant first.
    pub(super) fn perspectives(&self, task: &str) -> impl Iterator<Item = (&Relevant, &Perspective)> {
        let given = move |(expert, relevant)| Some((relevant, self.perspective(task, expert)?));
        self.advisers(task).into_iter().filter_map(given)
    }

    /// Returns the experts that advise on a task, each once with its number, the most relevant first. A rerun needs no
    /// advice on tasks that it does not do.
    fn advisers(&self, task: &str) -> Vec<(usize, &Relevant)> {
        let StepState::Answered(Answer::Matched(matched)) = self.state_of(&Step::Match) else {
            return Vec::new();
        };
        let (known, rules) = (&self.plan.task.experts, &self.plan.task.advice);
        let number = |one: &Relevant| known.iter().position(|known| *known.persona.name == *one.expert);
        let is_due = self.plan.task.does(task);
        let is_for = |one: &&Relevant| is_due && *one.task == *task && one.relevance >= rules.relevance;
        let relevant = matched.iter().filter(is_for);
        let mut advisers: Vec<_> = relevant.filter_map(|one| Some((number(one)?, one))).collect();
        advisers.sort_by(|(_, a), (_, b)| b.relevance.total_cmp(&a.relevance));
        let mut seen = BTreeSet::new();
        advisers.retain(|(expert, _)| seen.insert(*expert));
        advisers.truncate(rules.most as usize);
        advisers
    }

    fn perspective(&self, task: &str, expert: usize) -> Option<&Perspective> {
        match self.state_of(&Step::Advise { task: task.into(), expert }) {
            StepState::Answered(Answer::Advised(perspective)) => Some(perspective),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    fn consensus(&self, task: &str) -> Option<&Consensus> {
        match self.state_of(&Step::Agree { task: task.into() }) {
            StepState::Answered(Answer::Agreed(consensus)) => Some(consensus),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }
}

#[cfg(test)]
mod tests;
