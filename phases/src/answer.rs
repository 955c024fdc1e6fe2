//! Finding the one JSON object in what a model said, and saying what is wrong with it.
//!
//! Models wrap answers in fences, talk before and after, and quote braces. So every object that stands at top level
//! anywhere in the text is looked at; which of them is the answer, the reader of that answer decides. What is needed is
//! read strictly, since a guess would become a score; what merely accompanies it is read leniently, since an odd
//! remark must not cost another paid call.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// Why an answer cannot be used, in words that may go back to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OffSchema {
    #[error("the answer is longer than {LONGEST} bytes")]
    TooLong,
    #[error("the answer holds no complete JSON object of the shape that was asked for")]
    Absent,
    #[error("the answer holds {0} different JSON objects of the shape that was asked for; give exactly one")]
    Ambiguous(usize),
    #[error("`verdict_of` is missing or is not the code given in the request")]
    Forged,
    #[error("{0}")]
    Shape(Box<str>),
    #[error("{0}")]
    Questions(Box<Mismatch>),
}

/// How the ids in an answer differ from those asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    pub missing: Vec<String>,
    pub unknown: Vec<String>,
    pub double: Vec<String>,
}

impl Mismatch {
    pub(crate) fn into_result(self) -> Result<(), OffSchema> {
        if self == Self::default() { Ok(()) } else { Err(OffSchema::Questions(Box::new(self))) }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let groups = [
            ("not answered", &self.missing),
            ("answered twice", &self.double),
            ("not asked for", &self.unknown),
        ];
        let mut lead = "";
        for (what, ids) in groups.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            let shown: Vec<_> = ids.iter().take(MOST_IDS).map(|id| capped(id, 60)).collect();
            write!(f, "{lead}{what}: {}", shown.join(", "))?;
            if ids.len() > MOST_IDS {
                write!(f, " and {} more", ids.len() - MOST_IDS)?;
            }
            lead = "; ";
        }
        Ok(())
    }
}

const LONGEST: usize = 4 << 20;
const MOST_IDS: usize = 12;

/// All JSON objects in the text that do not stand inside another one.
pub(crate) fn objects(text: &str) -> Result<Vec<Object>, OffSchema> {
    if text.len() > LONGEST {
        return Err(OffSchema::TooLong);
    }
    let mut found = Vec::new();
    let mut wasted = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|offset| at + offset) {
        // Text made to be almost JSON at every brace would otherwise cost its length squared.
        if wasted > 2 * LONGEST {
            break;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Object>();
        match stream.next() {
            Some(Ok(object)) => {
                at = start + stream.byte_offset();
                found.push(object);
            }
            Some(Err(error)) => {
                wasted += reach(&text[start..], &error);
                at = start + 1;
            }
            None => break,
        }
    }
    Ok(found)
}

