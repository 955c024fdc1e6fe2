//! What people and scripts see of a run of `evolve`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::decision::{Ending, PassKind, WorkEnd};
use super::evaluation::Evaluation;
use super::plan::{Graph, MOST_TASKS, graph, names};
use super::receipt::Word;
use super::spec::Id;
use super::step::{Answer, Drift, Integrated};
use super::task::MergedWork;
use super::task::{Apply, Task};
use super::{Plan, Run, advice};
use crate::base::ending::Class;
use crate::base::id::TreeId;
use crate::base::role::Role;
use crate::loops::MostCalls;
use crate::loops::shared::commands::Stage;
use crate::runs::proposal::Proposal;

/// The run's outcome for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All conditions hold, and the result is where it was to go.
    Reached,
    /// A plan was made, and nothing else was asked for.
    Planned,
    /// A person ended the run, or took what there was.
    NotReached,
    /// The result waits for a person, or could not be handed over.
    Kept,
    /// The result could not be judged, or no plan could be made.
    Incomplete,
    /// The run has not ended and can be resumed.
    Paused,
}

/// A task and its state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskView<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub covers: &'a [Id],
    pub state: TaskState,
    /// Why it failed or is done again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'a str>,
    /// What its executor says.
    pub summary: &'a str,
    /// The files that it changed, in its newest merged work.
    pub files: &'a [Box<str>],
    /// Those that it had not named.
    pub unnamed: Vec<&'a str>,
    /// How often it has begun.
    pub goes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Pending,
    Working,
    Again,
    Merged,
    /// It was merged, and is not in the result: the run went back to an earlier tree.
    TakenBack,
    Failed,
    Skipped,
}

