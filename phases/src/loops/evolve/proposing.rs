//! How the result gets to a person: a commit for each task, or the project's own folder.

use super::Run;
use super::decision::Ending;
use super::step::{Answer, Step};
use super::task::MergedWork;
use crate::base::id::TreeId;
use crate::loops::shared::step::{Move, Propose, Shared};
use crate::runs::proposal::{self, EarlierCommit, Trailers, Words};
use crate::runs::run::StepState;

/// The folder of a project with the receipts of all specifications.
pub const EVIDENCE: &str = ".evolve";

/// Returns how the engine carries out a step that asks a person, or that hands over the result.
pub(super) fn shared(run: &Run, step: &Step) -> Option<Shared> {
    match step {
        Step::Ask { .. } | Step::Allow | Step::Settle { .. } => Some(Shared::Ask),
        Step::Promote { from, to } => {
            let moves = vec![Move { from: *from, ..change(run, *to) }];
            Some(Shared::Promote { moves, makes_folders: false })
        }
        Step::Commit { tree, form } => {
            let works = run.works_of(*tree);
            let (last, earlier) = works.split_last()?;
            let filed = run.filed(*tree);
            let earlier = if filed.is_some() { works } else { earlier };
            let message = match filed {
                Some(filed) => receipts_message(run, filed),
                None => message(run, last, &format!("{}.", run.met(last.after))),
            };
            Some(Shared::Propose(Propose {
                moves: vec![change(run, filed.unwrap_or(*tree))],
                earlier: earlier.iter().map(|work| earlier_commit(run, work)).collect(),
                form: *form,
                words: words(run, message),
                committed: run.committed_apart().into_iter().collect(),
                version: tree.short(),
            }))
        }
        _ => None,
    }
}

/// Returns the changes of a tree against the project.
fn change(run: &Run, to: TreeId) -> Move {
    Move { path: run.plan.task.root.clone(), from: run.base(), to }
}

/// Returns the commit of a task that others follow. Nothing says that its tree builds.
fn earlier_commit(run: &Run, work: &MergedWork) -> EarlierCommit {
    EarlierCommit {
        trees: vec![work.after],
        message: message(run, work, "Other commits follow; only the result of all tasks was judged."),
    }
}

/// Returns the words of the last commit.
fn words(run: &Run, message: String) -> Words {
    let task = &run.plan.task;
    let at = run.state.ended_at.unwrap_or(run.started_at);
    Words { message, ..Words::new(std::slice::from_ref(&task.name), ("", ""), trailers(run, ""), at) }
}

/// Returns the message of the commit that holds the receipts and the oracles: a line for each criterion.
fn receipts_message(run: &Run, filed: TreeId) -> String {
    let receipts = run.receipts();
    let criteria = receipts.iter().flat_map(|receipts| &receipts.criteria);
    let lines: Vec<String> = criteria.map(|one| format!("- {}: {}", one.id, one.word.word())).collect();
    let title = format!("Add the receipts of {}", run.plan.task.name);
    proposal::message((&title, &lines.join("\n")), trailers(run, &filed.short()), &[])
}

/// Returns the message for the work of one task: its title, what its executor says, and a note on the whole.
fn message(run: &Run, work: &MergedWork, note: &str) -> String {
    let item = run.state.plan.as_ref().and_then(|plan| plan.item(&work.task));
    let title = item.map_or(&*work.task, |item| &*item.title);
    let of_task = run.works_of(work.after).iter().filter(|one| one.task == work.task);
    let title = if of_task.count() > 1 { format!("{title} (again)") } else { title.to_owned() };
    let body = [run.summary(work), note].join("\n\n");
    let covers = item.map_or(String::new(), |item| item.covers.join(", "));
    let mut more = vec![("Skilltune-Task", &*work.task)];
    if !covers.is_empty() {
        more.push(("Skilltune-Criteria", &covers));
    }
    proposal::message((&title, body.trim()), trailers(run, &work.after.short()), &more)
}

fn trailers<'a>(run: &'a Run, version: &'a str) -> Trailers<'a> {
    let verdict = run.state.end.as_ref().map_or("none", |end| match end.ending {
        Ending::Success => "success",
        Ending::Caller => "caller",
        Ending::HumanEscalation => "human_escalation",
        Ending::Planned | Ending::Incomplete | Ending::Failed | Ending::Repeated | Ending::NotRepeated => {
            "not_judged"
        }
    });
    Trailers { run: &run.plan.run, version, verdict }
}

impl Run {
    /// Returns a result with its receipts, if they were added.
    fn filed(&self, tree: TreeId) -> Option<TreeId> {
        match self.state_of(&Step::File { tree }) {
            StepState::Answered(Answer::Filed(filed)) => Some(*filed),
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
        }
    }

    /// Returns the folder of the project that holds receipts and oracles of this specification.
    pub fn evidence_folder(&self) -> String {
        format!("{EVIDENCE}/{}", proposal::slug(&self.plan.task.name))
    }

    /// Returns the last commit's version of the project if the result needs what a person has not committed.
    fn committed_apart(&self) -> Option<TreeId> {
        let needs = self.state.end.as_ref().is_some_and(|end| end.needs_uncommitted);
        self.state.base.committed.filter(|_| needs)
    }

    /// Returns the merged work that leads to a tree, in its order.
    pub fn works_of(&self, tree: TreeId) -> &[MergedWork] {
        let merged = &self.state.merged;
        let to = merged.iter().rposition(|work| work.after == tree).map_or(0, |at| at + 1);
        &merged[..to]
    }

    /// Returns which criteria a tree meets, in one line.
    fn met(&self, tree: TreeId) -> String {
        let of = |round: &&super::decision::Round| round.tree == tree && round.evaluation.is_some();
        let round = self.state.rounds.iter().rev().find(of);
        let Some(evaluation) = round.and_then(|round| round.evaluation.as_ref()) else {
            return "It was not judged".to_owned();
        };
        let ids = |is_met: bool| {
            let all = evaluation.judgement.criteria.iter().filter(move |one| one.is_met == is_met);
            all.map(|one| &*one.id).collect::<Vec<&str>>().join(", ")
        };
        let (met, unmet) = (ids(true), ids(false));
        let unmet = if unmet.is_empty() { String::new() } else { format!("; unmet: {unmet}") };
        format!("Criteria met: {}{unmet}", if met.is_empty() { "none" } else { &met })
    }
}
