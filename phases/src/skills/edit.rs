//! An improver's answer as text: edits to apply, and a report.
//!
//! Edits are a model's text: they may name only clean paths within the skill's folder, and a passage to replace must
//! occur exactly once. They are applied to texts in memory. The code that writes the result to a disk checks it like
//! any other change.

mod apply;
mod danger;
mod kind;
mod report;

use serde::Deserialize;

use crate::base::answer::{self, OffSchema, shape};

pub use apply::{EditError, apply};
pub use danger::{Danger, DangerClass, Version, acts_by_itself, dangers, is_git};
pub use kind::{EditKind, kinds};
pub use report::{Change, EditReport, read_report};

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

/// Reads the answer of an improver that could not edit in place.
pub fn read(text: &str) -> Result<EditAnswer, OffSchema> {
    let mut answers = answer::objects(text)?;
    answers.retain(|object| object.contains_key("edits"));
    answer::readable(answers, |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "edits")?;
        let edits = entries.into_iter().enumerate().map(|(at, entry)| entry.into_edit(at));
        Ok(EditAnswer { edits: edits.collect::<Result<_, _>>()?, report: report::of(&mut answer) })
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

#[cfg(test)]
mod tests;
