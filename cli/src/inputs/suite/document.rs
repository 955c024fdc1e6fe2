//! Detects what a file is by its structure.

use serde_json::{Map, Value};
use skilltune_phases::base::yaml;

use crate::trust::file::TextFile;

use super::case::{PROMPTS, first_text};
use super::triggers::{self, Query};

/// A file as parsed.
#[derive(Debug)]
pub(super) enum Document {
    Toml,
    /// JSON or YAML.
    Value(Value),
    /// A fault in the syntax that its name promises.
    Faulty(String),
    /// No known syntax.
    Unknown,
}

impl Document {
    /// Parses the file. TOML and JSON can contain text that is not YAML, and YAML accepts nearly everything, so it is
    /// tried last. The name only decides whose error is reported.
    pub(super) fn of(file: &TextFile) -> Self {
        let text = file.text().trim_start_matches('\u{feff}');
        let json = serde_json::from_str::<Value>(text);
        if let Ok(value) = json {
            return Self::Value(value);
        }
        let toml = file.toml::<toml::Table>();
        if toml.is_ok() {
            return Self::Toml;
        }
        let yaml = yaml::value(text);
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = yaml {
            return Self::Value(value);
        }
        let end = file.path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        match (end, json, yaml) {
            ("json", Err(error), _) => Self::Faulty(format!("not valid JSON: {error}")),
            ("yaml" | "yml", _, Err(error)) => Self::Faulty(format!("not valid YAML: {error}")),
            // The TOML reader reports the error with an example.
            ("toml", ..) => Self::Toml,
            _ => Self::Unknown,
        }
    }
}

/// The kind of suite that a value describes.
#[derive(Debug)]
pub(super) enum Shape<'v> {
    Evals(Vec<&'v Map<String, Value>>),
    Triggers(Vec<Query>),
    Promptfoo,
}

/// The keys that hold lists of cases.
const LISTS: [&str; 5] = ["evals", "cases", "evaluations", "test_cases", "queries"];

pub(super) fn shape(value: &Value) -> Result<Shape<'_>, String> {
    if is_promptfoo(value) {
        return Ok(Shape::Promptfoo);
    }
    let skill = value.as_object().and_then(|top| first_text(top, &["skill_name", "skill"]));
    if let Some(queries) = value.as_object().and_then(triggers::sides) {
        return Ok(Shape::Triggers(queries));
    }
    let refusal = || format!("not a suite: it is {}", looks_like(value));
    let entries = match value {
        Value::Array(entries) => entries,
        Value::Object(top) => {
            let mut lists = LISTS.iter().filter_map(|key| top.get(*key)?.as_array());
            lists.next().ok_or_else(refusal)?
        }
        _ => return Err(refusal()),
    };
    let entries: Vec<&Map<String, Value>> = entries.iter().filter_map(Value::as_object).collect();
    // A file of this name may contain a list of something else.
    if entries.is_empty() || !entries.iter().any(|entry| is_case(entry)) {
        return Err(refusal());
    }
    let is_bare = |entry: &&Map<String, Value>| !ASKS.iter().any(|key| entry.contains_key(*key));
    if entries.iter().all(is_bare) {
        let queries: Option<Vec<Query>> =
            entries.iter().map(|entry| triggers::query(entry, skill.as_deref())).collect();
        if let Some(queries) = queries {
            return Ok(Shape::Triggers(queries));
        }
    }
    Ok(Shape::Evals(entries))
}

/// Keys that only a case of `evals.json` has.
const ASKS: [&str; 10] = [
    "assertions",
    "expectations",
    "expected_output",
    "expected_outputs",
    "expected_behavior",
    "files",
    "anti_expectations",
    "must_include",
    "required_regex",
    "script_checks",
];

/// Returns whether a value is a case with expected results, or contains such cases.
pub(super) fn has_answers(value: &Value) -> bool {
    let answers = ASKS.iter().filter(|key| **key != "files");
    match value {
        Value::Array(values) => values.iter().any(has_answers),
        Value::Object(entry) if is_case(entry) => answers.clone().any(|key| entry.contains_key(*key)),
        Value::Object(top) => LISTS.iter().filter_map(|key| top.get(*key)).any(has_answers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_case(entry: &Map<String, Value>) -> bool {
    first_text(entry, &PROMPTS).is_some()
}

/// Returns whether this is a configuration with tests, or a list of tests alone.
fn is_promptfoo(value: &Value) -> bool {
    let is_test = |test: &Value| {
        test.as_object()
            .is_some_and(|test| test.get("vars").is_some_and(Value::is_object) || test.contains_key("assert"))
    };
    match value {
        Value::Object(top) => {
            let tests = top.get("tests").is_some_and(|tests| tests.is_array() || tests.is_string());
            tests
                && ["prompts", "providers", "defaultTest", "description"]
                    .iter()
                    .any(|key| top.contains_key(*key))
                || top.get("tests").and_then(Value::as_array).is_some_and(|tests| tests.iter().any(is_test))
        }
        Value::Array(tests) => !tests.is_empty() && tests.iter().all(is_test),
        _ => false,
    }
}

/// Describes the file's content, in case its author meant another kind of file with this name.
fn looks_like(value: &Value) -> String {
    let keys = |entry: &Map<String, Value>| {
        let names: Vec<String> = entry.keys().take(6).map(|key| format!("`{key}`")).collect();
        let more = if entry.len() > names.len() { ", ..." } else { "" };
        if names.is_empty() { "no keys".to_owned() } else { format!("the keys {}{more}", names.join(", ")) }
    };
    match value {
        Value::Object(top) => format!("an object with {}", keys(top)),
        Value::Array(entries) => match entries.first() {
            None => "an empty list".to_owned(),
            Some(Value::Object(first)) => {
                format!("a list of {} entries, the first with {}", entries.len(), keys(first))
            }
            Some(_) => format!("a list of {} entries that are not objects", entries.len()),
        },
        Value::Null => "empty".to_owned(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => "a single value".to_owned(),
    }
}
