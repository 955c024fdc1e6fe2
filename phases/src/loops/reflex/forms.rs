//! The JSON schemas of the answers that are data, for agents that hold their models to one. Such answers are read like
//! all others: a schema cannot say that a rule has one issue, or that a program is not a shell.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::answers;
use super::checks::Asked;
use super::criteria::{Rule, RuleId};
use super::task::Bounds;
use super::verdict::RuleResult;
use crate::judging::judgement::{self, Ask, VerdictShape};
use crate::loops::shared::form::{bound, list, object, one_of, text};

/// Returns the schema of this many rules.
pub fn proposal(bounds: Bounds) -> Value {
    let rule = object(&json!({
        "id": text(),
        "severity": one_of(["fail", "warn", "info"]),
        "description": text(),
        "check": text(),
    }));
    bound("rules", &list(&(bounds.least..=bounds.most), &rule))
}

/// Returns the schema of a plan with this many steps, each for an active rule.
pub fn plan(rules: &[&Rule], steps: &RangeInclusive<usize>) -> Value {
    let step = object(&json!({ "step": text(), "rule_id": one_of(ids(rules)) }));
    bound("plan", &list(steps, &step))
}

/// Returns the schema of checks for rules. Each rule has at least one.
pub fn checks(rules: &[&Rule], most: usize) -> Value {
    let check = |kind: &str, own: Value| {
        let mut parts = json!({ "rule_id": one_of(ids(rules)), "type": one_of([kind]) });
        if let (Value::Object(parts), Value::Object(own)) = (&mut parts, own) {
            parts.extend(own);
        }
        object(&parts)
    };
    let argv = json!({ "type": "array", "minItems": 1, "items": text() });
    let kinds = [
        check("executable", json!({ "argv": argv, "exit": { "type": "integer" }, "expected": text() })),
        check("content", json!({ "search": text(), "expected": one_of(["present", "absent"]) })),
        check("judge", json!({ "question": text() })),
    ];
    let number = rules.len()..=rules.len() * most;
    bound("checks", &list(&number, &json!({ "anyOf": kinds })))
}

/// Returns the schema of issues with rules that are not met.
pub fn critique(missed: &[&RuleResult], most: usize) -> Value {
    let issue = object(&json!({
        "rule_id": one_of(missed.iter().map(|result| &result.rule)),
        "section": text(),
        "problem": text(),
        "fix_instruction": text(),
        "expected_effect": text(),
    }));
    bound("issues", &list(&(1..=most.min(missed.len())), &issue))
}

/// Returns the schema of verdicts and nothing else: a judge proposes nothing.
pub fn verdicts(asked: &[Asked<'_>], nonce: &str) -> Value {
    let contract = answers::contract(asked);
    let mut form = judgement::schema(&Ask {
        contract: &contract,
        nonce,
        members: &[],
        at_fault: &[],
        shape: VerdictShape::Evidenced,
    });
    let required = form["required"].clone();
    if let (Some(parts), Some(required)) = (form["properties"].as_object_mut(), required.as_array()) {
        parts.retain(|name, _| required.contains(&json!(name)));
    }
    form
}

fn ids<'a>(rules: &[&'a Rule]) -> impl Iterator<Item = &'a RuleId> {
    rules.iter().map(|rule| &rule.id)
}
