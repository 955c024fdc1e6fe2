//! The branch of a proposal: created, or moved from an older proposal of ours. The user's own commits are never moved.

use crate::crash;

use super::commit::{self, Content};
use super::repository::Repository;
use super::runner::{Command, GitError};

/// The current state of the branch.
#[derive(Debug)]
pub(super) enum BranchState {
    Free,
    /// An older proposal.
    Ours {
        commit: String,
        content: Content,
    },
    /// The reason why it must not be changed.
    Taken(String),
}

/// Git's notation for a branch that must not exist yet.
const ABSENT: &str = "";

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
    let content = commit::read(repository, &commit)?;
    if !content.is_ours() {
        return Ok(BranchState::Taken(format!("branch {branch} has commits that skilltune did not make")));
    }
    if !content.has_target_of(wanted) {
        return Ok(BranchState::Taken(format!("branch {branch} changes another folder")));
    }
    let below = format!("{commit}^");
    let exclude = format!("--exclude={name}");
    let lost = Command::new(["rev-list", "--max-count=1", &below, "--not", "HEAD", &exclude, "--all"]);
    if !git.run(lost)?.is_empty() {
        return Ok(BranchState::Taken(format!("branch {branch} has commits that no other branch has")));
    }
    Ok(BranchState::Ours { commit, content })
}

/// Points the branch to the commit, if the branch is unchanged.
pub(super) fn set(
    repository: &Repository<'_>,
    branch: &str,
    commit: &str,
    state: &BranchState,
) -> Result<(), GitError> {
    let old = match state {
        BranchState::Ours { commit, .. } => commit,
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
