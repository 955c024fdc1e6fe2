//! Finds out what a person did with a proposal since it was made. Nothing is changed; only `gh` asks a server.

use std::path::Path;

use skilltune_phases::runs::proposal::Proposal;

use super::pull_request::{self, RequestState};
use super::runner::{Command, Git, GitError, is_id};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// HEAD has the commit, or the pull request was merged.
    Merged,
    /// The pull request was closed.
    Closed,
    /// The proposal is still where it was made, as far as is known here.
    Open,
    /// The branch was deleted, or has other commits.
    Gone,
}

impl ProposalState {
    /// Returns the state of a proposal that changes `folder`, and maybe others.
    pub fn of(git: &Git<'_>, folder: &Path, proposal: &Proposal) -> Result<Self, GitError> {
        // A journal may come from somebody else.
        if !is_id(&proposal.commit) {
            return Ok(Self::Open);
        }
        let there = folder.ancestors().find(|above| above.is_dir()).unwrap_or(folder);
        let here = git.at(there);
        if contains(&here, "HEAD", &proposal.commit)? {
            return Ok(Self::Merged);
        }
        if let Some(address) = &proposal.pull_request {
            return Ok(match pull_request::state(git, address) {
                Some(RequestState::Merged) => Self::Merged,
                Some(RequestState::Closed) => Self::Closed,
                Some(RequestState::Open) | None => Self::Open,
            });
        }
        let branch = proposal.branch.as_deref().filter(|branch| is_plain(branch));
        // A clone may lack a branch that was pushed.
        match branch.filter(|_| proposal.remote.is_none()) {
            Some(branch) if !contains(&here, &format!("refs/heads/{branch}"), &proposal.commit)? => {
                Ok(Self::Gone)
            }
            Some(_) | None => Ok(Self::Open),
        }
    }
}

/// Returns whether a revision has this commit in its history.
fn contains(git: &Git<'_>, revision: &str, commit: &str) -> Result<bool, GitError> {
    match git.find(Command::new(["merge-base", "--is-ancestor", commit, revision])) {
        Ok(found) => Ok(found.is_some()),
        // There is no such commit, revision or repository.
        Err(GitError::Failed { code: Some(128), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns true if git can only read the name as a branch.
fn is_plain(branch: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+/".contains(c);
    !branch.is_empty() && branch.chars().all(is_plain)
}
