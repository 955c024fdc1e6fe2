//! Proposes an improvement as one commit on HEAD: on a branch, which may be pushed to a remote, or as a patch if a
//! branch is not possible.
//!
//! Everything made before the branch is set is invisible and reproducible, so a proposal that was killed is simply made
//! again.

use std::path::Path;

use skilltune_phases::runs::proposal::{Form, Proposal, Words};

use crate::crash;
use crate::disk::SafePath;
use crate::disk::atomic::Durability;
use crate::promote::Move;
use crate::snapshot::{Manifest, Objects};

use super::branch::{self, BranchState};
use super::change::{self, Changes};
use super::commit;
use super::error::{Hindered, ProposeError, refused};
use super::publish::{self, publish};
use super::repository::{Prefix, Repository};
use super::runner::{Command, Git, GitError};

/// Produces a plain patch, whatever the configuration sets for patches.
const PATCH: [&str; 23] = [
    "--stdout",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-cover-letter",
    "--no-base",
    "--unified=3",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--no-attach",
    "--no-thread",
    "--no-signoff",
    "--no-signature",
    "--no-notes",
    "--no-to",
    "--no-cc",
    "--no-add-header",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--subject-prefix=PATCH",
    "-O/dev/null",
];

/// The largest size of a skill.
const MOST: u64 = 256 << 20;

/// The improvement to propose.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub form: Form,
    /// The change of each folder since the version that the run started from.
    pub moves: Vec<Move>,
    pub words: Words,
    /// The path of a patch.
    pub patch: SafePath,
}

/// Fails if no change of this folder could be proposed in its current state. For callers that check this beforehand.
pub fn require_repository(git: &Git<'_>, folder: &Path, now: &Manifest) -> Result<(), ProposeError> {
    ready_repository(git, folder, now).map(drop)
}

/// Like `require_repository`, for a proposal of this form. Returns why no pull request would be made, if something is in
/// its way. Nothing is changed.
pub fn rehearse(
    git: &Git<'_>,
    folder: &Path,
    now: &Manifest,
    form: Form,
) -> Result<Option<String>, ProposeError> {
    let repository = ready_repository(git, folder, now)?;
    match form {
        Form::Branch | Form::Patch => Ok(None),
        Form::PullRequest => publish::rehearse(git, &repository),
    }
}

/// Returns the repository of a folder whose change could be proposed.
fn ready_repository<'a>(
    git: &Git<'a>,
    folder: &Path,
    now: &Manifest,
) -> Result<Repository<'a>, ProposeError> {
    let (repository, prefix) = Repository::of(git, folder)?;
    commit::require_identity(&repository)?;
    change::committed(&repository, &prefix, now)?;
    Ok(repository)
}

pub fn propose(git: &Git<'_>, objects: &Objects, wanted: &Wanted) -> Result<Proposal, ProposeError> {
    let (repository, prefixes) = Repository::around(git, &wanted.moves)?;
    let mut changes = Changes::new();
    for (one, prefix) in wanted.moves.iter().zip(&prefixes) {
        if let Some(prefix) = prefix.as_ref().filter(|_| one.from != one.to) {
            changes.extend(change::changes(&repository, objects, one, prefix)?);
        }
    }
    if changes.is_empty() {
        return Err(refused("HEAD already has these changes", "nothing left to do"));
    }
    commit::require_identity(&repository)?;
    let content = commit::content(&repository, &changes, &target(&prefixes), &wanted.words.message)?;
    let mut notes = Vec::new();
    if let Some(other) = &repository.within {
        notes.push(format!("the folder is in a submodule of {other}; the commit is in the submodule").into());
    }
    let proposal = Proposal {
        commit: Box::default(),
        base: repository.base.as_str().into(),
        branch: None,
        remote: None,
        pull_request: None,
        patch: None,
        notes,
    };
    match wanted.form {
        Form::Branch => on_branch(&repository, wanted, &content, proposal),
        Form::PullRequest => {
            let proposal = on_branch(&repository, wanted, &content, proposal)?;
            publish(git, &repository, (&changes, &content), proposal)
        }
        Form::Patch => {
            let commit = commit::make(&repository, &content, wanted.words.at, false)?;
            as_patch(&repository, wanted, commit, proposal)
        }
    }
}

fn on_branch(
    repository: &Repository<'_>,
    wanted: &Wanted,
    content: &commit::Content,
    mut proposal: Proposal,
) -> Result<Proposal, ProposeError> {
    let state = branch::look(repository, &wanted.words.branch, content)?;
    let why = match made(repository, wanted, content, &state) {
        Ok(commit) => {
            proposal.commit = commit.as_str().into();
            proposal.branch = Some(wanted.words.branch.as_str().into());
            return Ok(proposal);
        }
        Err(Hindered::Because(why)) => why,
        Err(Hindered::Failed(error)) => return Err(error.into()),
    };
    proposal.notes.push(format!("this is a patch, not a branch: {why}").into());
    // The person who applies the patch signs it.
    let commit = commit::make(repository, content, wanted.words.at, false)?;
    as_patch(repository, wanted, commit, proposal)
}

/// Returns the folders in the repository, on one line.
fn target(prefixes: &[Option<Prefix>]) -> String {
    let folder = |prefix: &Prefix| {
        let folder = String::from_utf8_lossy(prefix).trim_end_matches('/').escape_debug().to_string();
        if folder.is_empty() { ".".to_owned() } else { folder }
    };
    prefixes.iter().flatten().map(folder).collect::<Vec<_>>().join(", ")
}

fn made(
    repository: &Repository<'_>,
    wanted: &Wanted,
    content: &commit::Content,
    state: &BranchState,
) -> Result<String, Hindered> {
    match state {
        BranchState::Taken(why) => return Err(Hindered::Because(why.clone())),
        // A signature is different each time.
        BranchState::Ours { commit, content: known } if known == content => return Ok(commit.clone()),
        BranchState::Free | BranchState::Ours { .. } => {}
    }
    let is_signed = commit::is_signed(repository)?;
    let commit = match commit::make(repository, content, wanted.words.at, is_signed) {
        Err(GitError::Failed { said, .. }) if is_signed => {
            return Err(Hindered::Because(format!("git could not sign the commit: {}", first_line(&said))));
        }
        commit => commit?,
    };
    match branch::set(repository, &wanted.words.branch, &commit, state) {
        Err(GitError::Failed { said, .. }) => {
            Err(Hindered::Because(format!("git could not set the branch: {}", first_line(&said))))
        }
        set => Ok(set.map(|()| commit)?),
    }
}

fn first_line(said: &str) -> &str {
    said.lines().next().unwrap_or_default()
}

fn as_patch(
    repository: &Repository<'_>,
    wanted: &Wanted,
    commit: String,
    proposal: Proposal,
) -> Result<Proposal, ProposeError> {
    write_patch(repository, &commit, &wanted.patch)?;
    let name = wanted.patch.path().file_name().unwrap_or_default();
    Ok(Proposal { commit: commit.into(), patch: Some(name.to_string_lossy().into()), ..proposal })
}

/// Writes a file that `git am` takes.
fn write_patch(repository: &Repository<'_>, commit: &str, to: &SafePath) -> Result<(), ProposeError> {
    let arguments = ["format-patch"].into_iter().chain(PATCH).chain(["-1", commit]);
    let patch = repository.git.run(Command::new(arguments).most(MOST))?;
    let points = ["proposal: before the patch is written", "proposal: after the patch is written"];
    Ok(crash::around(points, || to.replace(&patch, Durability::Barrier))?)
}
