//! What `reflex` is asked to do: a task in words, the criteria that decide, and the numbers that end it.

use serde::{Deserialize, Serialize};

use crate::checks::Commands;
use crate::id::TreeId;
use crate::stop::{Limits, Stall};

use super::criteria::{Criteria, Weights};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The name of the run's folder beside the original's.
    pub alias: String,
    /// The project's folder, and in it that of the original's files.
    pub project: String,
    pub evolution: String,
    pub prompt: String,
    /// What the result would be at its best, where somebody has said.
    pub ideal: String,
    pub criteria: Criteria,
    /// Absent until somebody has agreed to criteria and limits; nothing is planned before.
    pub confirmed: Option<Confirmed>,
    pub setup: Setup,
    /// Where a person wants the result, which is not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// What the project says of itself: a folder of a few pages.
    pub context: Option<TreeId>,
    pub rules: Rules,
    pub commands: Commands,
}

/// How criteria that are not agreed to yet are completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// How many rules the evaluator proposes for this very task, where it is asked to.
    pub proposals: Option<Bounds>,
    /// What counts as a major issue, in a person's words; may be empty.
    pub major: String,
    /// Those of rules that come in.
    pub weights: Weights,
}

/// What is agreed to, and by whom: criteria and limits go together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub criteria: Criteria,
    pub max_iterations: u32,
    pub max_seconds: Option<u64>,
    pub confirmed: Confirmed,
}

/// Who has agreed to the criteria and the limits, which go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmed {
    Person,
    /// Nobody was asked: a flag has declared it.
    Declared,
}

/// The numbers that the run's decisions are judged against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub max_iterations: u32,
    pub stall: Stall,
    /// How many refinements at level B are judged before an artifact is taken that only warnings speak against.
    pub settle: u32,
    /// How often an answer that keeps no contract is asked for again.
    pub retries: u32,
    pub plan_steps: Bounds,
    pub most_issues: usize,
    /// How many of the newest events the planner is told.
    pub told_events: usize,
    pub checks_per_rule: usize,
    /// How long one command of a check may take.
    pub check_seconds: u64,
    /// Seconds of completed phases.
    pub max_seconds: Option<u64>,
}

/// At least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub least: usize,
    pub most: usize,
}

impl Task {
    pub(super) fn agree(&mut self, terms: &Terms) {
        let Terms { criteria, max_iterations, max_seconds, confirmed } = terms.clone();
        (self.criteria, self.confirmed) = (criteria, Some(confirmed));
        (self.rules.max_iterations, self.rules.max_seconds) = (max_iterations, max_seconds);
    }
}

impl Rules {
    /// Off-contract answers end a run at once, and are no failed rounds.
    pub(super) fn limits(&self) -> Limits {
        Limits { max_errors: u32::MAX, stall: self.stall, max_iterations: self.max_iterations }
    }
}
