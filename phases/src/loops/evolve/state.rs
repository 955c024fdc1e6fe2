//! The state of a run of `evolve`: the fold of its decisions.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::course::{Course, Entry};
use super::decision::{Batch, Decision, End, Moved, Pass, PassKind, Round, TaskEnd, WorkEnd};
use super::evaluation::Contract;
use super::plan::Planned;
use super::spec::Id;
use super::step::Choice;
use super::task::{Base, MergedWork};
use super::{Plan, Run};
use crate::base::id::TreeId;
use crate::loops::shared::rounds;
use crate::runs::run::Change;

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub contract: Option<Contract>,
    pub plan: Option<Planned>,
    /// The project that results are compared with.
    pub base: Base,
    /// The project as it was found when the run was resumed, until the run has moved there or stays.
    pub found: Option<Base>,
    /// The content of the project when the run last looked at it.
    pub seen: TreeId,
    pub passes: Vec<Pass>,
    pub batches: Vec<Begun>,
    /// The merged tree so far.
    pub tree: TreeId,
    pub rounds: Vec<Round>,
    pub course: Course,
    /// How each task ended last.
    pub ends: BTreeMap<Id, WorkEnd>,
    /// The merged work, in its order: the task, and the trees before and after it.
    pub merged: Vec<MergedWork>,
    /// The number of amendments, also of those that changed nothing.
    pub amendments: u32,
    pub guidance: Vec<Box<str>>,
    /// Whether a person ended the run while it asked nothing.
    pub is_ended_by_caller: bool,
    /// How often the evaluator was replaced.
    pub era: u32,
    pub end: Option<End>,
    pub ended_at: Option<Timestamp>,
}

/// A batch that has begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun {
    pub pass: usize,
    pub batch: Batch,
    pub taken_back: Vec<(Id, Box<str>)>,
    /// How its tasks ended, once it is merged.
    pub ends: Option<Vec<TaskEnd>>,
}

pub(super) fn begin(plan: &Plan) -> State {
    let task = &plan.task;
    let ends = task.built_on.iter().filter(|work| !task.only.contains(&work.task));
    State {
        base: task.base(),
        found: None,
        seen: task.start,
        contract: None,
        plan: None,
        passes: Vec::new(),
        batches: Vec::new(),
        tree: task.built_on.last().map_or(task.start, |work| work.after),
        rounds: Vec::new(),
        course: Course::default(),
        ends: ends.map(|work| (work.task.clone(), WorkEnd::Merged(work.after))).collect(),
        merged: task.built_on.clone(),
        amendments: 0,
        guidance: Vec::new(),
        is_ended_by_caller: false,
        era: 0,
        end: None,
        ended_at: None,
    }
}

pub(super) fn fold(run: &mut Run, change: &Change<'_, super::Evolve>, at: Timestamp) {
    match change {
        Change::Decided(decision) => decided(run, decision, at),
        Change::Remeasure => run.state.era += 1,
        Change::Ended(_) | Change::Resumed => {}
    }
}

fn decided(run: &mut Run, decision: &Decision, at: Timestamp) {
    let state = &mut run.state;
    match decision {
        Decision::Planned { plan, contract } => {
            (state.plan, state.contract) = (Some(plan.as_ref().clone()), Some(contract.as_ref().clone()));
        }
        Decision::Pass(pass) => state.begin(pass),
        Decision::Batch(batch) => {
            for task in &batch.skipped {
                state.ends.insert(task.clone(), WorkEnd::Skipped);
            }
            let (pass, batch) = (state.passes.len().saturating_sub(1), batch.as_ref().clone());
            state.batches.push(Begun { pass, batch, taken_back: Vec::new(), ends: None });
        }
        Decision::TakenBack { batch, task, why } => {
            if let Some(begun) = state.batches.get_mut(*batch) {
                begun.taken_back.push((task.clone(), why.clone()));
            }
        }
        Decision::Integrated { batch, tree, ends } => state.integrate(*batch, *tree, ends),
        Decision::Found(base) => {
            state.seen = base.tree;
            state.found = Some(base.as_ref().clone());
        }
        Decision::Moved(moved) => state.follow(moved),
        Decision::Stayed { .. } => state.found = None,
        Decision::Evaluated(round) => {
            let entry = match &round.evaluation {
                None => Entry::Red,
                Some(evaluation) => Entry::Judged {
                    score: evaluation.score,
                    tree: round.tree,
                    series: state.era + state.contract.as_ref().map_or(0, |contract| contract.series),
                    is_done: evaluation.is_done,
                },
            };
            state.course.entries.push(entry);
            state.rounds.push(round.as_ref().clone());
        }
        Decision::Amended(amended) => {
            state.amendments += 1;
            state.contract = Some(amended.contract.clone());
            let has_run = amended.pass.is_some();
            state.course.entries.push(match amended.persona {
                None => Entry::Patched { has_run },
                Some(persona) => Entry::Pivoted { persona, has_run },
            });
            if let Some(pass) = &amended.pass {
                state.begin(pass);
            }
        }
        Decision::Answered { choice: Choice::Guide { text } } => {
            state.guidance.push(text.clone());
            state.course.entries.push(Entry::Guided);
        }
        Decision::Answered { choice } => state.is_ended_by_caller |= *choice == Choice::End,
        Decision::Ended(end) => (state.end, state.ended_at) = (Some(end.clone()), Some(at)),
        Decision::Close => {}
    }
}

