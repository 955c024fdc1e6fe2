//! The branch of a proposal: created, or moved from an older proposal of ours. The user's own commits are never moved.

use crate::crash;

use super::commit::{self, Content};
use super::repository::Repository;
use super::runner::{Command, GitError};

/// The current state of the branch.
#[derive(Debug)]
pub(super) enum BranchState {
    Free,
    /// The last commit of an older proposal.
    Ours(String),
    /// The reason why it must not be changed.
    Taken(String),
}

/// Git's notation for a branch that must not exist yet.
const ABSENT: &str = "";

/// More commits than this are not replaced.
pub(super) const MOST_OWN: usize = 200;

pub(super) fn look(
    repository: &Repository<'_>,
    branch: &str,
    wanted: &Content,
) -> Result<BranchState, GitError> {
    let (git, name) = (&repository.git, full(branch));
    if git.find(Command::new(["check-ref-format", &name]))?.is_none() {
        return Ok(BranchState::Taken(format!("{branch:?} is not a valid branch name")));
    }
    let worktrees = git.run(Command::new(["worktree", "list", "--porcelain", "-z"]))?;
    if let Some(path) = checked_out(&worktrees, &name) {
        return Ok(BranchState::Taken(format!("branch {branch} is checked out in {path}")));
    }
    let found =
        git.find(Command::new(["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]))?;
    let Some(found) = found else { return Ok(BranchState::Free) };
    let commit = String::from_utf8_lossy(&found).trim().to_owned();
    let (most, exclude) = (format!("--max-count={}", MOST_OWN + 1), format!("--exclude={name}"));
    let own = git.run(Command::new(["rev-list", &most, &commit, "--not", "HEAD", &exclude, "--all"]))?;
    Ok(match foreign(repository, (&commit, &own), wanted)? {
        Some(why) => BranchState::Taken(format!("branch {branch} {why}")),
        None => BranchState::Ours(commit),
    })
}

/// Returns why a branch must not be replaced, if it has a commit that skilltune did not make for this target. `own` lists
/// the commits that no other branch has, the newest one first, and one more than `MOST_OWN` at most.
pub(super) fn foreign(
    repository: &Repository<'_>,
    (tip, own): (&str, &[u8]),
    wanted: &Content,
) -> Result<Option<&'static str>, GitError> {
    let own = String::from_utf8_lossy(own);
    // The tip counts even if another branch has it.
    for (nth, commit) in std::iter::once(tip).chain(own.lines().skip(1)).enumerate() {
        let content = commit::read(repository, commit)?;
        if nth == 0 && !content.is_ours() {
            return Ok(Some("has commits that skilltune did not make"));
        }
        if nth == MOST_OWN || !content.is_ours() {
            return Ok(Some("has commits that no other branch has"));
        }
        if !content.has_target_of(wanted) {
            return Ok(Some("changes another folder"));
        }
    }
    Ok(None)
}

/// Points the branch to the commit, if the branch is unchanged.
pub(super) fn set(
    repository: &Repository<'_>,
    branch: &str,
    commit: &str,
    state: &BranchState,
) -> Result<(), GitError> {
    let old = match state {
        BranchState::Ours(commit) => commit,
        BranchState::Free | BranchState::Taken(_) => ABSENT,
    };
    let name = full(branch);
    let update = ["update-ref", "--no-deref", "--create-reflog", "-m", "skilltune", &name, commit, old];
    crash::around(["proposal: before the branch is set", "proposal: after the branch is set"], || {
        repository.git.run(Command::new(update)).map(drop)
    })
}

fn full(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// Returns the working tree that has the branch: `worktree PATH NUL HEAD ID NUL branch REF NUL NUL`, and so on.
fn checked_out(list: &[u8], name: &str) -> Option<String> {
    let mut path = None;
    for part in list.split(|byte| *byte == 0) {
        if let Some(here) = part.strip_prefix(b"worktree ") {
            path = Some(String::from_utf8_lossy(here).into_owned());
        } else if part.strip_prefix(b"branch ") == Some(name.as_bytes()) {
            return path;
        }
    }
    None
}
