//! The refiner's prompt: the artifact, and the issues to fix in it.

use serde::Serialize;

use super::{Call, Task, artifact, page};
use crate::asking::prompt::numbered;
use crate::base::material::Body;
use crate::loops::reflex::answers::Issue;

#[derive(Clone, Copy, Debug)]
pub struct RefineBrief<'a> {
    pub call: Call<'a>,
    /// Left out if the refiner should work from the issues alone.
    pub task: Option<Task<'a>>,
    pub artifact: &'a Body,
    pub issues: &'a [Issue],
}

pub fn refine(brief: &RefineBrief<'_>) -> String {
    let seed = brief.call.seed;
    page(
        "refine",
        &brief.call,
        brief.task,
        Values {
            artifact: artifact(seed, brief.artifact),
            issues: numbered(seed, "issues", brief.issues.iter().map(text)),
        },
    )
}

fn text(issue: &Issue) -> String {
    let Issue { rule, section, problem, fix_instruction, expected_effect } = issue;
    let section = if section.is_empty() { "the whole text" } else { section };
    format!("{rule}\nWhere: {section}\nProblem: {problem}\nDo: {fix_instruction}\nThen: {expected_effect}")
}

#[derive(Serialize)]
struct Values {
    artifact: String,
    issues: String,
}
