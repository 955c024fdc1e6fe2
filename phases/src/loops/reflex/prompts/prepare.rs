//! The prompt for preparing checks: the task and the rules to check, but never the artifact: the brief has no place for
//! it.

use serde::Serialize;

use super::{Call, Task, context, page, rules, steps};
use crate::base::material::Folder;
use crate::loops::reflex::answers::PlanStep;
use crate::loops::reflex::criteria::Rule;

#[derive(Clone, Copy, Debug)]
pub struct PrepareBrief<'a> {
    pub call: Call<'a>,
    pub task: Task<'a>,
    pub context: Option<&'a Folder>,
    /// Empty if checks are made without a plan.
    pub plan: &'a [PlanStep],
    /// The rules that need checks.
    pub rules: &'a [&'a Rule],
    /// The maximum number of checks for one rule.
    pub most: usize,
}

pub fn prepare(brief: &PrepareBrief<'_>) -> String {
    let seed = brief.call.seed;
    page(
        "prepare",
        &brief.call,
        Some(brief.task),
        Values {
            context: context(seed, brief.context),
            plan: steps(seed, brief.plan),
            rules: rules(seed, brief.rules),
            most: brief.most,
        },
    )
}

#[derive(Serialize)]
struct Values {
    context: Option<String>,
    plan: Option<String>,
    rules: String,
    most: usize,
}
