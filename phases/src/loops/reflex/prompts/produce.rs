//! The producer's prompt: the task, the plan, and the text so far if there is one.

use serde::Serialize;

use super::{Call, Task, artifact, context, page, steps};
use crate::base::material::{Body, Folder};
use crate::loops::reflex::answers::PlanStep;

#[derive(Clone, Copy, Debug)]
pub struct ProduceBrief<'a> {
    pub call: Call<'a>,
    pub task: Task<'a>,
    pub context: Option<&'a Folder>,
    pub plan: &'a [PlanStep],
    /// The existing artifact.
    pub artifact: Option<&'a Body>,
}

pub fn produce(brief: &ProduceBrief<'_>) -> String {
    let seed = brief.call.seed;
    page(
        "produce",
        &brief.call,
        Some(brief.task),
        Values {
            context: context(seed, brief.context),
            plan: steps(seed, brief.plan).unwrap_or_else(|| "(none)".to_owned()),
            artifact: brief.artifact.map(|body| artifact(seed, body)),
        },
    )
}

#[derive(Serialize)]
struct Values {
    context: Option<String>,
    plan: String,
    artifact: Option<String>,
}
