//! The YAML of a specification. JSON is YAML too.

use std::mem;

use serde_json::{Map, Value, json};

use super::{Draft, Entry, Fault, Place, command, one_line, source};
use crate::base::spelling::distance;
use crate::base::yaml;

/// The names of the list of criteria.
const CRITERIA: [&str; 3] = ["criteria", "acceptance_criteria", "acceptanceCriteria"];
const VOCABULARY: &str = "vocabulary";

pub(super) fn read(text: &str) -> Result<Draft, Fault> {
    let value = yaml::value(text).map_err(|fault| {
        let what = one_line(&fault.what, 200);
        Place::Line(fault.line).fault(format!("not valid YAML, put texts in quotes: {what}"))
    })?;
    let mut all = match value {
        Value::Object(all) => all,
        Value::Null => Map::new(),
        _ => return Err(Place::File.fault("no keys are there: write `goal: ...` and `criteria: [...]`")),
    };
    let [first, second, third] = CRITERIA;
    known(Place::File, &all, &["goal", "constraints", first, second, third, VOCABULARY])?;
    let mut given = CRITERIA.into_iter().filter(|key| all.contains_key(*key));
    let key = given.next().unwrap_or(first);
    if let Some(other) = given.next() {
        return Err(Place::File.fault(format!("`{key}` and `{other}` are the same list: keep one")));
    }
    if let Some(Value::Object(words)) = all.get_mut(VOCABULARY) {
        let list =
            mem::take(words).into_iter().map(|(word, meaning)| json!({"word": word, "meaning": meaning}));
        all[VOCABULARY] = list.collect();
    }
    Ok(Draft {
        goal: text_of(Place::File, &all, "goal")?.map(|goal| (Place::File, goal)),
        constraints: entries(&all, "constraints", "constraint", &["id", "text"])?,
        criteria: entries(&all, key, "criterion", &["id", "text", "priority", "check", "from"])?,
        terms: entries(&all, VOCABULARY, "word", &["word", "meaning"])?,
    })
}

/// Reads a list, whose entries have their id and their text under the first two keys.
fn entries(
    all: &Map<String, Value>,
    list: &str,
    name: &'static str,
    keys: &[&str],
) -> Result<Vec<Entry>, Fault> {
    let entries: &[Value] = match present(all, list) {
        None => &[],
        Some(Value::Array(entries)) => entries,
        Some(_) => {
            return Err(Place::File.fault(format!("`{list}` is not a list: write each entry after a dash")));
        }
    };
    let read = |(number, value): (usize, &Value)| -> Result<Entry, Fault> {
        let mut entry = Entry::new(Place::Entry(name, number));
        let place = entry.place;
        match value {
            Value::String(text) => entry.text.clone_from(text),
            Value::Object(fields) => {
                known(place, fields, keys)?;
                entry.id = text_of(place, fields, keys[0])?;
                entry.text = text_of(place, fields, keys[1])?.unwrap_or_default();
                entry.priority = text_of(place, fields, "priority")?;
                entry.check = present(fields, "check").map(|words| command(place, words)).transpose()?;
                entry.source =
                    text_of(place, fields, "from")?.map(|text| source(place, &text)).transpose()?;
            }
            _ => return Err(place.fault("it is not text: put it in quotes")),
        }
        Ok(entry)
    };
    (1..).zip(entries).map(read).collect()
}

fn present<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    fields.get(key).filter(|value| !value.is_null())
}

fn text_of(place: Place, fields: &Map<String, Value>, key: &str) -> Result<Option<String>, Fault> {
    match present(fields, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(place.fault(format!("`{}` is not text: put it in quotes", one_line(key, 40)))),
    }
}

/// Refuses keys that nothing reads.
fn known(place: Place, fields: &Map<String, Value>, keys: &[&str]) -> Result<(), Fault> {
    let Some(key) = fields.keys().find(|key| !keys.contains(&key.as_str())) else { return Ok(()) };
    let hint = match nearest(key, keys) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write {}, and put a text with `: ` in quotes", keys.join(", ")),
    };
    Err(place.fault(format!("unknown key `{}`: {hint}", one_line(key, 40))))
}

fn nearest<'a>(word: &str, keys: &[&'a str]) -> Option<&'a str> {
    const LONGEST: usize = 40;
    let ranked = keys.iter().filter(|_| word.len() <= LONGEST).map(|key| (distance(word, key), *key));
    let (distance, key) = ranked.min_by_key(|(distance, _)| *distance)?;
    (distance <= key.len().div_ceil(3)).then_some(key)
}
