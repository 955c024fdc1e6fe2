//! Markdown with front matter: Claude Code, Gemini CLI, opencode and gestalt.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Expert, ExpertError, Fields};
use crate::base::yaml;
use crate::skills::skill;

pub(super) fn fields(text: &str) -> Result<Fields, ExpertError> {
    let (front, persona) = skill::split(text)?;
    // Claude Code reads descriptions with colons in them, and many files have them.
    let read = yaml::value(front)
        .or_else(|fault| yaml::value(&quoted(front)).map_err(|_| fault))
        .map_err(ExpertError::Yaml)?;
    match read {
        Value::Object(all) => Ok(Fields { all, persona: persona.to_owned() }),
        _ => Err(ExpertError::NoFields),
    }
}

/// Quotes the texts of the lines `key: text`.
fn quoted(front: &str) -> String {
    front.lines().map(|line| quoted_line(line) + "\n").collect()
}

fn quoted_line(line: &str) -> String {
    let is_key = |key: &str| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    match line.split_once(": ").map(|(key, value)| (key, value.trim())) {
        Some((key, value))
            if is_key(key) && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '#']) =>
        {
            format!("{key}: {}", json(value))
        }
        _ => line.to_owned(),
    }
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
    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_plain && !key.is_empty() { key.to_owned() } else { json(key) }
}

/// A value of JSON is a value of YAML.
fn json(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).expect("it has a JSON text")
}
