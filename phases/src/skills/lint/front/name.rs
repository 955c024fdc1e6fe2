//! The name: its form, and that it matches the folder.

use super::value::Value;
use super::{Found, Front, field};
use crate::skills::lint::{Diagnostic, Rule};
use crate::skills::skill::strict::LONGEST_NAME as LONGEST;

const RESERVED: [&str; 2] = ["anthropic", "claude"];

pub(super) fn check(found: &Found, out: &mut Vec<Diagnostic>) {
    let front = found.front;
    let value = front.values.as_ref().ok().and_then(|values| values.get("name"));
    let name = match value {
        Some(Value::Text(text)) => text.trim(),
        // A number is also a name for agents that read all front matter as text.
        Some(Value::Scalar) => front.field("name").map_or("", |field| field.raw),
        Some(Value::Many) => return out.push(found.say(Rule::Name, "name", "the name is not text")),
        Some(Value::Nothing) | None => "",
    };
    if name.is_empty() {
        return out.push(found.say(Rule::Name, "name", "the name is missing"));
    }
    if let Some(why) = refusal(name) {
        out.push(found.say(Rule::Name, "name", format!("the name {name:?} {why}")));
    }
    let folder = found.reading.files.folder();
    if name != folder {
        let message = format!("the name is {name:?}, but the folder is {folder:?}");
        out.push(found.say(Rule::NameFolder, "name", message));
    }
    if let Some(word) = RESERVED.iter().find(|word| name.contains(**word)) {
        out.push(found.say(Rule::NameReserved, "name", format!("the name contains `{word}`")));
    }
}

/// Returns why a name is not valid, or `None` if it is.
fn refusal(name: &str) -> Option<String> {
    let length = name.chars().count();
    let is_big = |c: char| !c.to_lowercase().eq([c]);
    if length > LONGEST {
        Some(format!("has {length} characters; the limit is {LONGEST}"))
    } else if name.contains(is_big) {
        Some("contains upper-case letters".to_owned())
    } else if let Some(odd) = name.chars().find(|c| !c.is_alphanumeric() && *c != '-') {
        Some(format!("contains {odd:?}"))
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("starts or ends with a hyphen".to_owned())
    } else {
        name.contains("--").then(|| "has two hyphens in a row".to_owned())
    }
}

/// Replaces the name with the folder's, if that is valid and the value is on the line of `name:`.
///
/// The text follows the folder, not the reverse: agents call a skill by its folder, other files point into it, and a
/// renamed folder would be lost to all of them.
pub(super) fn renamed(text: &str, front: &Front, folder: &str) -> Option<String> {
    let field = front.field("name").filter(|field| !field.goes_on && refusal(folder).is_none())?;
    let value = written(field.raw)?;
    let quote = match field.raw.chars().next() {
        Some(quote @ ('"' | '\'')) => quote.to_string(),
        _ if field::misread(folder).is_some() => "\"".to_owned(),
        _ => String::new(),
    };
    let at = front.at + field.at + (field.raw.as_ptr() as usize - front.yaml[field.at..].as_ptr() as usize);
    Some([&text[..at], &quote, folder, &quote, &text[at + value.len()..]].concat())
}

/// Returns the value with its quotes and without a comment after it.
fn written(raw: &str) -> Option<&str> {
    let value = match raw.chars().next()? {
        quote @ ('"' | '\'') => &raw[..raw[1..].find(quote)? + 2],
        '|' | '>' | '&' | '*' | '!' | '[' | '{' | '#' => return None,
        _ => raw.split(" #").next()?.trim_end(),
    };
    let behind = raw[value.len()..].trim_start();
    (behind.is_empty() || behind.starts_with('#')).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_script_are_valid_when_small() {
        for good in ["a", "pdf-2-text", "写俳句", "übersetzer", "очерк-1", &"a".repeat(64)] {
            assert_eq!(refusal(good), None, "{good}");
        }
        for bad in ["A", "É", "a_b", "a b", "-a", "a-", "a--b", "a.b", &"a".repeat(65)] {
            assert!(refusal(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn only_the_value_of_the_name_is_changed() {
        let after = |line: &str, folder: &str| {
            let text = format!("---\n{line}\ndescription: d\n---\nname: x\n");
            let renamed = renamed(&text, &Front::read(&text).unwrap(), folder)?;
            let renamed = renamed.strip_suffix("\ndescription: d\n---\nname: x\n")?.strip_prefix("---\n")?;
            Some(renamed.to_owned())
        };
        assert_eq!(after("name:  A b # c", "a-b").as_deref(), Some("name:  a-b # c"));
        assert_eq!(after("name: 'A' # c", "b").as_deref(), Some("name: 'b' # c"));
        assert_eq!(after("\"name\": \"A\"", "b").as_deref(), Some("\"name\": \"b\""));
        assert_eq!(after("name: A", "2026").as_deref(), Some("name: \"2026\""));
        for unfit in ["name: >", "name:\n  A", "name: &x A", "name: 'it''s'", "nam: a"] {
            assert_eq!(after(unfit, "b"), None, "{unfit}");
        }
        assert_eq!(after("name: a", "Not Valid"), None);
    }
}
