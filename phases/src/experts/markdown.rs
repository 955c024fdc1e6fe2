//! Markdown with front matter: Claude Code, Gemini CLI, opencode and gestalt.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Expert, ExpertError, Fields, KNOWN, UNSUPPORTED, is_remote};
use crate::base::yaml::{self, Fault};
use crate::skills::skill;

const DESCRIPTION: &str = "description";

pub(super) fn fields(text: &str) -> Result<Fields, ExpertError> {
    let (front, persona) = skill::split(text)?;
    // Claude Code reads descriptions with colons in them, and many files have them.
    let read = yaml::value(front)
        .or_else(|fault| yaml::value(&quoted(front)).map_err(|_| fault))
        .map_err(|fault| ExpertError::Yaml(Fault { line: fault.line + 1, ..fault }))?;
    match read {
        Value::Object(all) => Ok(Fields { all, persona: persona.to_owned() }),
        Value::Array(all) if all.iter().filter_map(Value::as_object).any(is_remote) => {
            Err(ExpertError::Remote)
        }
        _ => Err(ExpertError::NoFields),
    }
}

/// Quotes the texts of fields that are not valid YAML. A description ends at the next known field: the `user: ...` of its
/// examples is part of it.
fn quoted(front: &str) -> String {
    let mut fields: Vec<(&str, String)> = Vec::new();
    for line in front.lines() {
        let is_text = fields.last().is_some_and(|(key, _)| *key == DESCRIPTION);
        let key = key_of(line).filter(|key| !is_text || KNOWN.contains(key) || UNSUPPORTED.contains(key));
        match (key, fields.last_mut()) {
            (None, Some((_, field))) => field.extend(["\n", line]),
            (key, _) => fields.push((key.unwrap_or_default(), line.to_owned())),
        }
    }
    fields.iter().map(|(key, field)| quoted_field(key, field) + "\n").collect()
}

/// Returns the key of a line that may begin a field.
fn key_of(line: &str) -> Option<&str> {
    let (key, text) = line.split_once(':')?;
    (is_plain(key) && (text.is_empty() || text.starts_with(char::is_whitespace))).then_some(key)
}

fn quoted_field(key: &str, field: &str) -> String {
    let is_read = yaml::value(field).is_ok_and(|read| read.as_object().is_some_and(|all| all.len() == 1));
    let value = field.get(key.len() + 1..).unwrap_or_default().trim();
    let is_list = key != DESCRIPTION && value.starts_with(['[', '{']);
    if key.is_empty() || is_read || is_list { field.to_owned() } else { format!("{key}: {}", json(value)) }
}

/// Writes the Markdown of Claude Code. Its fields come first; other programs ignore the rest.
pub(super) fn written(expert: &Expert) -> String {
    let mut own = Map::new();
    let mut put = |key: &str, value: Value| own.insert(key.to_owned(), value);
    put("name", expert.name.clone().into());
    put("description", expert.description.clone().into());
    put("tier", expert.tier.word().into());
    expert.pipeline.iter().for_each(|pipeline| drop(put("pipeline", pipeline.clone().into())));
    if !expert.domain.is_empty() {
        put("domain", expert.domain.clone().into());
    }
    let mut text = "---\n".to_owned();
    for (key, value) in own.iter().chain(&expert.unknown) {
        writeln!(text, "{}: {}", key_text(key), json(value)).expect("a string can always grow");
    }
    format!("{text}---\n\n{}\n", expert.persona)
}

fn key_text(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { json(key) }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// A value of JSON is a value of YAML.
fn json(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).expect("it has a JSON text")
}
