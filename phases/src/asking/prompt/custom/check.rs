//! Checks that a custom page can do the same as the built-in one, with everything that it may get and with the least.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::samples::{ALIEN, sample};
use super::{Faulty, Page, faulty, language, render};
use crate::asking::prompt::environment;

impl Page {
    /// Returns the required variables. Without them an answer could not be read or evaluated, or data would look like
    /// instructions.
    pub(super) fn least(self) -> &'static [&'static str] {
        match self {
            Self::Execute => &["reading", "files", "scenario"],
            Self::Task => &["call", "task"],
            Self::Evaluate => &[
                "reading",
                "scenario",
                "skills[].files",
                "artifacts[].files",
                "dimensions[].questions[].id",
                "dimensions[].questions[].text",
                "nonce",
            ],
            Self::Improve => &["reading", "at", "files", "unmet"],
        }
    }

    /// Returns all variables that a page gets.
    pub(super) fn variables(self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        paths(&sample(self, |_| true), "", &mut found);
        found
    }
}

/// Finds the error in a page before anything depends on it: with all optional parts, and with none. One that shows only
/// with some of them is an error of the call.
pub fn check(page: Page, text: &str) -> Result<(), Faulty> {
    language::check(page, text)?;
    refuse_unknown(page, text)?;
    for has_parts in [true, false] {
        let values = sample(page, |_| has_parts);
        let rendered = render(page, text, &values)?;
        let fences = fences(&values);
        let bare = bare(&rendered, &fences);
        // The task is the user's own text, so it has no fence.
        if page != Page::Task && bare.to_lowercase().contains(ALIEN) {
            let what = "it takes a fenced value apart; print such a value whole, on lines of its own";
            return Err(Faulty { page, line: None, what: what.to_owned() });
        }
        if let Some(missing) = page.least().iter().find(|path| !shows(&rendered, &bare, &values, path)) {
            return Err(lacking(page, missing));
        }
        if page == Page::Task && values["call"].as_str().is_some_and(|call| !rendered.starts_with(call)) {
            let what = "it does not start with `call`, which calls the skill".to_owned();
            return Err(Faulty { page, line: None, what });
        }
    }
    Ok(())
}

fn refuse_unknown(page: Page, text: &str) -> Result<(), Faulty> {
    let templates = environment();
    let template = templates.template_from_named_str(page.word(), text);
    let used = template.map_err(|error| faulty(page, text, &error))?.undeclared_variables(false);
    let known = page.variables();
    let mut strange: Vec<_> = used.iter().filter(|name| !known.contains(*name)).collect();
    strange.sort();
    let Some(name) = strange.first() else { return Ok(()) };
    let known: Vec<&str> = known.iter().map(String::as_str).filter(|path| !path.contains('.')).collect();
    let what = format!("unknown variable `{name}`; known: {}", known.join(", "));
    Err(Faulty { page, line: line_of(text, name), what })
}

fn lacking(page: Page, missing: &str) -> Faulty {
    let least = page.least().join(", ");
    let what = format!("it does not always contain `{missing}`; it must contain {least}");
    Faulty { page, line: None, what }
}

/// Returns whether the prompt has all texts of a path, outside fences unless they have their own.
fn shows(rendered: &str, bare: &str, values: &Json, path: &str) -> bool {
    let shown =
        |text: &&str| if text.contains(ALIEN) { rendered.contains(*text) } else { bare.contains(*text) };
    texts(values, path).iter().all(shown)
}

/// Returns the texts at a path such as `skills[].files`.
fn texts<'v>(values: &'v Json, path: &str) -> Vec<&'v str> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (name, each) = first.strip_suffix("[]").map_or((first, false), |name| (name, true));
    let found = &values[name];
    let inner: Vec<&Json> = if each { found.as_array().into_iter().flatten().collect() } else { vec![found] };
    match rest {
        Some(rest) => inner.into_iter().flat_map(|value| texts(value, rest)).collect(),
        None => inner.into_iter().filter_map(Json::as_str).collect(),
    }
}

fn paths(values: &Json, above: &str, found: &mut BTreeSet<String>) {
    for (name, value) in values.as_object().into_iter().flatten() {
        let path = format!("{above}{name}");
        paths(value, &format!("{path}."), found);
        for item in value.as_array().into_iter().flatten() {
            paths(item, &format!("{path}[]."), found);
        }
        found.insert(path);
    }
}

/// Returns all fences, from their first line to their last.
fn fences(values: &Json) -> Vec<&str> {
    match values {
        Json::String(text) => fenced(text),
        Json::Array(items) => items.iter().flat_map(fences).collect(),
        Json::Object(fields) => fields.values().flat_map(fences).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

fn fenced(text: &str) -> Vec<&str> {
    let opened = text.match_indices("<<<BEGIN ").filter_map(|(at, open)| {
        let code = text[at + open.len()..].split(' ').next()?;
        let end = format!("<<<END {code}>>>");
        let length = text[at..].find(&end)? + end.len();
        Some(&text[at..at + length])
    });
    opened.collect()
}

/// Returns a prompt without complete fences on lines of their own.
fn bare(rendered: &str, fences: &[&str]) -> String {
    let lined = format!("\n{rendered}\n");
    let without = |text: String, fence: &&str| text.replace(&format!("\n{fence}\n"), "\n\n");
    fences.iter().fold(lined, without)
}

/// Returns the first line that has the name as a word of the template language.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let last = |before: &str, signs: [&str; 2]| signs.iter().filter_map(|sign| before.rfind(sign)).max();
    let found = text.match_indices(name).find(|(at, name)| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let alone = !before.ends_with(is_word) && !after.starts_with(is_word);
        alone && last(before, ["{{", "{%"]) > last(before, ["}}", "%}"])
    });
    found.map(|(at, _)| 1 + text[..at].matches('\n').count())
}
