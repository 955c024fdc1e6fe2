//! One assertion: a statement, or an object around it.

use serde_json::{Map, Value};
use skilltune_phases::suites::checks::{Check, How, Text, Times};

use crate::inputs::suite::case::{Ask, first_text, text};
use crate::inputs::suite::script_pattern::escaped;

const READ: [&str; 15] = [
    "id",
    "name",
    "text",
    "description",
    "assertion",
    "expectation",
    "statement",
    "type",
    "check",
    "pattern",
    "value",
    "file",
    "path",
    "weight",
    "target",
];

/// Returns the demand and what of it is lost, or why there is none.
pub(super) fn ask(assertion: &Value) -> Result<(Ask, Vec<String>), String> {
    match assertion {
        Value::String(text) if !text.trim().is_empty() => Ok((Ask::question(text.as_str()), Vec::new())),
        Value::Object(assertion) => object(assertion),
        _ => Err("an assertion without a text is left out".to_owned()),
    }
}

fn object(assertion: &Map<String, Value>) -> Result<(Ask, Vec<String>), String> {
    let mut notes = Vec::new();
    for key in assertion.keys().filter(|key| !READ.contains(&key.as_str())) {
        notes.push(format!("`{key}` of assertions is not read"));
    }
    let check = contained(assertion);
    let how = match check.map(How::Check) {
        Some(how) => how,
        None => How::Question { text: statement(assertion)?.into() },
    };
    // The name of an assertion serves as its id; an id in prose is a text.
    let id = ["id", "name"].iter().find_map(|key| assertion.get(*key).and_then(text));
    let id = id.filter(|id| !id.contains(char::is_whitespace));
    let weight = assertion.get("weight").and_then(Value::as_f64).filter(|weight| *weight > 0.0);
    Ok((Ask::new(how).named(id).weighing(weight.unwrap_or(1.0)), notes))
}

/// The types that search for a text.
const CONTAINS: [&str; 4] = ["contains", "content_contains", "code_contains", "file_contains"];

/// Returns the check that a named file contains a text. Without a file name it is unclear whether the answer or a file
/// is meant, so a judge looks at both.
fn contained(assertion: &Map<String, Value>) -> Option<Check> {
    let kind = assertion.get("type")?.as_str()?;
    let file = first_text(assertion, &["file", "path"])?;
    let (kind, times) = match kind.strip_prefix("not_") {
        Some(kind) => (kind, Times::NEVER),
        None => (kind, Times::ONCE_OR_MORE),
    };
    let text = first_text(assertion, &["value", "pattern"])?;
    CONTAINS.contains(&kind).then(|| Check::Pattern {
        pattern: escaped(&text).into(),
        of: Text::Files(file.into()),
        times,
    })
}

/// Returns its sentence from any key that holds one, followed by what it searches for.
fn statement(assertion: &Map<String, Value>) -> Result<String, String> {
    let own = first_text(assertion, &["text", "assertion", "expectation", "statement"]);
    let description = first_text(assertion, &["description"]);
    let said = match (own, description) {
        (Some(own), Some(more)) if !own.contains(&more) => Some(format!("{own} ({more})")),
        (own, description) => own.or(description).or_else(|| first_text(assertion, &["check", "name"])),
    };
    let kind = assertion.get("type").and_then(Value::as_str).unwrap_or_default();
    let sought = first_text(assertion, &["pattern", "value"]).or_else(|| list(assertion.get("pattern")?));
    let file = first_text(assertion, &["file", "path"]);
    let details: Vec<String> = sought
        .into_iter()
        .map(|sought| format!("{}: {sought:?}", if kind.is_empty() { "contains" } else { kind }))
        .chain(file.map(|file| format!("in {file}")))
        .collect();
    match (said, details.is_empty()) {
        (Some(said), true) => Ok(said),
        (Some(said), false) => Ok(format!("{said} ({})", details.join(", "))),
        (None, false) => Ok(format!("The result fulfils this: {}.", details.join(", "))),
        (None, true) => Err("an assertion without a text is left out".to_owned()),
    }
}

fn list(values: &Value) -> Option<String> {
    let texts: Vec<String> = values.as_array()?.iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
