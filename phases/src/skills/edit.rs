//! An improver's answer as text: edits to apply, and a report.
//!
//! Edits are a model's text: they may name only clean paths within the skill's folder, and a passage to replace must
//! occur exactly once. They are applied to texts in memory. The code that writes the result to a disk checks it like
//! any other change. The report is only shown, so an odd one is read as empty and is never an error.

mod apply;
mod danger;
mod kind;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::answer::{self, Object, OffSchema, shape, words};
use crate::judging::judgement::Priority;

pub use apply::{EditError, apply};
pub use danger::{Danger, DangerClass, Version, acts_by_itself, dangers, is_git};
pub use kind::{EditKind, kinds};

/// One change of one file, named by its path within the skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Replaces a passage that occurs exactly once.
    Replace { path: String, find: String, replace: String },
    /// Writes a whole file, new or existing.
    Write { path: String, content: String },
}

impl Edit {
    pub fn path(&self) -> &str {
        match self {
            Self::Replace { path, .. } | Self::Write { path, .. } => path,
        }
    }
}

/// Edits, with the improver's description of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditAnswer {
    pub edits: Vec<Edit>,
    pub report: EditReport,
}

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

/// Reads the answer of an improver that could not edit in place.
pub fn read(text: &str) -> Result<EditAnswer, OffSchema> {
    let mut answers = answer::objects(text)?;
    answers.retain(|object| object.contains_key("edits"));
    answer::readable(answers, |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "edits")?;
        let edits = entries.into_iter().enumerate().map(|(at, entry)| entry.into_edit(at));
        Ok(EditAnswer { edits: edits.collect::<Result<_, _>>()?, report: report(&mut answer) })
    })
}

#[derive(Deserialize)]
struct Entry {
    path: String,
    #[serde(default)]
    find: Option<String>,
    #[serde(default)]
    replace: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

impl Entry {
    fn into_edit(self, at: usize) -> Result<Edit, OffSchema> {
        let path = self.path;
        match (self.find, self.replace, self.content) {
            (Some(find), Some(replace), None) => Ok(Edit::Replace { path, find, replace }),
            (None, None, Some(content)) => Ok(Edit::Write { path, content }),
            _ => Err(shape(&format!("edits[{at}]: give either `find` and `replace`, or `content` alone"))),
        }
    }
}

/// Reads the report of an improver that edited in place: the last one in the text.
pub fn read_report(text: &str) -> EditReport {
    let is_report =
        |object: &Object| ["summary", "changes", "skipped"].iter().any(|key| object.contains_key(*key));
    let objects = answer::objects(text).unwrap_or_default();
    objects.into_iter().rfind(is_report).map(|mut object| report(&mut object)).unwrap_or_default()
}

fn report(object: &mut Object) -> EditReport {
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

#[cfg(test)]
mod tests;
