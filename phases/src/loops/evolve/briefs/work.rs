//! A task for an executor.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{and_more, listed};
use crate::asking::prompt::{fence, numbered};
use crate::base::answer::capped;
use crate::loops::evolve::decision::PassKind;
use crate::loops::evolve::evaluation::{Contract, Verdict};
use crate::loops::evolve::plan::Item;
use crate::loops::evolve::step::Step;
use crate::loops::evolve::{AgentRequest, MergedWork, Run};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkBrief {
    item: Item,
    contract: Contract,
    /// The merged tasks, each with the summary of its executor.
    done: Vec<String>,
    /// The gaps that the last evaluation names for the criteria that the task covers.
    gaps: Vec<String>,
    /// The names that the work has to provide.
    names: Option<String>,
    /// What experts advise on the task.
    advice: Option<String>,
    /// The drift that was found in earlier layers.
    drift: Vec<String>,
    /// Why the task is done again in this layer.
    again: Option<Box<str>>,
    /// The note of the pass, and a person's guidance.
    notes: Vec<String>,
}

impl WorkBrief {
    pub(crate) fn of(run: &Run, step: &Step) -> Option<Self> {
        let Step::Work { task, go, .. } = step else { return None };
        let state = &run.state;
        let item = state.plan.as_ref()?.item(task)?.clone();
        let contract = state.contract.clone()?;
        let (begun, pass) = (state.batches.last()?, state.passes.last()?);
        let due = begun.batch.tasks.iter().find(|due| due.task == *task && due.go == *go)?;
        let is_patch = matches!(pass.kind, PassKind::Patch | PassKind::Pivot { .. });
        let gaps = if is_patch { run.gaps_of(&item) } else { Vec::new() };
        let note = Some(pass.note.to_string()).filter(|note| !note.is_empty());
        let notes = note.into_iter().chain(state.guidance.iter().map(ToString::to_string)).collect();
        let (done, drift, advice) = (run.done_before(), run.drift_before(), run.guidance(task));
        let names = run.names().map(str::to_owned);
        Some(Self { item, contract, done, gaps, names, advice, drift, again: due.again.clone(), notes })
    }

    /// One executor does everything that the specification asks for.
    pub(crate) fn alone(run: &Run) -> Option<Self> {
        let contract = run.state.contract.clone()?;
        let item = Item {
            id: "control".into(),
            title: "Do all of it".into(),
            description: "Change the project so that it reaches the goal and meets every criterion.".into(),
            covers: contract.criteria.iter().map(|one| one.id.clone()).collect(),
            after: Vec::new(),
            touches: Vec::new(),
            replaces: Vec::new(),
        };
        let names = run.names().map(str::to_owned);
        let none = Vec::new;
        Some(Self {
            item,
            contract,
            done: none(),
            gaps: none(),
            names,
            advice: None,
            drift: none(),
            again: None,
            notes: none(),
        })
    }

    pub(super) fn quoted(&self) -> impl serde::Serialize + '_ {
        let texts = (&self.item, &self.done, &self.gaps, &self.advice, &self.drift, &self.again, &self.notes);
        and_more(texts, self.names.as_ref())
    }

    pub(super) fn values(&self, request: &AgentRequest) -> Value {
        let seed = request.code.as_str();
        let list = |label: &str, texts: &[String]| {
            (!texts.is_empty()).then(|| numbered(seed, label, texts.iter().cloned()))
        };
        let covered = self.contract.criteria.iter().filter(|one| self.item.covers.contains(&one.id));
        let covered: Vec<String> = covered.map(|one| format!("{}: {}", one.id, one.text)).collect();
        let constraints = self.contract.constraints.iter();
        let constraints: Vec<String> = constraints.map(|one| format!("{}: {}", one.id, one.text)).collect();
        json!({
            "goal": super::goal(request),
            "task": fence(seed, "the task", &listed(std::slice::from_ref(&self.item))),
            "criteria": list("the criteria that it is for", &covered),
            "constraints": list("the constraints", &constraints),
            "apart": list("the folders of other repositories", request.apart()),
            "done": list("what earlier tasks have done", &self.done),
            "gaps": list("what is missing", &self.gaps),
            "names": self.names.as_ref().map(|names| fence(seed, "the names", names)),
            "advice": self.advice.as_ref().map(|text| fence(seed, "what experts advise", text)),
            "drift": list("what goes against the specification", &self.drift),
            "again": self.again.as_ref().map(|why| fence(seed, "why it is done again", why)),
            "notes": list("what to keep in mind", &self.notes),
            "has_shell": request.plan.task.has_shell,
        })
    }
}

impl Run {
    /// Returns the gaps of the criteria of a task in the last evaluation, and those of constraints that do not hold.
    fn gaps_of(&self, item: &Item) -> Vec<String> {
        let Some(evaluation) = self.basis() else { return Vec::new() };
        let unmet = evaluation.unmet().filter(|one| item.covers.contains(&one.id));
        let all = unmet.chain(evaluation.broken());
        all.map(Verdict::missing).collect()
    }

    /// Returns a line for each task that was merged before the current layer, with the summary of its executor.
    fn done_before(&self) -> Vec<String> {
        /// A longer summary is cut.
        const MOST: usize = 600;
        let title = |work: &MergedWork| {
            let item = self.state.plan.as_ref().and_then(|plan| plan.item(&work.task));
            item.map_or("", |item| &*item.title)
        };
        let line = |work: &MergedWork| {
            // The work of an earlier run has no summary here.
            let said =
                Some(self.summary(work)).filter(|said| !said.is_empty()).unwrap_or_else(|| title(work));
            format!("{}: {}", work.task, capped(said, MOST))
        };
        self.state.merged.iter().map(line).collect()
    }

    /// Returns the drift that was found in the layers before the current one, in this pass.
    fn drift_before(&self) -> Vec<String> {
        let pass = self.state.passes.len().saturating_sub(1);
        let batches = self.state.batches.iter().enumerate().filter(|(_, begun)| begun.pass == pass);
        let found = batches.flat_map(|(batch, _)| self.drift_in(batch));
        found.map(|one| format!("{}: {} ({})", one.task, one.what, one.evidence)).collect()
    }
}
