//! The changes that an evaluator suggests.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::answer::words;

/// One proposed change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    pub priority: Priority,
    /// The chain member to change, if the evaluator named an existing one.
    pub member: Option<Box<str>>,
    /// A path within the member's folder, as the evaluator wrote it: not checked, only shown.
    pub target_file: Box<str>,
    pub description: Box<str>,
    pub rationale: Box<str>,
    #[serde(rename = "code_snippet")]
    pub snippet: Option<Box<str>>,
}

/// The priority of a change; `High` sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    High,
    Medium,
    Low,
}

impl Priority {
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// Reads a priority in any case. Returns `None` for an unknown word.
    pub(crate) fn read(value: Option<&Value>) -> Option<Self> {
        let word = value?.as_str()?.trim();
        Self::ALL.into_iter().find(|priority| priority.as_str().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

pub(super) fn read(value: &Value, members: &[&str]) -> Option<Suggestion> {
    let entry = value.as_object()?;
    let member = entry.get("member").and_then(Value::as_str).filter(|name| members.contains(name));
    let snippet = entry.get("snippet").or_else(|| entry.get("code_snippet"));
    Some(Suggestion {
        priority: Priority::read(entry.get("priority")).unwrap_or(Priority::Medium),
        member: member.map(Into::into),
        target_file: words(entry.get("target_file"), 200).unwrap_or_else(|| "SKILL.md".into()),
        description: words(entry.get("description"), 600)?,
        rationale: words(entry.get("rationale"), 600).unwrap_or_default(),
        snippet: words(snippet, 2000),
    })
}
