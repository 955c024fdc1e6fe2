//! Applies edits to texts: all of them or none.

use std::collections::BTreeMap;

use super::Edit;
use crate::base::answer::capped;

/// The reason why edits cannot be applied, worded so that it can go back to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("more than {MOST_EDITS} edits")]
    TooMany,
    #[error("{0}: not a plain path within the skill's folder")]
    Path(Box<str>),
    #[error("{path}: conflicts with {other}")]
    Clash { path: Box<str>, other: Box<str> },
    #[error("{path}: no such text file")]
    NoFile { path: Box<str> },
    #[error("{path}: a passage to find is empty")]
    EmptyFind { path: Box<str> },
    #[error("{path}: the passage must occur exactly once but occurs {times} times: {find:?}")]
    NotOnce { path: Box<str>, times: usize, find: Box<str> },
    #[error("{path}: would be longer than {LONGEST_FILE} bytes")]
    TooLong { path: Box<str> },
}

const MOST_EDITS: usize = 200;
const LONGEST_FILE: usize = 1 << 20;
const LONGEST_PATH: usize = 400;

/// Applies edits in order and returns the files whose text has changed.
pub fn apply(
    edits: &[Edit],
    files: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, EditError> {
    if edits.len() > MOST_EDITS {
        return Err(EditError::TooMany);
    }
    let mut changed = BTreeMap::new();
    for edit in edits {
        let path = edit.path();
        check_path(path)?;
        let current = changed.get(path).or_else(|| files.get(path));
        let text = edited(edit, current.map(String::as_str))?;
        if text.len() > LONGEST_FILE {
            return Err(EditError::TooLong { path: path.into() });
        }
        if current.is_none() {
            check_room(path, files.keys().chain(changed.keys()))?;
        }
        changed.insert(path.to_owned(), text);
    }
    changed.retain(|path, text| files.get(path) != Some(text));
    Ok(changed)
}

fn edited(edit: &Edit, current: Option<&str>) -> Result<String, EditError> {
    match edit {
        Edit::Write { content, .. } => Ok(content.clone()),
        Edit::Replace { path, find, replace } => {
            let text = current.ok_or_else(|| EditError::NoFile { path: path.as_str().into() })?;
            let (find, replace) = (in_line_ends_of(text, find), in_line_ends_of(text, replace));
            let start = place(path, text, &find)?;
            Ok([&text[..start], &replace, &text[start + find.len()..]].concat())
        }
    }
}

/// Returns the position of the passage. Fails unless it occurs exactly once, overlaps included.
fn place(path: &str, text: &str, find: &str) -> Result<usize, EditError> {
    if find.is_empty() {
        return Err(EditError::EmptyFind { path: path.into() });
    }
    let not_once = |times| EditError::NotOnce { path: path.into(), times, find: capped(find, 80).into() };
    let first = text.find(find).ok_or_else(|| not_once(0))?;
    if text.rfind(find) != Some(first) {
        return Err(not_once(text.matches(find).count().max(2)));
    }
    Ok(first)
}

/// Converts bare line feeds, which models write, for a file with carriage returns.
fn in_line_ends_of(text: &str, passage: &str) -> String {
    if text.contains("\r\n") && !passage.contains('\r') {
        passage.replace('\n', "\r\n")
    } else {
        passage.to_owned()
    }
}

fn check_path(path: &str) -> Result<(), EditError> {
    let is_plain = |part: &str| {
        let lower = part.to_ascii_lowercase();
        !matches!(lower.as_str(), "" | "." | ".." | ".git" | ".skilltune")
    };
    let is_odd = |c: char| c.is_control() || matches!(c, '\\' | ':');
    if path.len() > LONGEST_PATH || path.contains(is_odd) || !path.split('/').all(is_plain) {
        return Err(EditError::Path(capped(path, 80).into()));
    }
    Ok(())
}

/// Fails if a new file has the path of a folder, or is below a file.
fn check_room<'a>(path: &str, mut others: impl Iterator<Item = &'a String>) -> Result<(), EditError> {
    let below =
        |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
    match others.find(|other| below(path, other) || below(other, path)) {
        Some(other) => Err(EditError::Clash { path: path.into(), other: other.as_str().into() }),
        None => Ok(()),
    }
}
