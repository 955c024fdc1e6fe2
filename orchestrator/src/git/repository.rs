//! The repository that contains some folders: its root, the folders' paths in it, and its HEAD.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::promote::Move;

use super::config::{Guard, Settings};
use super::error::{ProposeError, refused};
use super::runner::{Command, Git, GitError};

/// A repository with a working tree and a commit.
#[derive(Debug)]
pub(super) struct Repository<'a> {
    /// Runs at its root; no program of its own configuration runs.
    pub git: Git<'a>,
    pub guard: Guard,
    pub settings: Settings,
    /// The commit of HEAD.
    pub base: String,
    /// The root of the parent repository, if this one is a submodule.
    pub within: Option<String>,
}

/// The path of a folder from the root of its repository, with a trailing slash.
pub(super) type Prefix = Vec<u8>;

/// The oldest supported git: needed for `worktree list -z`, and for settings in the environment.
const OLDEST: [u32; 2] = [2, 36];
/// The size of the list of a large skill.
pub(super) const LIST_BYTES: u64 = 64 << 20;

impl<'a> Repository<'a> {
    /// Returns the repository of all folders that change, and the path of each in it. A folder that does not change may
    /// be elsewhere and then has no path.
    pub(super) fn around(git: &Git<'a>, moves: &[Move]) -> Result<(Self, Vec<Option<Prefix>>), ProposeError> {
        require_version(git)?;
        let (mut top, mut paths) = (None, vec![None; moves.len()]);
        let (changed, others): (Vec<_>, Vec<_>) =
            moves.iter().zip(&mut paths).partition(|(one, _)| one.from != one.to);
        for (one, path) in changed {
            let (root, prefix) = locate(git, &one.path)?;
            if top.get_or_insert_with(|| root.clone()) != &root {
                return Err(refused("the skills are in different repositories", "apply them without git"));
            }
            *path = Some(prefix);
        }
        for (one, path) in others {
            match locate(git, &one.path) {
                Ok((root, prefix)) if top.as_ref() == Some(&root) => *path = Some(prefix),
                Ok(_) | Err(ProposeError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let top = top.ok_or_else(|| refused("no changes", "nothing to do"))?;
        Ok((Self::at(git, &top)?, paths))
    }

    /// Returns the repository of a folder, and the folder's path in it.
    pub(super) fn of(git: &Git<'a>, folder: &Path) -> Result<(Self, Prefix), ProposeError> {
        require_version(git)?;
        let (top, prefix) = locate(git, folder)?;
        Ok((Self::at(git, &top)?, prefix))
    }

    fn at(git: &Git<'a>, top: &Path) -> Result<Self, ProposeError> {
        let git = git.at(top);
        let settings = Settings::of(&git)?;
        let guard = Guard::of(&settings)?;
        let base = git.find(Command::new(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]))?;
        let base = base
            .and_then(|base| String::from_utf8(printed(base)).ok())
            .ok_or_else(|| refused("the repository has no commit yet", "make a commit first"))?;
        let within = git.line(Command::new(["rev-parse", "--show-superproject-working-tree"]))?;
        let git = git.with_env(guard.env());
        // Only committed attributes count, not those that the user is editing.
        let git = git.with_env([("GIT_ATTR_SOURCE".to_owned(), base.clone())]);
        let within = Some(within).filter(|within| !within.is_empty());
        Ok(Self { git, guard, settings, base, within })
    }

    /// Returns the first of these paths that has a matching filter in HEAD, and the filter's name.
    pub(super) fn filtered(
        &self,
        paths: impl Iterator<Item = Vec<u8>>,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<(String, String)>, GitError> {
        let paths: Vec<u8> = paths.flat_map(|path| [path, b"\0".to_vec()].concat()).collect();
        let check = Command::new(["check-attr", "-z", "--stdin", "filter"]).input(paths).most(LIST_BYTES);
        let printed = self.git.run(check)?;
        let parts: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        let found = parts.chunks_exact(3).find(|chunk| wanted(chunk[2]));
        Ok(found.map(|chunk| (shown(chunk[0]), String::from_utf8_lossy(chunk[2]).into_owned())))
    }
}

/// Formats a path for the user.
pub(super) fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).escape_debug().to_string()
}

fn require_version(git: &Git<'_>) -> Result<(), ProposeError> {
    let said = git.line(Command::new(["version"]))?;
    let numbers = said.split(' ').nth(2).unwrap_or_default().split('.').map(str::parse::<u32>);
    let numbers: Vec<u32> = numbers.map_while(Result::ok).take(2).collect();
    let [major, minor] = OLDEST;
    if numbers.as_slice() < OLDEST.as_slice() {
        return Err(refused(format!("{said} is too old"), format!("install git {major}.{minor} or newer")));
    }
    Ok(())
}

/// Returns the root of a folder's repository, and the folder's path from there. The folder need not exist yet.
fn locate(git: &Git<'_>, folder: &Path) -> Result<(PathBuf, Prefix), ProposeError> {
    let there = folder.ancestors().find(|above| above.is_dir()).unwrap_or(folder);
    let git = git.at(there);
    let root = root(&git, folder)?;
    let mut prefix = printed(git.run(Command::new(["rev-parse", "--show-prefix"]))?);
    for part in folder.strip_prefix(there).expect("an ancestor is a prefix") {
        prefix.extend([part.as_bytes(), b"/"].concat());
    }
    Ok((root, prefix))
}

fn root(git: &Git<'_>, folder: &Path) -> Result<PathBuf, ProposeError> {
    let inside = git.line(Command::new(["rev-parse", "--is-inside-work-tree"]));
    match inside {
        Ok(answer) if answer == "true" => {}
        Ok(_) => {
            let why = format!("{} is not in a working tree of its repository", folder.display());
            return Err(refused(why, "clone the repository, and run the command there"));
        }
        Err(GitError::Failed { said, .. }) if said.contains("dubious ownership") => {
            let why = format!("git does not trust the repository of {}", folder.display());
            return Err(refused(why, "if you trust it, add it to safe.directory in your git configuration"));
        }
        Err(GitError::Failed { code: Some(128), said }) if said.contains("not a git repository") => {
            let why = format!("{} is not in a git repository", folder.display());
            return Err(refused(why, "apply it without git"));
        }
        Err(error) => return Err(error.into()),
    }
    let top = printed(git.run(Command::new(["rev-parse", "--show-toplevel"]))?);
    Ok(PathBuf::from(OsString::from_vec(top)))
}

/// Returns the output of a command without its line end.
fn printed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.pop_if(|last| *last == b'\n');
    bytes
}
