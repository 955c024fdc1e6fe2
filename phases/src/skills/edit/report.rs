//! The improver's own report. It is only shown, so an odd report is read as empty and is never an error.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::answer::{self, Object, words};
use crate::judging::judgement::Priority;

/// An improver's own account of its changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditReport {
    pub summary: Option<Box<str>>,
    pub changes: Vec<Change>,
    /// Suggestions that it skipped, each with the reason.
    pub skipped: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub priority: Option<Priority>,
    pub description: Box<str>,
    pub file: Option<Box<str>>,
}

/// Reads the report of an improver that edited in place: the last one in the text.
pub fn read_report(text: &str) -> EditReport {
    let is_report =
        |object: &Object| ["summary", "changes", "skipped"].iter().any(|key| object.contains_key(*key));
    let objects = answer::objects(text).unwrap_or_default();
    objects.into_iter().rfind(is_report).map(|mut object| of(&mut object)).unwrap_or_default()
}

pub(super) fn of(object: &mut Object) -> EditReport {
    EditReport {
        summary: words(object.get("summary"), 600),
        changes: answer::lenient(object, "changes", change),
        skipped: answer::lenient(object, "skipped", |value| words(Some(value), 600)),
    }
}

fn change(value: &Value) -> Option<Change> {
    Some(Change {
        priority: Priority::read(value.get("priority")),
        description: words(value.get("description"), 600)?,
        file: words(value.get("file"), 200),
    })
}
