//! Reads what is given with a brief: texts and design tokens.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Given, Text, Token};

const LARGEST: usize = 1 << 20;
const MOST: usize = 2_000;
const LONGEST: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum NotGiven {
    #[error("it is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("it has {0} bytes; the limit is {LARGEST}")]
    TooLarge(usize),
    #[error("it has more than {MOST} values")]
    TooMany,
    #[error("the value at {at} has more than {LONGEST} characters")]
    TooLong { at: Box<str> },
    #[error("it has no text")]
    NoText,
    #[error("it has no token")]
    NoToken,
    #[error("the token {at} refers to {{{name}}}, which is not a token")]
    UnknownToken { at: Box<str>, name: Box<str> },
    #[error("the token {at} refers to itself")]
    Endless { at: Box<str> },
}

impl Given {
    /// Reads each text of a JSON file, whatever its form. Numbers and other values are not texts.
    pub fn copy(text: &str) -> Result<Vec<Text>, NotGiven> {
        let mut texts = Vec::new();
        leaves(&value(text)?, "", &mut |at, leaf| {
            if let Value::String(text) = leaf
                && !text.trim().is_empty()
            {
                texts.push(Text { at: at.into(), text: text.as_str().into() });
            }
            checked(at, leaf, texts.len())
        })?;
        if texts.is_empty() { Err(NotGiven::NoText) } else { Ok(texts) }
    }

    /// Reads design tokens: those of the W3C's draft (`$value`), older ones (`value`), or names with plain values. An
    /// alias of another token (`{color.brand}`) gets its value.
    pub fn tokens(text: &str) -> Result<Vec<Token>, NotGiven> {
        let mut written: BTreeMap<Box<str>, String> = BTreeMap::new();
        let mut order: Vec<Box<str>> = Vec::new();
        leaves(&joined(value(text)?), "", &mut |at, leaf| {
            let parts = at.split('.').filter(|part| !matches!(*part, "$value" | "value"));
            let is_told = at.split('.').any(|part| part.starts_with('$') && part != "$value")
                || ["type", "description", "comment"].iter().any(|key| at.rsplit('.').next() == Some(key));
            let value = match leaf {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                _ => return Ok(()),
            };
            if !is_told && !value.is_empty() {
                let name: Box<str> = parts.collect::<Vec<_>>().join(".").into();
                if written.insert(name.clone(), value).is_none() {
                    order.push(name);
                }
            }
            checked(at, leaf, order.len())
        })?;
        let token = |name: Box<str>| {
            let value = resolved(&written, &name)?.into();
            Ok(Token { name, value })
        };
        let tokens = order.into_iter().map(token).collect::<Result<Vec<_>, NotGiven>>()?;
        if tokens.is_empty() { Err(NotGiven::NoToken) } else { Ok(tokens) }
    }
}

/// The parser itself rejects values that are nested too deeply.
fn value(text: &str) -> Result<Value, NotGiven> {
    match text.len() {
        0..=LARGEST => Ok(serde_json::from_str(text.trim_start_matches('\u{feff}'))?),
        size => Err(NotGiven::TooLarge(size)),
    }
}

/// Joins values of several parts as CSS writes them: a list of fonts, a number with its unit.
fn joined(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let number = entries.get("value").and_then(Value::as_f64);
            match (number, entries.get("unit").and_then(Value::as_str)) {
                (Some(number), Some(unit)) => Value::String(format!("{number}{unit}")),
                _ => Value::Object(entries.into_iter().map(|(key, value)| (key, joined(value))).collect()),
            }
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Value::String(items.join(", "))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(joined).collect()),
        other => other,
    }
}

fn leaves(
    value: &Value,
    at: &str,
    take: &mut dyn FnMut(&str, &Value) -> Result<(), NotGiven>,
) -> Result<(), NotGiven> {
    let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match value {
        Value::Object(entries) => {
            entries.iter().try_for_each(|(key, value)| leaves(value, &below(key), take))
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(nth, value)| leaves(value, &below(&nth.to_string()), take))
        }
        _ => take(at, value),
    }
}

fn checked(at: &str, leaf: &Value, count: usize) -> Result<(), NotGiven> {
    let is_long = leaf.as_str().is_some_and(|text| text.chars().count() > LONGEST);
    match count {
        _ if is_long => Err(NotGiven::TooLong { at: at.into() }),
        0..=MOST => Ok(()),
        _ => Err(NotGiven::TooMany),
    }
}

/// Returns the value of a token, following its aliases.
fn resolved(written: &BTreeMap<Box<str>, String>, at: &str) -> Result<String, NotGiven> {
    let mut name = at;
    for _ in 0..=written.len() {
        let value = &written[name];
        let Some(other) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            return Ok(value.clone());
        };
        let other = other.trim();
        let other = other.strip_suffix(".value").or_else(|| other.strip_suffix(".$value")).unwrap_or(other);
        let Some((known, _)) = written.get_key_value(other) else {
            return Err(NotGiven::UnknownToken { at: at.into(), name: other.into() });
        };
        name = known;
    }
    Err(NotGiven::Endless { at: at.into() })
}
