//! The result of a format's reader: scenarios as their author wrote them, before they get unique names.

use std::path::PathBuf;

use serde_json::Value;
use skilltune_orchestrator::snapshot::{Brought, RelPath};
use skilltune_phases::base::name::Name;
use skilltune_phases::suites::checks::{Check, How};
use skilltune_phases::suites::scenario::Scenario;

/// The cases of one suite.
#[derive(Debug)]
pub(super) struct Reading {
    /// The folder that contains the paths of all cases.
    pub base: PathBuf,
    pub cases: Vec<Case>,
    /// Odd things about the suite as a whole.
    pub notes: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Case {
    /// The author's own id, which may be any text.
    pub id: Option<String>,
    /// The source of a name if there is no id.
    pub title: Option<String>,
    /// The scenario without its id and demands.
    pub scenario: Scenario,
    pub demands: Vec<Ask>,
    /// The initial files of the workspace.
    pub files: Vec<Brought>,
    pub is_draft: bool,
    /// Whether a part of the case's task cannot be read, so that a trial would prove nothing.
    pub is_incomplete: bool,
    pub notes: Vec<String>,
}

/// A demand before it has a unique name.
#[derive(Debug)]
pub(super) struct Ask {
    pub id: Option<String>,
    pub how: How,
    pub weight: f64,
    pub must_pass: bool,
    pub member: Option<Name>,
    /// Files that a command needs and agents do not see.
    pub grader: Vec<RelPath>,
}

impl Case {
    pub(super) fn new(prompt: impl Into<String>) -> Self {
        Self {
            id: None,
            title: None,
            scenario: Scenario::new(super::numbered(1), prompt),
            demands: Vec::new(),
            files: Vec::new(),
            is_draft: false,
            is_incomplete: false,
            notes: Vec::new(),
        }
    }

    /// Returns all files that it brings, for its workspace and for its checks.
    pub(super) fn brought(&self) -> impl Iterator<Item = &RelPath> {
        self.files.iter().map(|brought| &brought.from).chain(self.demands.iter().flat_map(|ask| &ask.grader))
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Notes that a part of the task is lost.
    pub(super) fn lose(&mut self, text: impl Into<String>) {
        self.note(text);
        self.is_incomplete = true;
    }

    pub(super) fn expect(&mut self, text: impl Into<Box<str>>) {
        self.demands.push(Ask::question(text));
    }

    pub(super) fn check(&mut self, check: Check) {
        self.demands.push(Ask::check(check));
    }

    /// Adds the tags. Tags are words; everything else is left out.
    pub(super) fn tag(&mut self, tags: &Value) {
        let one = |tag: &Value| text(tag).filter(|tag| !tag.trim().is_empty()).map(Into::into);
        match tags {
            Value::Array(tags) => self.scenario.tags.extend(tags.iter().filter_map(one)),
            tag => self.scenario.tags.extend(one(tag)),
        }
    }

    /// Notes the keys of an entry that were not read.
    pub(super) fn note_unread(&mut self, entry: &serde_json::Map<String, Value>, read: &[&str]) {
        for key in entry.keys().filter(|key| !read.contains(&key.as_str())) {
            self.notes.push(format!("`{key}` is not read"));
        }
    }
}

impl Ask {
    pub(super) fn new(how: How) -> Self {
        Self { id: None, how, weight: 1.0, must_pass: false, member: None, grader: Vec::new() }
    }

    pub(super) fn question(text: impl Into<Box<str>>) -> Self {
        Self::new(How::Question { text: text.into() })
    }

    pub(super) fn check(check: Check) -> Self {
        Self::new(How::Check(check))
    }

    #[must_use]
    pub(super) fn named(mut self, id: Option<String>) -> Self {
        self.id = id;
        self
    }

    #[must_use]
    pub(super) fn weighing(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}

/// The keys of JSON entries that hold the task.
pub(super) const PROMPTS: [&str; 3] = ["prompt", "input", "query"];

/// Returns the text of a string or a number.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the first non-empty text under one of these keys.
pub(super) fn first_text(entry: &serde_json::Map<String, Value>, keys: &[&str]) -> Option<String> {
    let texts = keys.iter().filter_map(|key| entry.get(*key)?.as_str());
    texts.map(str::to_owned).find(|text| !text.trim().is_empty())
}

/// Returns a list of texts, or a single text as a list.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(text).collect(),
        value => text(value).into_iter().collect(),
    }
}
