//! Finds the files of a working tree that differ from a revision. No external diff, no text conversion and no filter of
//! the repository's own configuration runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::config::{Guard, Settings};
use super::runner::{Command, Git, GitError};

/// The changed files of one repository: edited, added, deleted, or untracked and not ignored.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    paths: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ChangedError {
    #[error("{folder} is not in a git repository", folder = .0.display())]
    NoRepository(PathBuf),
    #[error("the repository has no revision {0:?}")]
    NoRevision(String),
    #[error("more files changed than can be listed")]
    TooMany,
    #[error("git cannot compare the files")]
    Git(#[source] GitError),
}

impl From<GitError> for ChangedError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::TooLarge => Self::TooMany,
            error => Self::Git(error),
        }
    }
}

/// The largest list of paths that is read.
const MOST: u64 = 16 << 20;

/// Returns the root of the repository that contains a folder.
pub fn root(git: &Git<'_>, folder: &Path) -> Result<PathBuf, ChangedError> {
    match git.at(folder).run(Command::new(["rev-parse", "--show-toplevel"])) {
        Ok(mut top) => {
            top.pop_if(|last| *last == b'\n');
            Ok(PathBuf::from(OsString::from_vec(top)))
        }
        Err(GitError::Failed { code: Some(128), said })
            if said.contains("not a git repository") || said.contains("must be run in a work tree") =>
        {
            Err(ChangedError::NoRepository(folder.to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the commit of a revision such as `main`.
pub fn commit(git: &Git<'_>, root: &Path, revision: &str) -> Result<String, ChangedError> {
    let commit = format!("{revision}^{{commit}}");
    let named = Command::new(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
    match git.at(root).id(named) {
        Err(GitError::Failed { code: Some(_), .. } | GitError::Garbled) => {
            Err(ChangedError::NoRevision(revision.to_owned()))
        }
        id => Ok(id?),
    }
}

impl Changed {
    /// Returns the changes between a revision and the working tree with this root.
    pub fn since(git: &Git<'_>, root: &Path, revision: &str) -> Result<Self, ChangedError> {
        let commit = commit(git, root, revision)?;
        let git = git.at(root);
        let guard = Guard::of(&Settings::of(&git)?)?;
        let git = git.with_env(guard.env());
        // Dirty submodules are skipped: git would start another git there, with that repository's settings.
        let diff = Command::new([
            "diff",
            "--name-only",
            "-z",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--no-relative",
            "--ignore-submodules=dirty",
            "--end-of-options",
            &commit,
            "--",
        ]);
        let untracked = Command::new(["ls-files", "-z", "--others", "--exclude-standard"]);
        let lists = [git.run(diff.most(MOST))?, git.run(untracked.most(MOST))?];
        let paths = lists.iter().flat_map(|list| list.split(|byte| *byte == 0));
        let paths = paths.filter(|path| !path.is_empty()).map(|path| root.join(OsStr::from_bytes(path)));
        Ok(Self { paths: paths.collect() })
    }

    /// Returns the absolute paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path)
    }

    /// Returns true if the file, or anything in the folder, changed. A submodule or an inner repository changes as a
    /// whole.
    pub fn touches(&self, path: &Path) -> bool {
        self.paths.iter().any(|changed| changed.starts_with(path) || path.starts_with(changed))
    }
}
