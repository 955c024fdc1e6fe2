//! What each phase is told: a brief and a page each.
//!
//! All that comes from people, projects and models stands in fences, the task and the rules too. A page is a pure
//! function of its brief, so that the same call has the same key.

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
use crate::material::{Body, Folder};
use crate::prompt::{READING, fence, files, numbered, plain, render, shown};

pub use critique::{CritiqueBrief, critique};
pub use evaluate::{EvaluateBrief, evaluate};
pub use plan::{PlanBrief, plan};
pub use prepare::{PrepareBrief, prepare};
pub use produce::{ProduceBrief, produce};
pub use propose::{ProposeBrief, propose};
pub use refine::{RefineBrief, refine};

/// What every phase is told.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What the run is called. It is a part of the page and with it of the call's key.
    pub run: &'a str,
    /// The judge is not told: it is no part of what it judges.
    pub iteration: Option<u32>,
    /// Rules are proposed for both at once.
    pub level: Option<Level>,
    /// The code that an answer in JSON must bring back.
    pub nonce: &'a str,
    /// Why the answer before this one could not be used.
    pub retry_error: Option<&'a str>,
    /// What the markers of fences are made from; unknown to whoever wrote the materials.
    pub seed: &'a str,
}

/// What the artifact is for.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub prompt: &'a str,
    /// What a person would like to get, in their words; empty where nobody has said.
    pub ideal: &'a str,
}

/// The artifact's path, where commands and agents find it.
pub const ARTIFACT: &str = "artifact.md";

/// The page of a phase: what all have in common, and its own values.
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
        Page {
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
struct Page<'a, V> {
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
    let told = |rule: &&Rule| {
        let Rule { id, description, severity, weight, level: _, check, command } = rule;
        let check = (!check.trim().is_empty()).then(|| format!("\nHow to tell: {check}"));
        let command = command.as_ref().map(|argv| format!("\nChecked by this command: {argv:?}"));
        let (check, command) = (check.unwrap_or_default(), command.unwrap_or_default());
        format!("{id} (severity {severity}, weight {weight})\n{description}{check}{command}")
    };
    numbered(seed, "rules", rules.iter().map(told))
}

fn steps(seed: &str, plan: &[PlanStep]) -> Option<String> {
    let told = |step: &PlanStep| format!("{}\nFor {}.", step.step, step.rule);
    (!plan.is_empty()).then(|| numbered(seed, "plan", plan.iter().map(told)))
}

fn context(seed: &str, folder: Option<&Folder>) -> Option<String> {
    folder.filter(|folder| !folder.files.is_empty()).map(|folder| files(seed, folder))
}

fn artifact(seed: &str, body: &Body) -> String {
    shown(seed, ARTIFACT, body)
}

#[cfg(test)]
mod tests;
