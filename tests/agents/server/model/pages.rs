//! The parts of a skilltune page that an answer needs.

use serde_json::{Value, json};

/// Returns an answer with the code of its request and one list.
pub(super) fn bound(words: &str, key: &str, entries: impl IntoIterator<Item = Value>) -> Value {
    json!({ "answer_to": code(words, "answer_to"), key: entries.into_iter().collect::<Vec<_>>() })
}

/// Returns the code of the request, which the page asks for at its end.
pub(super) fn code<'w>(words: &'w str, key: &str) -> &'w str {
    let asked = words.rsplit_once(&format!("\"{key}\": \"")).and_then(|(_, after)| after.split_once('"'));
    asked.map_or("", |(code, _)| code)
}

/// Returns the content of the fence with this label.
pub(super) fn fenced<'w>(words: &'w str, label: &str) -> &'w str {
    let begun = words.split("<<<BEGIN ").skip(1);
    let mut fences = begun.filter_map(|fence| {
        let (head, rest) = fence.split_once(">>>\n")?;
        let (code, named) = head.split_once(' ')?;
        (named == label).then(|| rest.split_once(&format!("<<<END {code}>>>")))?
    });
    fences.next().map_or("", |(inside, _)| inside)
}

/// Returns the rules at the start of each entry of a numbered list in a fence.
pub(super) fn listed<'w>(words: &'w str, label: &str) -> Vec<&'w str> {
    let entry = |line: &'w str| {
        let (number, text) = line.split_once(". ")?;
        number.parse::<usize>().ok()?;
        text.split_whitespace().next()
    };
    fenced(words, label).lines().filter_map(entry).collect()
}
