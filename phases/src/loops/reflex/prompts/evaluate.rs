//! The judge's prompt: the task, the artifact, the rules with their questions. It never contains an earlier verdict or
//! score, nor the weight of a rule: the brief has no place for the one, and the page none for the other.

use serde::Serialize;

use super::{Call, Task, artifact, context, page};
use crate::asking::prompt::numbered;
use crate::base::material::{Body, Folder};
use crate::loops::reflex::checks::Asked;

#[derive(Clone, Copy, Debug)]
pub struct EvaluateBrief<'a> {
    pub call: Call<'a>,
    pub task: Task<'a>,
    /// The material to compare facts and conventions with, if there is any.
    pub context: Option<&'a Folder>,
    pub artifact: &'a Body,
    pub asked: &'a [Asked<'a>],
}

pub fn evaluate(brief: &EvaluateBrief<'_>) -> String {
    let seed = brief.call.seed;
    page(
        "evaluate",
        &brief.call,
        Some(brief.task),
        Values {
            context: context(seed, brief.context),
            artifact: artifact(seed, brief.artifact),
            rules: numbered(seed, "rules", brief.asked.iter().map(text)),
            entries: brief.asked.len(),
        },
    )
}

fn text(asked: &Asked<'_>) -> String {
    let rule = asked.rule;
    let questions = asked.questions.iter().map(|question| format!("\nQuestion: {question}"));
    let questions: Vec<_> = questions.collect();
    format!("{}\n{}\nHow to tell: {}{}", rule.id, rule.description, rule.check, questions.concat())
}

#[derive(Serialize)]
struct Values {
    context: Option<String>,
    artifact: String,
    rules: String,
    entries: usize,
}
