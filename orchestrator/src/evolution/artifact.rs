//! `artifact.md`, which a person may have edited: skilltune never overwrites an edit.
//!
//! The new version is exchanged with the existing file, which is then checked: if this run wrote it, it is removed,
//! otherwise it goes back. A kill in between leaves it under a name that the next call checks first.

use std::ffi::OsStr;

use skilltune_phases::loops::reflex::original::{artifact_hash, short};

use super::EvolutionError;
use super::site::{draft, read};
use crate::disk::{Exchange, Folder};

pub(super) const ARTIFACT: &str = "artifact.md";

/// A complete version that is not yet, or no longer, under its final name.
const ASIDE: &str = ".skilltune-tmp-aside-artifact.md";

/// The place of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub name: String,
    /// The new name of an unknown file that an interrupted call had set aside.
    pub rescued: Option<String>,
}

impl Placed {
    /// Whether a person's file kept the name.
    pub fn is_beside(&self) -> bool {
        self.name != ARTIFACT
    }
}

/// Whether a name is one that skilltune gives to an artifact next to a person's.
pub(super) fn is_beside(name: &str) -> bool {
    name.strip_prefix("artifact-").is_some_and(|rest| rest.strip_suffix(".md").is_some())
}

/// The outcome of an exchange.
enum ExchangeResult {
    Done,
    /// Our version is still set aside: the file with the name is a person's.
    Theirs,
}

pub(super) fn place(
    folder: &Folder,
    bytes: &[u8],
    known: &dyn Fn(&[u8]) -> bool,
) -> Result<Placed, EvolutionError> {
    let rescued = rescue(folder, bytes, known)?;
    let there = match read(folder, OsStr::new(ARTIFACT)) {
        // Too large: this run did not write it.
        Err(EvolutionError::TooLarge(_)) => There::Theirs,
        there => match there?.as_deref() {
            None => There::Nothing,
            Some(there) if there == bytes => return Ok(Placed { name: ARTIFACT.to_owned(), rescued }),
            Some(there) if known(there) => There::Ours,
            Some(_) => There::Theirs,
        },
    };
    let draft = draft(folder, OsStr::new(ARTIFACT), bytes)?;
    folder.rename(&draft, OsStr::new(ASIDE))?;
    let outcome = match there {
        There::Nothing => fill(folder)?,
        There::Ours => exchange(folder, known)?,
        There::Theirs => ExchangeResult::Theirs,
    };
    let name = match outcome {
        ExchangeResult::Done => ARTIFACT.to_owned(),
        ExchangeResult::Theirs => put_beside(folder, bytes)?,
    };
    Ok(Placed { name, rescued })
}

/// The file that has the artifact's name.
enum There {
    Nothing,
    Ours,
    Theirs,
}

/// Removes what a killed call set aside if this run wrote it, and otherwise gives it a name.
fn rescue(
    folder: &Folder,
    bytes: &[u8],
    known: &dyn Fn(&[u8]) -> bool,
) -> Result<Option<String>, EvolutionError> {
    match read(folder, OsStr::new(ASIDE))? {
        None => Ok(None),
        Some(left) if left == bytes || known(&left) => {
            folder.remove_file(OsStr::new(ASIDE))?;
            Ok(None)
        }
        Some(left) => put_beside(folder, &left).map(Some),
    }
}

/// Takes the name if it is still free.
fn fill(folder: &Folder) -> Result<ExchangeResult, EvolutionError> {
    let is_free = folder.rename_new(OsStr::new(ASIDE), OsStr::new(ARTIFACT))?;
    Ok(if is_free { ExchangeResult::Done } else { ExchangeResult::Theirs })
}

fn exchange(folder: &Folder, known: &dyn Fn(&[u8]) -> bool) -> Result<ExchangeResult, EvolutionError> {
    let (aside, artifact) = (OsStr::new(ASIDE), OsStr::new(ARTIFACT));
    match folder.exchange(aside, artifact)? {
        Exchange::Done => {}
        Exchange::Gone => return fill(folder),
        Exchange::Unsupported => {
            folder.rename(aside, artifact)?;
            return Ok(ExchangeResult::Done);
        }
    }
    match read(folder, aside) {
        Ok(Some(displaced)) if known(&displaced) => {
            folder.remove_file(aside)?;
            Ok(ExchangeResult::Done)
        }
        // The file was edited in between, or cannot be read: it goes back.
        displaced => {
            folder.exchange(aside, artifact)?;
            displaced.map(|_| ExchangeResult::Theirs)
        }
    }
}

/// Renames the file that is set aside, which holds `bytes`, to the first name next to the artifact that is free or
/// holds the same.
fn put_beside(folder: &Folder, bytes: &[u8]) -> Result<String, EvolutionError> {
    let (aside, hash) = (OsStr::new(ASIDE), artifact_hash(bytes));
    let hash = short(&hash);
    let mut name = format!("artifact-{hash}.md");
    for number in 2_u64.. {
        if folder.rename_new(aside, OsStr::new(&name))? {
            break;
        }
        if matches!(read(folder, OsStr::new(&name)), Ok(Some(same)) if same == bytes) {
            folder.remove_file(aside)?;
            break;
        }
        name = format!("artifact-{hash}-{number}.md");
    }
    Ok(name)
}
