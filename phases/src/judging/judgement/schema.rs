//! The schema of a verdict, for agents that enforce one on their models. Their answers are read like any other.

use serde_json::{Value, json};

use super::{Ask, Priority};
use crate::judging::contract::{CriterionId, Verdict};

/// Returns a JSON Schema of the requested answer.
pub fn schema(ask: &Ask<'_>) -> Value {
    let ids: Vec<&CriterionId> = ask.contract.criteria.iter().map(|criterion| &criterion.id).collect();
    let mut entry = json!({
        "type": "object",
        "required": ["id", "verdict", "evidence"],
        "properties": {
            "id": { "type": "string", "enum": ids },
            "verdict": { "type": "string", "enum": Verdict::ALL },
            "evidence": text(),
        },
    });
    let mut suggestion = json!({
        "type": "object",
        "required": ["priority", "target_file", "description", "rationale"],
        "properties": {
            "priority": { "type": "string", "enum": Priority::ALL },
            "target_file": text(),
            "description": text(),
            "rationale": text(),
            "snippet": text(),
        },
    });
    if !ask.members.is_empty() {
        let names: Vec<Option<&str>> = ask.members.iter().copied().map(Some).chain([None]).collect();
        for part in [&mut entry, &mut suggestion] {
            part["properties"]["member"] = json!({ "type": ["string", "null"], "enum": names });
        }
    }
    if !ask.at_fault.is_empty() {
        let names: Vec<Option<&str>> = ask.at_fault.iter().copied().map(Some).chain([None]).collect();
        entry["properties"]["at_fault"] = json!({ "type": ["string", "null"], "enum": names });
    }
    json!({
        "type": "object",
        "required": ["verdict_of", "criteria"],
        "properties": {
            "verdict_of": text(),
            "criteria": { "type": "array", "minItems": ids.len() * (1 + ask.members.len()), "items": entry },
            "claimed_score": { "type": "number" },
            "strengths": { "type": "array", "items": text() },
            "weaknesses": { "type": "array", "items": text() },
            "suggestions": { "type": "array", "items": suggestion },
        },
    })
}

fn text() -> Value {
    json!({ "type": "string" })
}