/// How far a failed parse looked.
fn reach(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

/// The one object among candidates; saying the same thing twice is no ambiguity.
pub(crate) fn only(candidates: Vec<Object>) -> Result<Object, OffSchema> {
    let mut different: Vec<Object> = Vec::new();
    for candidate in candidates {
        if !different.contains(&candidate) {
            different.push(candidate);
        }
    }
    match different.len() {
        0 => Err(OffSchema::Absent),
        1 => Ok(different.swap_remove(0)),
        many => Err(OffSchema::Ambiguous(many)),
    }
}

/// The entries of a list that must be there, each of its shape.
pub(crate) fn entries<T: DeserializeOwned>(object: &mut Object, key: &str) -> Result<Vec<T>, OffSchema> {
    let Some(Value::Array(list)) = object.remove(key) else {
        return Err(shape(&format!("`{key}` must be a list")));
    };
    let read = list.into_iter().enumerate();
    read.map(|(at, entry)| {
        serde_json::from_value(entry).map_err(|error| shape(&format!("{key}[{at}]: {error}")))
    })
    .collect()
}

/// The first entries of a list that can be read; odd ones and a missing list are passed over.
pub(crate) fn lenient<T>(object: &mut Object, key: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    match object.remove(key) {
        Some(Value::Array(list)) => list.iter().filter_map(read).take(MOST_ENTRIES).collect(),
        _ => Vec::new(),
    }
}

const MOST_ENTRIES: usize = 12;

/// Words of a model, without control characters and cut to a length; none if nothing is said.
pub(crate) fn words(value: Option<&Value>, longest: usize) -> Option<Box<str>> {
    let text = capped(value?.as_str()?, longest);
    says_something(&text).then(|| text.into())
}

/// Dashes, dots and spaces of any kind are not an answer.
pub(crate) fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Trims, drops control characters (they could drive a terminal) and cuts to a number of characters.
pub(crate) fn capped(text: &str, longest: usize) -> String {
    let clean = || text.trim().chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    if clean().nth(longest).is_none() {
        return clean().collect();
    }
    clean().take(longest.saturating_sub(1)).chain(['…']).collect()
}

pub(crate) fn shape(message: &str) -> OffSchema {
    OffSchema::Shape(capped(message, 300).into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let objects = objects(text).unwrap();
        objects.into_iter().map(|object| Value::Object(object).to_string()).collect()
    }

    #[test]
    fn objects_are_found_among_chatter_fences_and_stray_braces() {
        assert_eq!(found("no braces"), [""; 0]);
        assert_eq!(found("first {this}, then\n```json\n{\"a\": 1}\n```\nand {that: 2} {"), [r#"{"a":1}"#]);
        assert_eq!(found(r#"it's 5" wide { {"a": "}{\"" } "#), [r#"{"a":"}{\""}"#]);
        assert_eq!(found(r#"[{"a":1},{"b":{"c":2}}]"#), [r#"{"a":1}"#, r#"{"b":{"c":2}}"#]);
        assert_eq!(found(r#"{{"a":1}}"#), [r#"{"a":1}"#]);
    }

    #[test]
    fn a_number_beyond_all_floats_makes_no_object() {
        assert_eq!(found(r#"{"claimed_score": 1e999}"#), [""; 0]);
        assert_eq!(found(r#"{"claimed_score": NaN}"#), [""; 0]);
    }

    #[test]
    fn saying_the_same_twice_is_not_ambiguous() {
        let twice = objects(r#"{"a":1,"b":2} {"b":2,"a":1}"#).unwrap();
        assert!(only(twice).is_ok());
        let different = objects(r#"{"a":1} {"a":2} {"a":1}"#).unwrap();
        assert_eq!(only(different), Err(OffSchema::Ambiguous(2)));
        assert_eq!(only(Vec::new()), Err(OffSchema::Absent));
    }

    #[test]
    fn text_made_to_waste_time_ends_soon() {
        assert_eq!(objects(&"x".repeat(LONGEST + 1)), Err(OffSchema::TooLong));
        for hostile in [r"{", r#"{"a":"#, r#"{"a":[0,"#, r#"{":":0,","#, r#"{":{":0,":"#] {
            let text = hostile.repeat(400_000 / hostile.len());
            assert!(objects(&text).unwrap().is_empty());
        }
    }

    #[test]
    fn words_are_trimmed_cut_and_rid_of_control_characters() {
        assert_eq!(capped("  a\u{1b}[31mb\n ", 10), "a[31mb");
        assert_eq!(capped("äöüß", 4), "äöüß");
        assert_eq!(capped("äöüßx", 4), "äöü…");
        assert!(!says_something(" - … \u{200b}"));
    }

    #[test]
    fn a_long_list_of_ids_is_cut() {
        let ids = |count: usize| (0..count).map(|id| format!("c{id}")).collect();
        let mismatch = Mismatch { missing: ids(14), unknown: ids(1), double: Vec::new() };
        insta::assert_snapshot!(
            mismatch,
            @"not answered: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 and 2 more; not asked for: c0"
        );
    }

    proptest! {
        #[test]
        fn any_object_is_found_in_any_chatter_without_braces(
            before in "[^{}]{0,40}", after in "[^{}]{0,40}", key in ".{0,8}", value in ".{0,20}",
        ) {
            let json = serde_json::json!({ key: value });
            let text = format!("{before}{json}{after}");
            prop_assert_eq!(found(&text), [json.to_string()]);
        }
    }
}
