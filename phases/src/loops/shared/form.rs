//! Parts of the JSON schemas of answers, for agents that enforce a schema on their models.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

/// Returns an object with the code of the request and the requested parts.
pub(crate) fn bound(key: &str, asked: &Value) -> Value {
    object(&json!({ "answer_to": text(), key: asked }))
}

/// Returns an object whose parts are all required.
pub(crate) fn object(parts: &Value) -> Value {
    let names: Vec<&String> = parts.as_object().into_iter().flat_map(|parts| parts.keys()).collect();
    json!({ "type": "object", "required": names, "properties": parts })
}

/// Returns a list with a number of items.
pub(crate) fn list(number: &RangeInclusive<usize>, item: &Value) -> Value {
    json!({ "type": "array", "minItems": number.start(), "maxItems": number.end(), "items": item })
}

/// Returns a choice of these words.
pub(crate) fn one_of(values: impl IntoIterator<Item = impl serde::Serialize>) -> Value {
    json!({ "type": "string", "enum": values.into_iter().map(|value| json!(value)).collect::<Vec<_>>() })
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}