impl TaskState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Working => "at work",
            Self::Again => "again",
            Self::Merged => "merged",
            Self::TakenBack => "taken back",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl Run {
    pub fn outcome(&self) -> Ended {
        let Some(end) = self.state.end.as_ref().filter(|_| self.closed_at.is_some()) else {
            return Ended::Paused;
        };
        match end.ending {
            Ending::Success if self.is_handed_over() => Ended::Reached,
            Ending::Success => Ended::Kept,
            Ending::Planned => Ended::Planned,
            Ending::Caller | Ending::HumanEscalation | Ending::NotRepeated => Ended::NotReached,
            Ending::Incomplete | Ending::Failed => Ended::Incomplete,
            Ending::Repeated => Ended::Reached,
        }
    }

    pub fn class(&self) -> Class {
        match self.outcome() {
            Ended::Reached | Ended::Planned => Class::Reached,
            Ended::NotReached | Ended::Kept => Class::Short,
            Ended::Incomplete => Class::Unjudged,
            Ended::Paused => Class::Open,
        }
    }

    /// Whether the result is where it was to go.
    fn is_handed_over(&self) -> bool {
        let has_result = self.state.end.as_ref().is_some_and(|end| end.tree.is_some());
        match self.plan.task.apply {
            _ if !has_result => true,
            Apply::Never => true,
            Apply::Propose(_) | Apply::Tree => {
                matches!(self.handed_over(), Some(Answer::Committed(_) | Answer::Promoted))
            }
        }
    }

    /// Returns the tree that the run leaves, if anything was merged into it.
    pub fn result(&self) -> Option<TreeId> {
        match &self.state.end {
            Some(end) => end.tree,
            None => Some(self.best_tree()).filter(|tree| *tree != self.base()),
        }
    }

    /// Returns the commit of the result, or the reason why there is none, if one was to be made.
    pub fn proposed(&self) -> Option<Result<&Proposal, &str>> {
        match self.handed_over()? {
            Answer::Committed(proposal) => Some(Ok(proposal)),
            Answer::NotCommitted { why } => Some(Err(why)),
            _ => None,
        }
    }

    /// Returns the evaluation of the result.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        let tree = self.result().unwrap_or_else(|| self.base());
        let of = |round: &&super::decision::Round| round.tree == tree && round.evaluation.is_some();
        self.state.rounds.iter().rev().find(of).and_then(|round| round.evaluation.as_ref())
    }

    /// Returns the graph of the tasks, once they are planned.
    pub fn graph(&self) -> Option<Graph> {
        graph(&self.state.plan.as_ref()?.tasks).ok()
    }

    /// Returns all tasks in the order of the plan.
    pub fn tasks(&self) -> Vec<TaskView<'_>> {
        let state = &self.state;
        let working: Vec<&Id> = state
            .open_batch()
            .filter(|_| state.end.is_none())
            .into_iter()
            .flat_map(|(_, begun)| begun.batch.tasks.iter().map(|due| &due.task))
            .collect();
        let kept = match state.end.as_ref().and_then(|end| end.tree) {
            Some(tree) => self.works_of(tree),
            None => &state.merged[..],
        };
        let is_kept = |task: &Id| kept.iter().any(|work| work.task == *task);
        let merged = self.merged_works();
        let plan = state.plan.iter().flat_map(|plan| &plan.tasks);
        plan.map(|item| {
            let end = state.ends.get(&item.id);
            let (task_state, why) = match end {
                _ if working.contains(&&item.id) => (TaskState::Working, None),
                None => (TaskState::Pending, None),
                Some(WorkEnd::Merged(_)) if !is_kept(&item.id) => (TaskState::TakenBack, None),
                Some(WorkEnd::Merged(_)) => (TaskState::Merged, None),
                Some(WorkEnd::Again(why)) => (TaskState::Again, Some(&**why)),
                Some(WorkEnd::Failed(why)) => (TaskState::Failed, Some(&**why)),
                Some(WorkEnd::Skipped) => (TaskState::Skipped, None),
            };
            let files = merged.get(&item.id).map_or(&[][..], |one| &one.files[..]);
            let unnamed = files.iter().filter(|file| !item.touches.is_empty() && !names(item, file));
            TaskView {
                id: &item.id,
                title: &item.title,
                covers: &item.covers,
                state: task_state,
                why,
                summary: self.summary_of(&item.id),
                files,
                unnamed: unnamed.map(|file| &**file).collect(),
                goes: state.goes(&item.id),
            }
        })
        .collect()
    }

    /// Returns what the executor of a task says of its newest work.
    pub(super) fn summary_of(&self, task: &str) -> &str {
        let begun = self.state.batches.iter().rev();
        let mut said = begun.filter_map(|begun| {
            let due = begun.batch.tasks.iter().find(|due| &*due.task == task)?;
            Some(self.said(due, begun)).filter(|said| !said.is_empty())
        });
        said.next().unwrap_or_default()
    }

    /// Returns what the executor of merged work says of it.
    pub(super) fn summary(&self, work: &MergedWork) -> &str {
        let Some(begun) = work.batch.and_then(|batch| self.state.batches.get(batch)) else { return "" };
        let due = begun.batch.tasks.iter().find(|due| due.task == work.task);
        due.map_or("", |due| self.said(due, begun))
    }

    /// Returns the newest merged work of each task.
    pub(super) fn merged_works(&self) -> BTreeMap<Id, &Integrated> {
        let merged = (0..self.state.batches.len()).filter_map(|batch| self.integration(batch));
        let works = merged.flat_map(|all| &all.works).filter(|one| one.tree.is_some());
        works.map(|one| (one.task.clone(), one)).collect()
    }

    /// Returns all drift that was found.
    pub fn drift(&self) -> Vec<&Drift> {
        (0..self.state.batches.len()).flat_map(|batch| self.drift_in(batch)).collect()
    }

    /// Returns the result in one sentence.
    pub fn verdict(&self) -> String {
        if self.plan.task.verify.is_some() {
            return self.verdict_on_receipts();
        }
        let met = self.counted_met().map(|met| format!(": {met}")).unwrap_or_default();
        match self.outcome() {
            Ended::Reached => format!("the specification is met{met}"),
            Ended::Kept => format!("the specification is met{met}, and the result was not handed over"),
            Ended::Planned => "the plan is made".to_owned(),
            Ended::NotReached => format!("the specification is not met{met}"),
            Ended::Incomplete => match self.state.end.as_ref().and_then(|end| end.why.as_deref()) {
                Some(why) => format!("not judged: {why}"),
                None => "not judged".to_owned(),
            },
            Ended::Paused => format!("not finished{met}"),
        }
    }

    /// Returns how many criteria the result meets, and what that rests on if machines looked at it.
    fn counted_met(&self) -> Option<String> {
        let evaluation = self.evaluation()?;
        if let Some(receipts) = self.receipts().filter(|_| self.has_evidence()) {
            let met = receipts.criteria.iter().filter(|one| one.word.is_met()).count();
            let words = receipts.counted(Word::ALL.into_iter().filter(|word| word.is_met()));
            let words = if words.is_empty() { words } else { format!(" ({words})") };
            return Some(format!("{met} of {} criteria met{words}", receipts.criteria.len()));
        }
        let all = &evaluation.judgement.criteria;
        let met = all.iter().filter(|one| one.is_met).count();
        let unchecked = match self.unchecked() {
            0 => String::new(),
            1 => "; 1 check did not run".to_owned(),
            number => format!("; {number} checks did not run"),
        };
        Some(format!("{met} of {} criteria met{unchecked}", all.len()))
    }

    /// Returns whether the receipts of a result were repeated, in one sentence.
    fn verdict_on_receipts(&self) -> String {
        let why = self.state.end.as_ref().and_then(|end| end.why.as_deref());
        let receipts = self.repeated();
        let ids = |is: fn(&(Id, Word, Word)) -> bool| {
            let ids: Vec<&str> = receipts.iter().filter(|one| is(one)).map(|(id, ..)| &**id).collect();
            (!ids.is_empty()).then(|| ids.join(", "))
        };
        let lost: Vec<&str> = self.lost_stages().into_iter().map(Stage::word).collect();
        let lost = (!lost.is_empty()).then(|| format!("{} does not pass as it did", lost.join(" and ")));
        match self.outcome() {
            Ended::Reached => match ids(|(_, before, _)| !before.is_met()) {
                None => "every receipt was repeated".to_owned(),
                Some(unmet) => format!("every receipt was repeated, and they say that {unmet} is not met"),
            },
            Ended::NotReached => {
                let other = ids(|(_, before, now)| before != now);
                let other = other.map(|ids| format!("the receipts of {ids} were not repeated"));
                other.into_iter().chain(lost).collect::<Vec<_>>().join("; ")
            }
            Ended::Incomplete => match why {
                Some(why) => format!("not repeated: {why}"),
                None => "not repeated".to_owned(),
            },
            Ended::Planned | Ended::Kept | Ended::Paused => "not finished".to_owned(),
        }
    }
}

