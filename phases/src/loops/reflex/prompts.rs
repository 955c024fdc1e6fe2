//! The prompts of the phases: a brief and a page each.
//!
//! All text from people, projects and models is in fences, including the task and the rules. A page is a pure function
//! of its brief, so that the same call has the same key.

mod critique;
mod evaluate;
mod plan;
mod prepare;
mod produce;
mod propose;
mod refine;

use serde::Serialize;

use super::answers::PlanStep;
use super::criteria::{Level, Rule};
use crate::asking::prompt::{READING, fence, files, numbered, plain, render, shown};
use crate::base::material::{Body, Folder};

pub use critique::{CritiqueBrief, critique};
pub use evaluate::{EvaluateBrief, evaluate};
pub use plan::{PlanBrief, plan};
pub use prepare::{PrepareBrief, prepare};
pub use produce::{ProduceBrief, produce};
pub use propose::{ProposeBrief, propose};
pub use refine::{RefineBrief, refine};

/// The input of every phase.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The name of the run. It is part of the page and therefore of the call's key.
    pub run: &'a str,
    /// The judge does not see it: it is not part of what it judges.
    pub iteration: Option<u32>,
    /// None when rules are proposed, because they are for both levels.
    pub level: Option<Level>,
    /// The code that an answer in JSON must repeat.
    pub nonce: &'a str,
    /// The reason why the previous answer could not be used.
    pub retry_error: Option<&'a str>,
    /// The source of the fence markers. It is unknown to the authors of the materials.
    pub seed: &'a str,
}

/// The purpose of the artifact.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub prompt: &'a str,
    /// The result that a person would like to get, in their words; empty if they have not said.
    pub ideal: &'a str,
}

/// The artifact's path, where commands and agents find it.
pub const ARTIFACT: &str = "artifact.md";

/// Returns the page of a phase: the common parts, and its own values.
fn page(phase: &str, call: &Call<'_>, task: Option<Task<'_>>, values: impl Serialize) -> String {
    let Call { run, iteration, level, nonce, retry_error, seed } = *call;
    let iteration = iteration.map_or_else(String::new, |iteration| format!(", iteration {iteration}"));
    let level = level.map_or_else(String::new, |level| format!(", level {level}"));
    let opening = format!(
        "Phase {} of run `{}`{iteration}{level}. Give only the output that this page asks for: \
         nothing before it, nothing after it.",
        phase.to_uppercase(),
        plain(run),
    );
    render(
        &format!("reflex/{phase}"),
        PromptPage {
            opening,
            reading: READING,
            task: task.map(|task| asked_for(seed, task)),
            nonce,
            retry_error: retry_error.map(|error| fence(seed, "what was wrong", error)),
            values,
        },
    )
}

#[derive(Serialize)]
struct PromptPage<'a, V> {
    opening: String,
    reading: &'static str,
    task: Option<String>,
    nonce: &'a str,
    retry_error: Option<String>,
    #[serde(flatten)]
    values: V,
}

fn asked_for(seed: &str, task: Task<'_>) -> String {
    let (prompt, ideal) = (task.prompt.trim(), task.ideal.trim());
    match ideal {
        "" => fence(seed, "task", prompt),
        _ => fence(seed, "task", &format!("{prompt}\n\nThe ideal result:\n{ideal}")),
    }
}

fn rules(seed: &str, rules: &[&Rule]) -> String {
    let text = |rule: &&Rule| {
        let Rule { id, description, severity, weight, level: _, check, command } = rule;
        let check = (!check.trim().is_empty()).then(|| format!("\nHow to tell: {check}"));
        let command = command.as_ref().map(|argv| format!("\nChecked by this command: {argv:?}"));
        let (check, command) = (check.unwrap_or_default(), command.unwrap_or_default());
        format!("{id} (severity {severity}, weight {weight})\n{description}{check}{command}")
    };
    numbered(seed, "rules", rules.iter().map(text))
}

fn steps(seed: &str, plan: &[PlanStep]) -> Option<String> {
    let text = |step: &PlanStep| format!("{}\nFor {}.", step.step, step.rule);
    (!plan.is_empty()).then(|| numbered(seed, "plan", plan.iter().map(text)))
}

fn context(seed: &str, folder: Option<&Folder>) -> Option<String> {
    folder.filter(|folder| !folder.files.is_empty()).map(|folder| files(seed, folder))
}

fn artifact(seed: &str, body: &Body) -> String {
    shown(seed, ARTIFACT, body)
}

#[cfg(test)]
mod tests;