impl State {
    fn begin(&mut self, pass: &Pass) {
        if let Some(plan) = &mut self.plan {
            plan.tasks.extend(pass.new.iter().cloned());
        }
        if pass.kind == PassKind::Fix {
            self.course.entries.push(Entry::Fixed);
        }
        // The pass takes back all work that was merged after the tree that it starts from.
        let kept = self.merged.iter().rposition(|work| work.after == pass.from).map_or(0, |at| at + 1);
        self.merged.truncate(kept);
        self.tree = pass.from;
        self.passes.push(pass.clone());
    }

    fn follow(&mut self, moved: &Moved) {
        let hidden = self.hidden();
        let Some(base) = self.found.take() else { return };
        // Its tasks begin again from the new tree.
        self.batches.pop_if(|begun| begun.ends.is_none());
        let mut before = base.tree;
        for (work, after) in self.merged.iter_mut().zip(&moved.works) {
            (work.before, work.after) = (before, *after);
            before = *after;
        }
        (self.base, self.tree) = (Base { hidden, ..base }, before);
        self.plan = Some(moved.plan.clone());
        if let Some(pass) = &moved.pass {
            self.begin(pass);
        }
    }

    /// Returns the paths that agents do not get.
    pub(super) fn hidden(&self) -> Vec<String> {
        let known = &self.base.hidden;
        let found = self.found.iter().flat_map(|found| &found.hidden).filter(|path| !known.contains(path));
        known.iter().chain(found).cloned().collect()
    }

    fn integrate(&mut self, batch: usize, tree: TreeId, ends: &[TaskEnd]) {
        let mut before = self.tree;
        for TaskEnd { task, end } in ends {
            self.ends.insert(task.clone(), end.clone());
            if let WorkEnd::Merged(after) = end {
                self.merged.push(MergedWork {
                    task: task.clone(),
                    batch: Some(batch),
                    before,
                    after: *after,
                });
                before = *after;
            }
        }
        self.tree = tree;
        if let Some(begun) = self.batches.get_mut(batch) {
            begun.ends = Some(ends.to_vec());
        }
    }

    /// Returns the batch that is not merged yet, with its number.
    pub fn open_batch(&self) -> Option<(usize, &Begun)> {
        let last = self.batches.len().checked_sub(1)?;
        self.batches.get(last).filter(|begun| begun.ends.is_none()).map(|begun| (last, begun))
    }

    /// Returns the best judged round of the newest series; of equals the first.
    pub fn best(&self) -> Option<&Round> {
        let newest = self.series().flatten().last();
        let judged = self.rounds.iter().zip(self.series()).filter(|(_, of)| of.is_some() && *of == newest);
        rounds::best(judged.map(|(round, _)| round), |round| {
            let evaluation = round.evaluation.as_ref();
            evaluation.map(|one| (one.is_done, one.score, one.score_of_all, one.alignment))
        })
    }

    /// Returns the last tree of the merged work whose stages were green. Work that was taken back does not count.
    pub fn last_green(&self) -> Option<TreeId> {
        let is_green =
            |tree: &TreeId| self.rounds.iter().any(|round| round.tree == *tree && round.evaluation.is_some());
        self.merged.iter().rev().flat_map(|work| [work.after, work.before]).find(is_green)
    }

    /// Returns the series of each round, none for a red one.
    fn series(&self) -> impl Iterator<Item = Option<u32>> {
        self.course.entries.iter().filter_map(|entry| match entry {
            Entry::Red => Some(None),
            Entry::Judged { series, .. } => Some(Some(*series)),
            Entry::Fixed | Entry::Patched { .. } | Entry::Pivoted { .. } | Entry::Guided => None,
        })
    }

    /// Whether the newest go of a task failed, or was left out because one that it needs has failed.
    pub(super) fn has_failed(&self, task: &str) -> bool {
        matches!(self.ends.get(task), Some(WorkEnd::Failed(_) | WorkEnd::Skipped))
    }

    /// Returns how often a task has begun.
    pub fn goes(&self, task: &str) -> u32 {
        let goes = self.batches.iter().flat_map(|begun| &begun.batch.tasks).filter(|due| &*due.task == task);
        u32::try_from(goes.count()).unwrap_or(u32::MAX)
    }
}
