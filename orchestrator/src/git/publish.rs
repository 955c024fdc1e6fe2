//! Pushes the branch of a proposal to a remote and opens a pull request. Each step first checks the current state, so a
//! retry finishes what was killed.

use skilltune_phases::runs::proposal::Proposal;

use super::change::Changes;
use super::commit::Content;
use super::error::{Hindered, ProposeError};
use super::pull_request::{Hub, Next};
use super::remote::{Remote, failed};
use super::repository::Repository;
use super::runner::Git;

/// Publishes as far as possible; a note says what failed, and why. `content` is that of the last commit.
pub(super) fn publish(
    git: &Git<'_>,
    repository: &Repository<'_>,
    (changes, content): (&[Changes], &Content),
    mut proposal: Proposal,
) -> Result<Proposal, ProposeError> {
    let Some(branch) = proposal.branch.clone() else { return Ok(proposal) };
    // The branch exists already.
    let requested = request(git, repository, (changes, content), &branch, &mut proposal);
    let Some(why) = obstacle(requested)? else { return Ok(proposal) };
    let what = match &proposal.remote {
        Some(remote) => format!("the branch is pushed to {remote}, but no pull request was made"),
        None => "this is a branch, not a pull request".to_owned(),
    };
    proposal.notes.push(format!("{what}: {why}").into());
    Ok(proposal)
}

/// Returns why no pull request could be made of a branch in the current state of the repository and of its remote, if
/// something is in the way.
pub(super) fn rehearse(git: &Git<'_>, repository: &Repository<'_>) -> Result<Option<String>, ProposeError> {
    let reached = Remote::open(git, repository).and_then(|remote| {
        // No branch of ours is pushed yet.
        remote.require_pushed(repository, "")?;
        Hub::of(git, remote.repository.as_deref())?.require_access()
    });
    obstacle(reached)
}

/// Returns the reason of a failure that the user can see to.
fn obstacle(went: Result<(), Hindered>) -> Result<Option<String>, ProposeError> {
    match went {
        Ok(()) => Ok(None),
        Err(Hindered::Because(why)) => Ok(Some(why)),
        Err(Hindered::Failed(error)) => match failed(error, "git failed") {
            Hindered::Because(why) => Ok(Some(why)),
            Hindered::Failed(error) => Err(error.into()),
        },
    }
}

fn request(
    git: &Git<'_>,
    repository: &Repository<'_>,
    (changes, content): (&[Changes], &Content),
    branch: &str,
    proposal: &mut Proposal,
) -> Result<(), Hindered> {
    let remote = Remote::open(git, repository)?;
    let found = remote.look(repository, (branch, &proposal.commit), content)?;
    require_no_lfs(repository, changes)?;
    let hub = Hub::of(git, remote.repository.as_deref());
    let asked = hub.and_then(|hub| Ok((hub.look(branch, content)?, hub)));
    if let Ok((Next::Never { why }, _)) = asked {
        return Err(Hindered::Because(why));
    }
    remote.push(branch, &proposal.commit, &found)?;
    proposal.remote = Some(remote.name.as_str().into());
    // Without `gh` or its login, the user can still open the pull request.
    let (next, hub) = asked?;
    let base = remote.base(repository)?;
    proposal.pull_request = Some(hub.bring(next, branch, base.as_deref(), &content.message)?.into());
    Ok(())
}

/// Fails if a file uses LFS: `git` does not push large files, `git lfs` does that in a hook.
fn require_no_lfs(repository: &Repository<'_>, changes: &[Changes]) -> Result<(), Hindered> {
    let there = changes.iter().flatten().filter(|(_, blob)| blob.is_some()).map(|(path, _)| path.clone());
    let Some((path, _)) = repository.filtered(there, |filter| filter == b"lfs")? else { return Ok(()) };
    Err(Hindered::Because(format!("{path} is stored with Git LFS, which skilltune does not push")))
}
