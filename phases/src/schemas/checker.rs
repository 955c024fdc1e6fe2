//! As much of JSON Schema as our own schemas use; any other keyword is a mistake and panics.

use serde_json::{Map, Value};

pub(super) fn accepts(schema: &Value, value: &Value) -> bool {
    let rules = schema.as_object().unwrap();
    rules.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$id" | "title" | "description" => true,
        "type" => one_or_more(rule).iter().any(|name| is_of_type(name.as_str().unwrap(), value)),
        "enum" => list(rule).contains(value),
        "oneOf" => list(rule).iter().filter(|schema| accepts(schema, value)).count() == 1,
        "anyOf" => list(rule).iter().any(|schema| accepts(schema, value)),
        "pattern" => value
            .as_str()
            .is_none_or(|text| regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| accepts(rule, item))),
        "required" => value
            .as_object()
            .is_none_or(|object| list(rule).iter().all(|name| object.contains_key(name.as_str().unwrap()))),
        "properties" => value.as_object().is_none_or(|object| {
            rule.as_object()
                .unwrap()
                .iter()
                .all(|(name, schema)| object.get(name).is_none_or(|value| accepts(schema, value)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| accepts_others(rules, rule, object)),
        other => panic!("a schema uses {other}, which is not checked here"),
    })
}

fn accepts_others(rules: &Map<String, Value>, rule: &Value, object: &Map<String, Value>) -> bool {
    let known =
        |name: &String| rules.get("properties").is_some_and(|properties| properties.get(name).is_some());
    let mut others = object.iter().filter(|(name, _)| !known(name));
    match rule {
        Value::Bool(allowed) => *allowed || others.next().is_none(),
        schema => others.all(|(_, value)| accepts(schema, value)),
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type {other}"),
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().unwrap()
}

fn one_or_more(rule: &Value) -> &[Value] {
    rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice)
}