impl PassKind {
    /// Returns why tasks are done, for people.
    pub fn sentence(self) -> String {
        match self {
            Self::Plan => "the tasks of the plan".to_owned(),
            Self::Fix => "fix what a command reports".to_owned(),
            Self::Patch => "the tasks of unmet criteria again".to_owned(),
            Self::Pivot { persona, pattern } => {
                format!("again as {} ({})", persona.word(), pattern.word().replace('_', " "))
            }
        }
    }
}

/// Returns the number of tasks: known ones, or the given guess from the number of criteria.
fn tasks(task: &Task, guess: impl Fn(u64) -> u64) -> u64 {
    match &task.plan {
        Some(_) if !task.only.is_empty() => task.only.len() as u64,
        Some(plan) => plan.tasks.len() as u64,
        None => guess(task.spec.criteria.len() as u64).min(MOST_TASKS as u64),
    }
}

/// Returns the calls that make the plan, or complete a given one.
fn planning(task: &Task) -> u64 {
    if task.plan.is_some() { 1 + u64::from(!task.outdated.is_empty()) } else { 4 }
}

/// Returns the calls for oracles, if each is written this often: the names first, then one for each criterion without a
/// check; at the end the wrong versions that they have to reject.
fn oracles(task: &Task, times: u64) -> u64 {
    if !task.asks_for_oracles() {
        return 0;
    }
    let criteria = task.spec.criteria.iter().filter(|one| one.check.is_none()).count() as u64;
    1 + times * criteria + if task.has_strength { criteria } else { 0 }
}

/// Returns the calls of a run in which every task is done twice in every pass, and every cap is reached.
pub(super) fn most_calls(plan: &Plan) -> MostCalls {
    if plan.task.verify.is_some() {
        return [].into();
    }
    let (task, caps) = (&plan.task, &plan.task.rules.caps);
    let tries = u64::from(task.retries) + 1;
    // A plan with more tasks pauses at this limit, and a person decides.
    let tasks = tasks(task, |criteria| 3 * criteria + 4);
    let planning = planning(task);
    if task.plan_only {
        return by_role(task, 0, planning * tries, 0);
    }
    let amendments = u64::from(caps.patches) + 4;
    let rounds = (1 + amendments) * (1 + u64::from(caps.fixes));
    let works = (1 + amendments).saturating_mul(2 * tasks) + rounds * 6;
    let drift = if task.rules.looks_for_drift { works } else { 0 };
    let (advising, experts) = advice::calls(task, tasks, task.advice.most.into());
    let evaluator = planning + oracles(task, 2) + advising + drift + rounds + 2 * amendments + control(task);
    by_role(task, works * tries, evaluator * tries, experts * tries)
}

/// Returns the calls of a run that succeeds after one patch.
pub(super) fn likely_calls(plan: &Plan) -> MostCalls {
    /// Most tasks need one or two experts.
    const USUAL_EXPERTS: u64 = 2;
    let task = &plan.task;
    if task.verify.is_some() {
        return [].into();
    }
    let tasks = tasks(task, |criteria| criteria.min(8));
    let planning = planning(task);
    if task.plan_only {
        return by_role(task, 0, planning, 0);
    }
    let layers = if task.rules.looks_for_drift { tasks.div_ceil(2) } else { 0 };
    let (advising, experts) = advice::calls(task, tasks, USUAL_EXPERTS);
    let evaluator = planning + oracles(task, 1) + advising + layers + 3 + control(task);
    by_role(task, tasks + tasks.div_ceil(3), evaluator, experts)
}

/// Returns the evaluator's calls for what one executor made alone.
fn control(task: &Task) -> u64 {
    u64::from(task.has_control && !task.plan_only)
}

/// Returns calls by role, those of experts and of the control if the run has any.
fn by_role(task: &Task, executor: u64, evaluator: u64, experts: u64) -> MostCalls {
    let experts = task.is_advised().then_some((Role::EXPERT, experts));
    let alone = task.has_control.then_some((Role::CONTROL, control(task) * (u64::from(task.retries) + 1)));
    let all = [(Role::EXECUTOR, executor), (Role::EVALUATOR, evaluator)];
    all.into_iter().chain(experts).chain(alone).collect()
}
