//! Proposes an improvement as one commit on HEAD, or as several: on a branch, which may be pushed to a remote, or as a
//! patch if a branch is not possible.
//!
//! Everything made before the branch is set is invisible and reproducible, so a proposal that was killed is simply made
//! again.

use std::path::Path;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::runs::proposal::{EarlierCommit, Form, Proposal, Words};

use crate::crash;
use crate::disk::SafePath;
use crate::disk::atomic::Durability;
use crate::promote::Move;
use crate::snapshot::{Manifest, Objects};

use super::branch::{self, BranchState};
use super::change::{self, Changes};
use super::commit::{self, Series};
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
    /// The commits below the last one, the first one first.
    pub earlier: Vec<EarlierCommit>,
    pub words: Words,
    /// What the last commit has of each folder, if the patch is for the folders as the run found them.
    pub committed: Vec<TreeId>,
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
    let (mut repository, prefixes) = Repository::around(git, &wanted.moves)?;
    let mut notes = Vec::new();
    if !wanted.committed.is_empty() {
        repository.base = as_found(&repository, objects, wanted, &prefixes)?;
        notes.push("it is for the files with your uncommitted changes: apply it with `git apply`".into());
    }
    let changes = changes(&repository, objects, wanted, &prefixes)?;
    let messages = wanted.earlier.iter().map(|one| &one.message).chain([&wanted.words.message]);
    let commits = changes.iter().zip(messages.map(String::as_str));
    let Some(series) = commit::series(&repository, commits, &target(&prefixes))? else {
        return Err(refused("HEAD already has these changes", "nothing left to do"));
    };
    commit::require_identity(&repository)?;
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
        Form::Branch => on_branch(&repository, wanted, &series, proposal),
        Form::PullRequest => {
            let proposal = on_branch(&repository, wanted, &series, proposal)?;
            publish(git, &repository, (&changes, &series.tip), proposal)
        }
        Form::Patch => {
            let commit = commit::make(&repository, &series, wanted.words.at, false)?;
            as_patch(&repository, wanted, commit, proposal)
        }
    }
}

/// Returns a commit of the folders as the run found them, on which a patch is made for them. No branch has it.
fn as_found(
    repository: &Repository<'_>,
    objects: &Objects,
    wanted: &Wanted,
    prefixes: &[Option<Prefix>],
) -> Result<String, ProposeError> {
    let mut found = Changes::new();
    for ((one, committed), prefix) in wanted.moves.iter().zip(&wanted.committed).zip(prefixes) {
        let Some(prefix) = prefix else { continue };
        found.extend(
            change::changes(repository, objects, (*committed, &[one.from]), prefix)?.into_iter().flatten(),
        );
    }
    let message = "The files as they were\n\n";
    commit::require_identity(repository)?;
    match commit::series(repository, [(&found, message)].into_iter(), &target(prefixes))? {
        Some(series) => Ok(commit::make(repository, &series, wanted.words.at, false)?),
        None => Ok(repository.base.clone()),
    }
}

/// Returns what each commit changes: the first one in HEAD, each other one in the commit before it.
fn changes(
    repository: &Repository<'_>,
    objects: &Objects,
    wanted: &Wanted,
    prefixes: &[Option<Prefix>],
) -> Result<Vec<Changes>, ProposeError> {
    let mut all = vec![Changes::new(); wanted.earlier.len() + 1];
    for (nth, (one, prefix)) in wanted.moves.iter().zip(prefixes).enumerate() {
        let earlier = wanted.earlier.iter().map(|commit| commit.trees.get(nth).copied().unwrap_or(one.from));
        let versions: Vec<_> = earlier.chain([one.to]).collect();
        let changed = prefix.as_ref().filter(|_| versions.iter().any(|to| *to != one.from));
        let Some(prefix) = changed else { continue };
        let steps = change::changes(repository, objects, (one.from, &versions), prefix)?;
        for (whole, step) in all.iter_mut().zip(steps) {
            whole.extend(step);
        }
    }
    Ok(all)
}

fn on_branch(
    repository: &Repository<'_>,
    wanted: &Wanted,
    series: &Series,
    mut proposal: Proposal,
) -> Result<Proposal, ProposeError> {
    let state = branch::look(repository, &wanted.words.branch, &series.tip)?;
    let why = match made(repository, wanted, series, &state) {
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
    let commit = commit::make(repository, series, wanted.words.at, false)?;
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
    series: &Series,
    state: &BranchState,
) -> Result<String, Hindered> {
    match state {
        BranchState::Taken(why) => return Err(Hindered::Because(why.clone())),
        // A signature is different each time.
        BranchState::Ours(commit) if commit::is_made(repository, commit, series)? => {
            return Ok(commit.clone());
        }
        BranchState::Free | BranchState::Ours(_) => {}
    }
    let is_signed = commit::is_signed(repository)?;
    let commit = match commit::make(repository, series, wanted.words.at, is_signed) {
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
    let range = format!("{}..{commit}", repository.base);
    let arguments = ["format-patch"].into_iter().chain(PATCH).chain([range.as_str()]);
    let patch = repository.git.run(Command::new(arguments).most(MOST))?;
    let points = ["proposal: before the patch is written", "proposal: after the patch is written"];
    Ok(crash::around(points, || to.replace(&patch, Durability::Barrier))?)
}
