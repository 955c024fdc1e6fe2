//! The task of `reflex`: a task in words, the criteria that decide, and the numbers that end it.

use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;
use crate::judging::stop::{Limits, Stall};
use crate::suites::checks::Commands;

use super::criteria::{Criteria, Weights};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The name of the run's folder beside the original's.
    pub alias: String,
    /// The project's folder, and in it the folder of the original's files.
    pub project: String,
    pub evolution: String,
    pub prompt: String,
    /// The ideal result, if somebody has described it.
    pub ideal: String,
    pub criteria: Criteria,
    /// Absent until somebody has agreed to the criteria and limits. Nothing is planned before.
    pub confirmed: Option<Confirmed>,
    pub setup: Setup,
    /// The path for the result, which does not exist yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// The project's description of itself: a folder of a few pages.
    pub context: Option<TreeId>,
    pub rules: Rules,
    pub commands: Commands,
}

/// The settings for completing criteria that are not agreed to yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The number of rules that the evaluator proposes for this task, if it is asked to.
    pub proposals: Option<Bounds>,
    /// The definition of a major issue, in a person's words; may be empty.
    pub major: String,
    /// The weights of new rules.
    pub weights: Weights,
}

/// The agreed terms, and who agreed to them. Criteria and limits go together.
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
    /// A flag has declared it, and no person was asked.
    Declared,
}

/// The numbers that the run's decisions are judged against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub max_iterations: u32,
    pub stall: Stall,
    /// The number of refinements judged at level B before an artifact with nothing but warnings is accepted.
    pub settle: u32,
    /// The number of retries after an answer that breaks its contract.
    pub retries: u32,
    pub plan_steps: Bounds,
    pub most_issues: usize,
    /// The number of newest events that the planner sees.
    #[serde(rename = "told_events")]
    pub latest_events: usize,
    pub checks_per_rule: usize,
    /// The time limit for one command of a check.
    pub check_seconds: u64,
    /// The time limit for completed phases, in seconds.
    pub max_seconds: Option<u64>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_iterations: 4,
            stall: Stall { window: 2, gain: 2.0, reaching: true },
            settle: 1,
            retries: 1,
            plan_steps: Bounds { least: 3, most: 5 },
            most_issues: 5,
            latest_events: 3,
            checks_per_rule: 3,
            check_seconds: 60,
            max_seconds: None,
        }
    }
}

/// A minimum and a maximum.
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
    /// Returns the limits for the stop rules. Off-contract answers end a run at once, so they are not failed rounds.
    pub(super) fn limits(&self) -> Limits {
        Limits { max_errors: u32::MAX, stall: self.stall, max_iterations: self.max_iterations }
    }
}
