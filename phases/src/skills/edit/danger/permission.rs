//! Front matter keys that control what an agent may do.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

use super::fold;
use crate::skills::skill;

/// A key that grants something: each addition to it is a danger.
const GRANTS: &str = "allowed-tools";
/// Keys whose change is a danger, unless the value is removed.
const OTHERS: [&str; 3] = ["hooks", "mcp-servers", "permission-mode"];
/// Keys whose change is a danger even if the value is removed, because they restrict.
const LIMITS: [&str; 4] = ["disable-model-invocation", "disallowed-tools", "tools", "user-invocable"];

/// Returns the lines that allow something new.
pub(super) fn widened(before: &str, after: &str) -> Vec<(usize, String)> {
    let front = skill::front_matter(after).unwrap_or_default();
    let old = skill::front_matter(before).unwrap_or_default();
    let (Some(was), Some(is)) = (read(old), read(front)) else { return new_lines(old, front) };
    let mut found: BTreeSet<(usize, String)> = BTreeSet::new();
    for (key, said) in &is {
        let known = was.get(key).cloned().unwrap_or_default();
        let is_more = if key == GRANTS {
            !said.is_subset(&known)
        } else {
            *said != known && (!said.is_empty() || restricts(key))
        };
        if is_more {
            let new = said.difference(&known).next();
            found.insert(place(front, key, new.map(String::as_str)));
        }
    }
    let gone = was.keys().filter(|key| restricts(key) && !is.contains_key(*key));
    found.extend(gone.map(|key| (1, format!("without {key}"))));
    found.into_iter().collect()
}

fn restricts(key: &str) -> bool {
    LIMITS.contains(&key)
}

/// Returns the values of these keys at any depth, as words.
fn read(yaml: &str) -> Option<BTreeMap<String, BTreeSet<String>>> {
    if yaml.trim().is_empty() {
        return Some(BTreeMap::new());
    }
    let options = skill::options(DuplicateKeyPolicy::LastWins);
    let value: Value = serde_saphyr::from_str_with_options(yaml, options).ok()?;
    let mut found = BTreeMap::new();
    collect(&value, &mut found);
    Some(found)
}

fn collect(value: &Value, found: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = name(key);
                if name == GRANTS || OTHERS.contains(&name.as_str()) || LIMITS.contains(&name.as_str()) {
                    words(value, found.entry(name).or_default());
                } else {
                    collect(value, found);
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a key in kebab case: `allowedTools` and `allowed_tools` are `allowed-tools`.
fn name(key: &str) -> String {
    let mut name = String::new();
    for c in key.trim().chars() {
        if c.is_ascii_uppercase() && name.chars().last().is_some_and(|last| last.is_ascii_lowercase()) {
            name.push('-');
        }
        name.push(c);
    }
    fold::word(&name).replace('_', "-")
}

/// Splits a value into words. Brackets belong to the word before: `Bash(git log:*)` is one word.
fn words(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => split(text, into),
        Value::Array(all) => all.iter().for_each(|value| words(value, into)),
        Value::Null => {}
        Value::Object(_) | Value::Bool(_) | Value::Number(_) => {
            into.insert(value.to_string());
        }
    }
}

fn split(text: &str, into: &mut BTreeSet<String>) {
    let (mut depth, mut word) = (0_usize, String::new());
    for c in text.chars().chain([' ']) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            into.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        } else {
            word.push(c);
        }
    }
    into.extend(Some(word.trim().to_owned()).filter(|word| !word.is_empty()));
}

/// Returns the line of the new word, or of the key, or else the first line.
fn place(front: &str, key: &str, word: Option<&str>) -> (usize, String) {
    let line = |wanted: &dyn Fn(&str) -> bool| front.lines().enumerate().find(|(_, line)| wanted(line));
    let of_word = word.and_then(|word| line(&|line| line.contains(word)));
    let of_key = || line(&|line| name(line).contains(key));
    // The first line of the file opens the front matter.
    of_word.or_else(of_key).map_or((1, key.to_owned()), |(at, line)| (at + 2, line.to_owned()))
}

/// Returns each new line that names a key, for front matter that cannot be parsed.
fn new_lines(before: &str, after: &str) -> Vec<(usize, String)> {
    let known: BTreeSet<String> = before.lines().map(fold::spaced).collect();
    let keys = || OTHERS.iter().chain(&LIMITS).chain([&GRANTS]);
    let names_one = |line: &str| keys().any(|key| name(line).contains(key));
    let lines =
        after.lines().enumerate().filter(|(_, line)| !known.contains(&fold::spaced(line)) && names_one(line));
    lines.map(|(at, line)| (at + 2, line.to_owned())).collect()
}
