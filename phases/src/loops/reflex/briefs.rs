//! What agents are asked: a file for each kind of call, with its page, the form of its answer and its reader.
//!
//! All text from people, projects and models is in fences, including the task and the rules. A page is a pure function
//! of its request, so that the same call has the same key.

mod critique;
mod evaluate;
mod plan;
mod prepare;
mod produce;
mod propose;
mod refine;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::{Issue, PlanStep};
use super::criteria::{Level, Rule};
use super::{AgentRequest, Reflex, Task};
use crate::asking::prompt::{READING, fence, files, numbered, plain, render, shown, was_wrong};
use crate::base::id::TreeId;
use crate::base::material::{Body, Folders};
use crate::loops::shared::request::{Brief, NoAgent};

pub(super) use critique::CritiqueBrief;
pub(super) use evaluate::EvaluateBrief;
pub(super) use plan::PlanBrief;
pub(super) use prepare::PrepareBrief;
pub(super) use produce::ProduceBrief;
pub(super) use propose::ProposeBrief;
pub(super) use refine::RefineBrief;

/// The workspace folders of the artifact, which is at the root, and of the project's description of itself.
pub(super) const ROOT: &str = "";
pub(super) const CONTEXT: &str = "context";

/// The data of a call that only the run knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReflexBrief {
    pub(super) iteration: u32,
    pub(super) level: Level,
    pub(super) kind: CallKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum CallKind {
    Propose(ProposeBrief),
    Plan(PlanBrief),
    Produce(ProduceBrief),
    Prepare(PrepareBrief),
    Check,
    Judge(EvaluateBrief),
    Critique(CritiqueBrief),
    Refine(RefineBrief),
}

impl CallKind {
    pub(super) fn brief(&self) -> &dyn Brief<Reflex> {
        match self {
            Self::Propose(brief) => brief,
            Self::Plan(brief) => brief,
            Self::Produce(brief) => brief,
            Self::Prepare(brief) => brief,
            Self::Check => &NoAgent,
            Self::Judge(brief) => brief,
            Self::Critique(brief) => brief,
            Self::Refine(brief) => brief,
        }
    }

    /// Returns the plan that another agent made, if the prompt quotes it.
    pub(super) fn steps(&self) -> &[PlanStep] {
        match self {
            Self::Produce(ProduceBrief { steps, .. }) | Self::Prepare(PrepareBrief { steps }) => steps,
            _ => &[],
        }
    }

    /// Returns the artifact that the answer is made from and the issues to fix in it, if the answer is an artifact.
    pub(super) fn rewrites(&self) -> Option<(Option<TreeId>, &[Issue])> {
        match self {
            Self::Produce(brief) => Some((brief.from, &[])),
            Self::Refine(brief) => Some((Some(brief.artifact), &brief.issues)),
            _ => None,
        }
    }
}

/// The artifact's path, where commands and agents find it.
const ARTIFACT: &str = "artifact.md";

/// Returns the page of a phase: the common parts, and its own values. It names the task and not its run, so that the
/// same question in another run is the same call.
fn page(phase: &str, request: &AgentRequest, values: Value) -> String {
    let (task, code) = (&request.plan.task, request.code.as_str());
    let ReflexBrief { iteration, level, .. } = &request.brief;
    let place = match phase {
        // The rules are for both levels.
        "propose" => String::new(),
        // The iteration is not part of what a judge judges.
        "evaluate" => format!(", level {level}"),
        _ => format!(", iteration {iteration}, level {level}"),
    };
    let opening = format!(
        "Phase {} of run `{}`{place}. Give only the output that this page asks for: nothing before it, nothing \
         after it.",
        phase.to_uppercase(),
        plain(&task.alias),
    );
    render(
        &format!("reflex/{phase}"),
        PromptPage {
            opening,
            reading: READING,
            task: asked_for(code, task),
            nonce: code,
            retry_error: was_wrong(code, request.retry_error()),
            values,
        },
    )
}

#[derive(Serialize)]
struct PromptPage<'a> {
    opening: String,
    reading: &'static str,
    task: String,
    nonce: &'a str,
    retry_error: Option<String>,
    #[serde(flatten)]
    values: Value,
}

fn asked_for(seed: &str, task: &Task) -> String {
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

fn context(seed: &str, folders: &Folders) -> Option<String> {
    let folder = folders.find(CONTEXT).filter(|folder| !folder.files.is_empty())?;
    Some(files(seed, folder))
}

/// Returns the artifact, if there is one.
fn artifact(seed: &str, folders: &Folders) -> Option<String> {
    let file = folders.find(ROOT)?.files.first()?;
    Some(shown(seed, ARTIFACT, &file.body))
}

fn artifact_or_empty(seed: &str, folders: &Folders) -> String {
    artifact(seed, folders).unwrap_or_else(|| shown(seed, ARTIFACT, &Body::Text(String::new())))
}

#[cfg(test)]
mod tests;
