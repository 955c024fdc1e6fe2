//! The prompt for proposing rules: the task, the project, and the existing rules.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Call, Task, context, page, rules};
use crate::asking::prompt::fence;
use crate::base::material::Folder;
use crate::loops::reflex::criteria::{CATEGORIES, Criteria, Rule};

#[derive(Clone, Debug)]
pub struct ProposeBrief<'a> {
    pub call: Call<'a>,
    pub task: Task<'a>,
    pub context: Option<&'a Folder>,
    pub criteria: &'a Criteria,
    /// The definition of a major issue, in a person's words; may be empty.
    pub major: &'a str,
    pub rules: RangeInclusive<usize>,
}

pub fn propose(brief: &ProposeBrief<'_>) -> String {
    let seed = brief.call.seed;
    let known: Vec<&Rule> = brief.criteria.rules.iter().collect();
    page(
        "propose",
        &brief.call,
        Some(brief.task),
        Values {
            context: context(seed, brief.context),
            rules: (!known.is_empty()).then(|| rules(seed, &known)),
            major: Some(brief.major.trim())
                .filter(|major| !major.is_empty())
                .map(|major| fence(seed, "major", major)),
            categories: CATEGORIES.map(|category| format!("`{category}`")).join(", "),
            least: *brief.rules.start(),
            most: *brief.rules.end(),
        },
    )
}

#[derive(Serialize)]
struct Values {
    context: Option<String>,
    rules: Option<String>,
    major: Option<String>,
    categories: String,
    least: usize,
    most: usize,
}
