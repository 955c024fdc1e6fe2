//! The parts of which the forms of answers are made, for agents that hold their models to one.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

/// The code of the request, and what was asked for.
pub(crate) fn bound(key: &str, asked: &Value) -> Value {
    object(&json!({ "answer_to": text(), key: asked }))
}

/// An object of which no part is missing.
pub(crate) fn object(parts: &Value) -> Value {
    let names: Vec<&String> = parts.as_object().into_iter().flat_map(|parts| parts.keys()).collect();
    json!({ "type": "object", "required": names, "properties": parts })
}

/// So many of an item.
pub(crate) fn list(number: &RangeInclusive<usize>, item: &Value) -> Value {
    json!({ "type": "array", "minItems": number.start(), "maxItems": number.end(), "items": item })
}

/// One of these words.
pub(crate) fn one_of(values: impl IntoIterator<Item = impl serde::Serialize>) -> Value {
    json!({ "type": "string", "enum": values.into_iter().map(|value| json!(value)).collect::<Vec<_>>() })
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}
