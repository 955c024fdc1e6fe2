//! The critic's prompt: the artifact, and the rules that it does not meet.

use serde::Serialize;

use super::{Call, Task, artifact, page};
use crate::asking::prompt::numbered;
use crate::base::material::Body;
use crate::loops::reflex::criteria::Criteria;
use crate::loops::reflex::sections::PREAMBLE;
use crate::loops::reflex::verdict::{RuleResult, Verdict};

#[derive(Clone, Copy, Debug)]
pub struct CritiqueBrief<'a> {
    pub call: Call<'a>,
    /// Left out if the critic should see the text alone.
    pub task: Option<Task<'a>>,
    pub artifact: &'a Body,
    pub criteria: &'a Criteria,
    pub missed: &'a [&'a RuleResult],
    pub most: usize,
}

pub fn critique(brief: &CritiqueBrief<'_>) -> String {
    let seed = brief.call.seed;
    let mut missed = brief.missed.to_vec();
    missed.sort_by_key(|result| result.verdict != Verdict::Fail);
    page(
        "critique",
        &brief.call,
        brief.task,
        Values {
            artifact: artifact(seed, brief.artifact),
            missed: numbered(seed, "not met", missed.into_iter().map(|result| text(brief.criteria, result))),
            most: brief.most.min(brief.missed.len()),
            preamble: PREAMBLE,
        },
    )
}

fn text(criteria: &Criteria, result: &RuleResult) -> String {
    let description = criteria.rule(&result.rule).map_or("", |rule| &rule.description);
    format!("{} ({}): {description}\nSeen: {}", result.rule, result.verdict, result.details)
}

#[derive(Serialize)]
struct Values {
    artifact: String,
    missed: String,
    most: usize,
    preamble: &'static str,
}
