//! What builder and evaluator are asked: a file for each kind of call, with its page, the form of its answer and its
//! reader.
//!
//! All text from people, files and models is in fences. Answers of agents that are held to a form are read like all
//! others.

mod build;
mod draft;
mod judge;
mod propose;
mod rule;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answers::MOST_WEIGHT;
use super::contract::{Change, Contract, Criterion};
use super::course::Item;
use super::negotiation::Proposal;
use super::{AgentRequest, GIVEN, Gan};
use crate::asking::prompt::{READING, fence, files, numbered, plain, render, was_wrong};
use crate::base::material::Folders;
use crate::judging::contract::DimensionId;
use crate::judging::score::Score;
use crate::loops::shared::form::{object, one_of, text};
use crate::loops::shared::request::{Brief, NoAgent};

pub(super) use build::BuildBrief;
pub(super) use draft::DraftBrief;
pub(super) use judge::JudgeBrief;
pub(super) use propose::ProposeBrief;
pub(super) use rule::RuleBrief;

/// The data of a call that only the run knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GanBrief(pub(super) CallKind);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum CallKind {
    Draft,
    Propose(Box<ProposeBrief>),
    Rule(Box<RuleBrief>),
    Build(Box<BuildBrief>),
    Browse,
    Try,
    Judge(Box<JudgeBrief>),
}

impl CallKind {
    pub(super) fn brief(&self) -> &dyn Brief<Gan> {
        match self {
            Self::Draft => &DraftBrief,
            Self::Propose(brief) => &**brief,
            Self::Rule(brief) => &**brief,
            Self::Build(brief) => &**brief,
            Self::Judge(brief) => &**brief,
            Self::Browse | Self::Try => &NoAgent,
        }
    }
}

/// Returns the page of a turn: the common parts, and its own values.
fn page(turn: &str, request: &AgentRequest, folders: &Folders, values: Value) -> String {
    #[derive(Serialize)]
    struct PromptPage<'a> {
        reading: &'static str,
        brief: String,
        given: Option<String>,
        nonce: &'a str,
        retry_error: Option<String>,
        #[serde(flatten)]
        values: Value,
    }
    let (brief, code) = (&request.plan.task.brief, request.code.as_str());
    let given = folders.find(GIVEN).filter(|folder| !folder.files.is_empty());
    let page = PromptPage {
        reading: READING,
        brief: fence(code, &brief.file, &brief.text),
        given: given.map(|folder| files(code, folder)),
        nonce: code,
        retry_error: was_wrong(code, request.retry_error()),
        values,
    };
    render(&format!("gan/{turn}"), page)
}

fn list(seed: &str, label: &str, texts: impl Iterator<Item = String>) -> Option<String> {
    let mut texts = texts.peekable();
    texts.peek().is_some().then(|| numbered(seed, label, texts))
}

fn criteria(seed: &str, contract: &Contract) -> String {
    let texts = contract.criteria.iter().map(|one| {
        let tests = contract.tests_of(&one.id).map(|test| {
            format!("\nA machine tries it ({}): {}", plain(&test.description), plain(&test.run.words()))
        });
        format!("{}{}", criterion(one), tests.collect::<String>())
    });
    numbered(seed, "criteria", texts)
}

fn criterion(criterion: &Criterion) -> String {
    let Criterion { id, dimension, criterion, verification, must_pass, .. } = criterion;
    let must = if *must_pass { ", must pass" } else { "" };
    format!("{id} ({dimension}{must})\n{criterion}\nHow to tell: {verification}")
}

/// Returns the levels that dimensions must reach, for those who agree on them or build for them. A judge does not see
/// them.
fn conditions(seed: &str, contract: &Contract) -> Option<String> {
    let conditions = contract.pass_conditions.iter();
    list(seed, "pass conditions", conditions.map(|(dimension, minimum)| condition(dimension, *minimum)))
}

fn condition(dimension: &DimensionId, minimum: Score) -> String {
    format!("{dimension} must reach {:.2}.", minimum.points() / 100.0)
}

fn item(item: &Item) -> String {
    format!("{}\n{}\nHow to tell: {}", item.id, item.text, item.verification)
}

fn proposal_text(proposal: &Proposal) -> String {
    let change = match &proposal.change {
        Change::Add(added) => format!("Add {}", criterion(added)),
        Change::Drop { criterion } => format!("Drop {criterion}."),
        Change::Reword { criterion, text, verification } => {
            format!("Reword {criterion}: {text}\nHow to tell: {verification}")
        }
        Change::MustPass { criterion, must: true } => format!("Let {criterion} be one that must pass."),
        Change::MustPass { criterion, must: false } => format!("Let {criterion} be one that need not pass."),
        Change::PassCondition { dimension, minimum } => condition(dimension, *minimum),
    };
    format!("{change}\nBecause: {}", proposal.why)
}

/// Returns the form of a criterion, with other parts besides.
fn criterion_form(profile: &Contract, besides: Value) -> Value {
    let mut parts = json!({
        "id": text(),
        "dimension": one_of(profile.dimensions.iter().map(|dimension| &dimension.id)),
        "criterion": text(),
        "verification": text(),
        "must_pass": { "type": "boolean" },
        "weight": { "type": "integer", "minimum": 1, "maximum": MOST_WEIGHT },
    });
    if let (Value::Object(parts), Value::Object(besides)) = (&mut parts, besides) {
        parts.extend(besides);
    }
    object(&parts)
}
