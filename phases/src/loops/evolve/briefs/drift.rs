//! Drift: what a layer has changed, compared with the goal and the constraints.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::spec;
use crate::asking::prompt::fence;
use crate::base::answer::capped;
use crate::base::id::TreeId;
use crate::loops::evolve::spec::Id;
use crate::loops::evolve::step::Drift;
use crate::loops::evolve::{AgentRequest, Run};

/// The most entries of an answer.
pub(super) const MOST: usize = 20;
const LONGEST: usize = 600;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DriftBrief {
    pub tree: TreeId,
    tasks: Vec<Id>,
    /// The changes of each task, as a diff.
    pub(super) diff: Box<str>,
}

impl DriftBrief {
    pub(crate) fn of(run: &Run, batch: usize) -> Option<Self> {
        let all = run.integration(batch)?;
        let merged = all.works.iter().filter(|one| one.tree.is_some());
        let tasks = merged.map(|one| one.task.clone()).collect();
        Some(Self { tree: all.tree, tasks, diff: all.diff.clone() })
    }

    pub(super) fn values(&self, request: &AgentRequest) -> Value {
        let seed = request.code.as_str();
        json!({
            "spec": spec(request),
            "tasks": self.tasks,
            "diff": fence(seed, "the changes", &self.diff),
        })
    }

    /// Returns the entries that name a task of the layer, at most as many and as long as executors should read.
    pub(super) fn known(&self, drift: Vec<Drift>) -> Vec<Drift> {
        let short = |text: &str| -> Box<str> { capped(text, LONGEST).into() };
        let known = drift.into_iter().filter(|one| self.tasks.contains(&one.task)).take(MOST);
        known
            .map(|one| Drift { what: short(&one.what), evidence: short(&one.evidence), task: one.task })
            .collect()
    }
}
