//! Trigger sets: user queries, and whether an agent should use the skill for each.

use std::path::Path;

use serde_json::{Map, Value};
use skilltune_phases::suites::checks::Check;

use super::case::{Case, PROMPTS, Reading, first_text, text};

#[derive(Debug)]
pub(super) struct Query {
    case: Case,
}

/// The other keys that an entry may have.
const READ: [&str; 12] = [
    "prompt",
    "input",
    "query",
    "should_trigger",
    "shouldTrigger",
    "expected",
    "expect",
    "polarity",
    "id",
    "tags",
    "category",
    "kind",
];

/// Pairs of lists, one for each side.
const SIDES: [(&str, &str); 3] = [
    ("should_trigger", "should_not_trigger"),
    ("shouldTrigger", "shouldNotTrigger"),
    ("positive", "negative"),
];

/// Returns the queries of a file that has a list for each side.
pub(super) fn sides(top: &Map<String, Value>) -> Option<Vec<Query>> {
    let list = |key: &str| top.get(key).and_then(Value::as_array);
    let (used, unused) = SIDES.iter().find_map(|(used, unused)| match (list(used), list(unused)) {
        (None, None) => None,
        sides => Some(sides),
    })?;
    let side = |entries: Option<&Vec<Value>>, used: bool| -> Option<Vec<Query>> {
        let entries = entries.map_or(&[][..], Vec::as_slice).iter();
        let query = |entry: &Value| match entry {
            Value::String(query) => Some(Query::new(Case::new(query.as_str()), used)),
            Value::Object(entry) => Some(Query::new(case(entry)?, used)),
            _ => None,
        };
        entries.map(query).collect()
    };
    Some([side(used, true)?, side(unused, false)?].into_iter().flatten().collect())
}

/// Returns one entry of a list, if it says what should happen.
pub(super) fn query(entry: &Map<String, Value>, skill: Option<&str>) -> Option<Query> {
    Some(Query::new(case(entry)?, should_trigger(entry, skill)?))
}

fn case(entry: &Map<String, Value>) -> Option<Case> {
    let mut case = Case::new(first_text(entry, &PROMPTS)?);
    case.id = entry.get("id").and_then(text);
    ["tags", "category", "kind"].iter().filter_map(|key| entry.get(*key)).for_each(|tags| case.tag(tags));
    case.note_unread(entry, &READ);
    Some(case)
}

/// Returns whether the skill should be used, in each form that authors write.
pub(super) fn should_trigger(entry: &Map<String, Value>, skill: Option<&str>) -> Option<bool> {
    let said = |key: &str| entry.get(key).and_then(Value::as_bool);
    if let Some(said) = said("should_trigger").or_else(|| said("shouldTrigger")) {
        return Some(said);
    }
    let word = |key: &str| entry.get(key)?.as_str().map(|word| word.to_lowercase().replace(['-', ' '], "_"));
    match word("expected").or_else(|| word("polarity")).as_deref() {
        Some("trigger" | "should_trigger" | "positive") => return Some(true),
        Some("no_trigger" | "not_trigger" | "should_not_trigger" | "negative" | "none") => {
            return Some(false);
        }
        Some(_) | None => {}
    }
    // The name of the skill that should answer.
    match (entry.get("expect")?, skill) {
        (Value::Null, _) => Some(false),
        (Value::String(name), _) if matches!(name.as_str(), "" | "none" | "null") => Some(false),
        (Value::String(name), Some(skill)) => Some(name == skill),
        (Value::String(_), None) => Some(true),
        _ => None,
    }
}

impl Query {
    fn new(mut case: Case, used: bool) -> Self {
        case.check(Check::Skill { used });
        Self { case }
    }
}

pub(super) fn read(queries: Vec<Query>, base: &Path) -> Reading {
    let cases = queries.into_iter().map(|query| query.case).collect();
    Reading { base: base.to_owned(), cases, notes: Vec::new() }
}
