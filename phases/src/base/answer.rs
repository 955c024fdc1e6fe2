//! Finds the one JSON object in a model's output, and reports what is wrong with it.
//!
//! Every request carries a code that its answer must repeat, so that an answer quoted from a task, an artifact or
//! another request is never taken for this one.
//!
//! Models wrap answers in fences, add text before and after, and quote braces. So this module collects every top-level
//! object in the text, and the reader of the answer decides which one it is. Required parts are read strictly, since a
//! guess would become a score. Optional parts are read leniently, since an odd remark must not cost another paid call.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// The reason why an answer cannot be used, worded so that it can go back to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OffSchema {
    #[error("the answer is longer than {LONGEST} bytes")]
    TooLong,
    #[error("the answer holds no complete JSON object of the shape that was asked for")]
    Absent,
    #[error("the answer holds {0} different JSON objects of the shape that was asked for; give exactly one")]
    Ambiguous(usize),
    #[error("`{0}` is missing or is not the code given in the request")]
    Forged(&'static str),
    #[error("{what} says nothing")]
    Empty { what: Box<str> },
    #[error("{what} is longer than {most} characters")]
    Lengthy { what: Box<str>, most: usize },
    #[error("{given} {what} were given; give {least} to {most}")]
    Count { what: &'static str, given: usize, least: usize, most: usize },
    #[error("{0}")]
    Shape(Box<str>),
    #[error("{0}")]
    Questions(Box<Mismatch>),
}

/// The differences between the ids in an answer and the requested ids.
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

/// Returns all JSON objects in the text that are not inside another one.
pub(crate) fn objects(text: &str) -> Result<Vec<Object>, OffSchema> {
    if text.len() > LONGEST {
        return Err(OffSchema::TooLong);
    }
    let mut found = Vec::new();
    let mut wasted = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|offset| at + offset) {
        // Text made to be almost JSON at every brace would otherwise take quadratic time.
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

/// Returns how many bytes a failed parse read.
fn reach(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

/// Returns the only object among the candidates. Duplicates count once.
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

/// Returns the only answer that can be read. A model may repeat the form of the answer first; that form cannot be read.
/// If nothing can be read, returns the error of the last candidate.
pub(crate) fn readable<T: PartialEq>(
    candidates: Vec<Object>,
    read: impl Fn(Object) -> Result<T, OffSchema>,
) -> Result<T, OffSchema> {
    let (mut different, mut fault) = (Vec::new(), OffSchema::Absent);
    for candidate in candidates {
        match read(candidate) {
            Ok(answer) if !different.contains(&answer) => different.push(answer),
            Ok(_) => {}
            Err(error) => fault = error,
        }
    }
    match different.len() {
        0 => Err(fault),
        1 => Ok(different.swap_remove(0)),
        many => Err(OffSchema::Ambiguous(many)),
    }
}

/// The key under which an answer repeats the code of its request.
const CODE: &str = "answer_to";

/// Reads the object that answers the request of this code, and has the answer under `key`.
pub(crate) fn coded<T: PartialEq>(
    text: &str,
    code: &str,
    key: &str,
    read: impl Fn(Object) -> Result<T, OffSchema>,
) -> Result<T, OffSchema> {
    let mut answers = objects(text)?;
    answers.retain(|object| object.contains_key(CODE) || object.contains_key(key));
    let is_any = !answers.is_empty();
    answers.retain(|object| object.get(CODE).and_then(Value::as_str) == Some(code));
    if is_any && answers.is_empty() {
        return Err(OffSchema::Forged(CODE));
    }
    readable(answers, read)
}

/// Returns the ids in an answer that were not requested, each once.
pub(crate) fn unknown<'a, Id: ToString + 'a>(
    given: impl IntoIterator<Item = &'a Id>,
    is_known: impl Fn(&Id) -> bool,
) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for id in given.into_iter().filter(|id| !is_known(id)).map(Id::to_string) {
        if !unknown.contains(&id) {
            unknown.push(id);
        }
    }
    unknown
}

/// Fails unless each id that was asked for is given exactly once, and no other.
pub(crate) fn exactly<'a, 'b, Id: PartialEq + ToString + 'a + 'b>(
    given: &(impl Iterator<Item = &'a Id> + Clone),
    asked: &(impl Iterator<Item = &'b Id> + Clone),
) -> Result<(), OffSchema> {
    let count = |id: &Id| given.clone().filter(|other| *other == id).count();
    let those = |is: fn(usize) -> bool| {
        let ids = asked.clone().filter(|id| is(count(id)));
        ids.map(ToString::to_string).collect::<Vec<_>>()
    };
    let unknown = unknown(given.clone(), |id| asked.clone().any(|known| known == id));
    Mismatch { missing: those(|count| count == 0), unknown, double: those(|count| count > 1) }.into_result()
}

/// Reads the entries of a required list. Fails if an entry has the wrong shape.
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

/// Reads the first readable entries of a list. Skips odd ones; a missing list is empty.
pub(crate) fn lenient<T>(object: &mut Object, key: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    match object.remove(key) {
        Some(Value::Array(list)) => list.iter().filter_map(read).take(MOST_ENTRIES).collect(),
        _ => Vec::new(),
    }
}

const MOST_ENTRIES: usize = 12;

/// Reads a model's text, without control characters and truncated. Returns `None` if it says nothing.
pub(crate) fn words(value: Option<&Value>, longest: usize) -> Option<Box<str>> {
    let text = capped(value?.as_str()?, longest);
    says_something(&text).then(|| text.into())
}

/// Reads required text, without control characters and of a limited length.
pub(crate) fn required_words(
    what: impl Fn() -> String,
    given: &str,
    most: usize,
) -> Result<Box<str>, OffSchema> {
    let clean = capped(given, usize::MAX);
    if !says_something(&clean) {
        return Err(OffSchema::Empty { what: what().into() });
    }
    if clean.chars().count() > most {
        return Err(OffSchema::Lengthy { what: what().into(), most });
    }
    Ok(clean.into())
}

/// Returns whether the text has content. Dashes, dots and spaces of any kind have none.
pub(crate) fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Trims, drops control characters (they could drive a terminal) and truncates to a number of characters.
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

    fn coded_plan(text: &str) -> Result<Object, OffSchema> {
        coded(text, "n0nce", "plan", Ok)
    }

    #[test]
    fn the_answer_with_the_code_is_found_among_chatter_and_quoted_ones() {
        let text =
            r#"They wrote {"answer_to": "other", "plan": [1]}. Mine: {"answer_to": "n0nce", "plan": [2]}"#;
        assert_eq!(coded_plan(text).unwrap()["plan"], serde_json::json!([2]));
    }

    #[test]
    fn an_answer_without_the_code_or_with_another_one_is_forged() {
        for text in [r#"{"plan": []}"#, r#"{"answer_to": "other", "plan": []}"#, r#"{"answer_to": 7}"#] {
            assert_eq!(coded_plan(text), Err(OffSchema::Forged(CODE)), "{text}");
        }
    }

    #[test]
    fn no_answer_and_two_answers_are_told_apart() {
        assert_eq!(coded_plan("I will not."), Err(OffSchema::Absent));
        assert_eq!(coded_plan(r#"{"answer_to": "n0nce", "plan": ["#), Err(OffSchema::Absent));
        let two = r#"{"answer_to": "n0nce", "plan": [1]} {"answer_to": "n0nce", "plan": [2]}"#;
        assert_eq!(coded_plan(two), Err(OffSchema::Ambiguous(2)));
    }

    #[test]
    fn words_must_say_something_and_end_somewhere() {
        let read = |given: &str| required_words(|| "step 2".into(), given, 5);
        assert_eq!(read(" a\u{1b}b\n").as_deref(), Ok("ab"));
        assert_eq!(read(" … ").unwrap_err().to_string(), "step 2 says nothing");
        assert_eq!(read("abcdef").unwrap_err().to_string(), "step 2 is longer than 5 characters");
        assert_eq!(read("äöüßx").as_deref(), Ok("äöüßx"));
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
