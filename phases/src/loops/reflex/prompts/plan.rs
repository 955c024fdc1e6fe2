//! The planner's prompt: the task, the rules that count, and their results so far.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Call, Task, context, page, rules};
use crate::asking::prompt::{fence, numbered};
use crate::base::material::Folder;
use crate::loops::reflex::criteria::Rule;
use crate::loops::reflex::verdict::RuleResult;

#[derive(Clone, Debug)]
pub struct PlanBrief<'a> {
    pub call: Call<'a>,
    pub task: Task<'a>,
    pub context: Option<&'a Folder>,
    /// The rules that count at the level.
    pub rules: &'a [&'a Rule],
    /// The last events of the run, one per line.
    pub events: &'a [String],
    /// The rules that were not met when the artifact was last judged.
    pub failures: &'a [&'a RuleResult],
    pub steps: RangeInclusive<usize>,
}

pub fn plan(brief: &PlanBrief<'_>) -> String {
    let seed = brief.call.seed;
    let failures = brief.failures.iter();
    let failures =
        failures.map(|failure| format!("{} ({}): {}", failure.rule, failure.verdict, failure.details));
    page(
        "plan",
        &brief.call,
        Some(brief.task),
        Values {
            context: context(seed, brief.context),
            rules: rules(seed, brief.rules),
            events: (!brief.events.is_empty()).then(|| fence(seed, "events", &brief.events.join("\n"))),
            failures: (!brief.failures.is_empty()).then(|| numbered(seed, "not met", failures)),
            least: *brief.steps.start(),
            most: *brief.steps.end(),
        },
    )
}

#[derive(Serialize)]
struct Values {
    context: Option<String>,
    rules: String,
    events: Option<String>,
    failures: Option<String>,
    least: usize,
    most: usize,
}
