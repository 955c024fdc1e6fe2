//! The JSON schemas of the answers, for agents that hold their models to one. Such answers are read like all others.

use serde_json::{Value, json};

use super::answers::{Asked, MOST_CRITERIA, MOST_PROPOSALS, MOST_TESTS, MOST_WEIGHT};
use super::contract::Contract;
use super::prompts::Tools;
use super::test_scenario::{MOST_ACTS, Verb};
use crate::base::form::{bound, list, object, one_of, text};

pub(super) fn draft(profile: &Contract, tools: Tools) -> Value {
    let mut parts = json!({
        "answer_to": text(),
        "criteria": list(&(1..=MOST_CRITERIA), &criterion(profile, json!({}))),
    });
    if tools.any() {
        let act = json!({ "act": one_of(Verb::ALL.map(Verb::word)), "on": text(), "text": text() });
        let test = object(&json!({
            "id": text(),
            "criterion": text(),
            "description": text(),
            "tool": one_of(tools.names()),
            "steps": list(&(0..=MOST_ACTS), &object(&act)),
            "argv": { "type": "array", "items": text() },
        }));
        parts["test_scenarios"] = list(&(0..=MOST_TESTS), &test);
    }
    object(&parts)
}

/// An agent that is held to a schema fills in all parts, including those that a change does not need.
pub(super) fn proposals(profile: &Contract) -> Value {
    let change = json!({ "change": one_of(["add", "drop", "reword", "must_pass"]), "why": text() });
    bound("proposals", &list(&(0..=MOST_PROPOSALS), &criterion(profile, change)))
}

pub(super) fn rulings(proposals: usize) -> Value {
    let ruling = object(&json!({
        "proposal": { "type": "integer" },
        "accepted": { "type": "boolean" },
        "cites": text(),
        "why": text(),
    }));
    bound("rulings", &list(&(proposals..=proposals), &ruling))
}

pub(super) fn verdicts(asked: &Asked) -> Value {
    let verdict = one_of(["passed", "failed", "unverified"]);
    let finding =
        |ids: Value| object(&json!({ "id": ids, "verdict": verdict, "evidence": text(), "fix": text() }));
    let exactly = |number: usize, item: &Value| list(&(number..=number), item);
    let level = object(&json!({
        "dimension": one_of(&asked.dimensions),
        "level": { "type": "number", "enum": [0.25, 0.5, 0.75, 1.0] },
        "why": text(),
    }));
    let mut parts = json!({
        "answer_to": text(),
        "criteria": exactly(asked.criteria.len(), &finding(ids(asked.criteria.iter().map(|one| &one.id)))),
        "levels": list(&(0..=asked.dimensions.len()), &level),
    });
    if !asked.patterns.is_empty() {
        let ids = ids(asked.patterns.iter().map(|one| &one.id));
        let sight = object(&json!({ "id": ids, "present": { "type": "boolean" }, "evidence": text() }));
        parts["patterns"] = exactly(asked.patterns.len(), &sight);
    }
    if !asked.extra.is_empty() {
        parts["extra"] = exactly(asked.extra.len(), &finding(ids(asked.extra.iter().map(|one| &one.id))));
    }
    let mut form = object(&parts);
    form["properties"]["next"] = list(
        &(0..=asked.most_wanted),
        &object(&json!({ "id": text(), "text": text(), "verification": text() })),
    );
    form
}

fn criterion(profile: &Contract, besides: Value) -> Value {
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

/// Allows one of these ids; any text if there are none, because an empty choice allows nothing.
fn ids(ids: impl Iterator<Item = impl serde::Serialize>) -> Value {
    let mut ids = ids.peekable();
    if ids.peek().is_some() { one_of(ids) } else { text() }
}
