//! The history of a folder: the commit that last changed some files, the first parents of a commit, and our branches.
//!
//! The repository may be hostile: git's output is checked, and no path is a pattern.

use std::path::Path;

use super::changed::ChangedError;
use super::runner::{Command, Git, GitError, is_id};

/// A commit, and what its message names in `Skilltune-Run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub id: String,
    pub run: String,
}

/// The most branches that are listed.
const MOST_BRANCHES: &str = "--count=20";

/// Returns the newest commit, at or below this one, that changed one of these files.
pub fn last_change(
    git: &Git<'_>,
    root: &Path,
    commit: &str,
    paths: &[String],
) -> Result<Option<String>, ChangedError> {
    let list = Command::new(["rev-list", "--max-count=1", commit, "--"]).more(paths);
    let id = git.at(root).line(list.env("GIT_LITERAL_PATHSPECS", "1"))?;
    match id.as_str() {
        "" => Ok(None),
        text if is_id(text) => Ok(Some(id)),
        _ => Err(GitError::Garbled.into()),
    }
}

/// Returns a commit and its first parents, the newest first, at most this many in all.
pub fn first_parents(
    git: &Git<'_>,
    root: &Path,
    commit: &str,
    most: usize,
) -> Result<Vec<Ancestor>, ChangedError> {
    let most = format!("--max-count={most}");
    let format = "--format=%H %(trailers:key=Skilltune-Run,valueonly,unfold,separator=%x20)";
    let log = Command::new(["log", "-z", "--first-parent", "--no-decorate", "--no-notes", &most, format]);
    let printed = git.at(root).run(log.more([commit, "--"]))?;
    let ancestor = |entry: &[u8]| {
        let entry = String::from_utf8_lossy(entry);
        let (id, run) = entry.trim_end().split_once(' ').unwrap_or((entry.trim_end(), ""));
        is_id(id).then(|| Ancestor { id: id.to_owned(), run: run.trim().to_owned() })
    };
    let entries = printed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let all: Option<Vec<Ancestor>> = entries.map(ancestor).collect();
    all.ok_or(GitError::Garbled.into())
}

/// Returns the branches whose names begin with `skilltune/`, here and on remotes.
pub fn own_branches(git: &Git<'_>, root: &Path) -> Result<Vec<String>, ChangedError> {
    let list = Command::new([
        "for-each-ref",
        MOST_BRANCHES,
        "--format=%(refname:short)",
        "refs/heads/skilltune/**",
        "refs/remotes/*/skilltune/**",
    ]);
    let printed = git.at(root).run(list)?;
    Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
}
