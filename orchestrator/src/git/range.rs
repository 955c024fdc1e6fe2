//! The files that a range of commits changes, or that the working tree changes since a commit.
//!
//! ```text
//! ls-tree of both sides, or the names that `Changed` finds --> cat-file --batch, and the files on the disk
//! ```
//!
//! The repository may be hostile: git's output is checked, sizes and counts are bounded, and the working tree is read
//! through no symlink.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::changed::{Changed, ChangedError, commit};
use super::listed::{Content, Kind, Listed, RevisionError, list, read_all, with_folders};
use super::runner::{Command, Git, GitError};
use crate::disk::{DiskError, SafePath};
use crate::snapshot::{Entry, Limits, Manifest, ObjectError, Objects, RelPath};

/// What is compared.
#[derive(Clone, Debug)]
pub enum Range {
    /// The working tree with everything since this revision branched off.
    Since(String),
    /// Everything that the second revision has since it branched off the first.
    Between(String, String),
}

/// The changed files of a range, in memory.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// The commit that the change starts from.
    pub base: Option<String>,
    pub files: Vec<FileChange>,
    /// The changed submodules and new inner repositories, whose files this repository does not have.
    pub submodules: Vec<RelPath>,
}

/// A file, or the target of a symlink, on both sides.
#[derive(Clone, Debug)]
pub struct FileChange {
    pub path: RelPath,
    pub before: Option<Content>,
    pub after: Option<Content>,
}

#[derive(Debug, thiserror::Error)]
pub enum RangeError {
    #[error(transparent)]
    Changed(#[from] ChangedError),
    #[error(transparent)]
    Revision(#[from] RevisionError),
    #[error("the change is too large: more than {MOST_FILES} files or {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error("the folder is too large: more than {} files or {} MiB", .0.files, .0.bytes >> 20)]
    LargePart(Limits),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Objects(#[from] ObjectError),
}

impl From<GitError> for RangeError {
    fn from(error: GitError) -> Self {
        Self::Revision(error.into())
    }
}

/// A larger change is not read in one piece.
const MOST_FILES: usize = 3_000;
const MOST_BYTES: u64 = 64 << 20;

impl Range {
    /// Reads the changed files of the repository with this root.
    pub fn read(&self, git: &Git<'_>, root: &Path) -> Result<ChangeSet, RangeError> {
        let (from, to) = match self {
            Self::Since(from) => (from.as_str(), "HEAD"),
            Self::Between(from, to) => (from.as_str(), to.as_str()),
        };
        let (from, to) = (commit(git, root, from)?, commit(git, root, to)?);
        let git = &git.at(root);
        let base = fork(git, &from, &to)?;
        let before = list(git, &base)?;
        let changes = match self {
            Self::Since(_) => since(git, root, &base, &before.files)?,
            Self::Between(..) => {
                let after = list(git, &to)?;
                let files = between(git, &before.files, &after.files)?;
                ChangeSet { files, submodules: before.other_submodules(&after), ..ChangeSet::default() }
            }
        };
        Ok(ChangeSet { base: Some(base), ..changes })
    }
}

/// Returns the commit at which the second branched off the first; the first if they have none in common.
fn fork(git: &Git<'_>, from: &str, to: &str) -> Result<String, RangeError> {
    match git.run(Command::new(["merge-base", from, to])) {
        Ok(said) => {
            let first = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
            Ok(if first.is_empty() { from.to_owned() } else { first })
        }
        Err(GitError::Failed { code: Some(1), .. }) => Ok(from.to_owned()),
        Err(error) => Err(error.into()),
    }
}

fn between(git: &Git<'_>, before: &[Listed], after: &[Listed]) -> Result<Vec<FileChange>, RangeError> {
    let by_path = |all: &[Listed]| -> BTreeMap<RelPath, Listed> {
        all.iter().map(|one| (one.path.clone(), one.clone())).collect()
    };
    let (before, after) = (by_path(before), by_path(after));
    let differs = |path: &&RelPath| match (before.get(*path), after.get(*path)) {
        (Some(one), Some(two)) => one.object != two.object || one.kind != two.kind,
        (one, two) => one.is_some() != two.is_some(),
    };
    let mut paths: Vec<&RelPath> = before.keys().chain(after.keys()).filter(differs).collect();
    paths.sort();
    paths.dedup();
    bounded(paths.len(), 0)?;
    let side = |side: &BTreeMap<RelPath, Listed>| -> Result<BTreeMap<RelPath, Content>, RangeError> {
        contents(git, &paths.iter().filter_map(|path| side.get(*path).cloned()).collect::<Vec<_>>())
    };
    let (mut before, mut after) = (side(&before)?, side(&after)?);
    let change = |path: &RelPath| FileChange {
        path: path.clone(),
        before: before.remove(path),
        after: after.remove(path),
    };
    Ok(paths.into_iter().map(change).collect())
}

fn since(git: &Git<'_>, root: &Path, base: &str, before: &[Listed]) -> Result<ChangeSet, RangeError> {
    let changed = Changed::since(git, root, base)?;
    let relative = |path: &Path| {
        let below = path.strip_prefix(root).ok()?;
        RelPath::parse(below.as_os_str().as_bytes()).ok()
    };
    let mut paths: Vec<RelPath> = changed.paths().filter_map(relative).collect();
    paths.retain(|path| !path.is_reserved());
    paths.sort();
    paths.dedup();
    bounded(paths.len(), 0)?;
    let listed: Vec<Listed> =
        before.iter().filter(|one| paths.binary_search(&one.path).is_ok()).cloned().collect();
    let mut before = contents(git, &listed)?;
    let (mut set, mut bytes) = (ChangeSet::default(), 0);
    for path in paths {
        let after = on_disk(root, &path)?;
        bytes += after.as_ref().map_or(0, |content| content.bytes.len() as u64);
        bounded(0, bytes)?;
        match (before.remove(&path), after) {
            // Git lists it, and it is a file on neither side.
            (None, None) => set.submodules.push(path),
            (before, after) if before != after => set.files.push(FileChange { path, before, after }),
            (_, _) => {}
        }
    }
    Ok(set)
}

fn bounded(files: usize, bytes: u64) -> Result<(), RangeError> {
    if files > MOST_FILES || bytes > MOST_BYTES { Err(RangeError::TooLarge) } else { Ok(()) }
}

fn contents(git: &Git<'_>, listed: &[Listed]) -> Result<BTreeMap<RelPath, Content>, RangeError> {
    bounded(0, listed.iter().fold(0, |sum, one| sum.saturating_add(one.size)))?;
    let mut contents = BTreeMap::new();
    read_all(git, listed, |one, bytes| {
        contents.insert(one.path.clone(), Content { bytes, kind: one.kind });
        Ok::<_, RangeError>(())
    })?;
    Ok(contents)
}

/// Reads a file or a symlink of the working tree. A folder, such as an inner repository, and a path behind a symlink are
/// neither.
pub fn on_disk(root: &Path, path: &RelPath) -> Result<Option<Content>, DiskError> {
    let place = SafePath::below(root, path.as_path());
    let Some(stat) = place.stat()? else { return Ok(None) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let mode = if stat.st_mode & 0o100 == 0 { 0o644 } else { 0o755 };
            let bytes = place.read(MOST_BYTES)?;
            Ok(bytes.map(|bytes| Content { bytes, kind: Kind::File { mode } }))
        }
        FileType::Symlink => {
            let target = place.link_target()?;
            Ok(target.map(|bytes| Content { bytes, kind: Kind::Link }))
        }
        _ => Ok(None),
    }
}

/// Reads the files at and below some paths of a commit.
pub fn files_of(
    git: &Git<'_>,
    root: &Path,
    commit: &str,
    wanted: &[RelPath],
) -> Result<BTreeMap<RelPath, Content>, RangeError> {
    let git = &git.at(root);
    let is_wanted = |one: &Listed| one.path.lineage().any(|above| wanted.contains(&above));
    let listed: Vec<Listed> = list(git, commit)?.files.into_iter().filter(is_wanted).collect();
    bounded(listed.len(), 0)?;
    contents(git, &listed)
}

/// Stores all files of a commit, those of submodules left out.
pub fn store_commit(
    git: &Git<'_>,
    root: &Path,
    commit: &str,
    objects: &Objects,
) -> Result<Manifest, RangeError> {
    let git = &git.at(root);
    let listed = list(git, commit)?.files;
    stored(git, &listed, objects)
}

fn stored(git: &Git<'_>, listed: &[Listed], objects: &Objects) -> Result<Manifest, RangeError> {
    let mut entries = Vec::new();
    read_all(git, listed, |one, bytes| {
        objects.put(&bytes)?;
        entries.push(Entry { path: one.path.clone(), node: Content { bytes, kind: one.kind }.node() });
        Ok::<_, RangeError>(())
    })?;
    Ok(with_folders(entries).map_err(RevisionError::from)?)
}

/// A folder of a repository without one of its own folders.
#[derive(Clone, Debug)]
pub struct Part {
    /// The root of the repository.
    pub root: PathBuf,
    /// The path of the folder from there; none for the whole repository.
    pub folder: Option<RelPath>,
    /// The folder that is left out, by its path from the folder.
    pub without: RelPath,
}

impl Part {
    /// Lists the files of a commit, by their paths from the folder. Submodules are left out.
    fn list(&self, git: &Git<'_>, commit: &str) -> Result<Vec<Listed>, RangeError> {
        let below = |one: Listed| {
            let path = match &self.folder {
                Some(folder) => {
                    let rest = one.path.as_path().strip_prefix(folder.as_path()).ok()?;
                    RelPath::parse(rest.as_os_str().as_bytes()).ok()?
                }
                None => one.path,
            };
            let is_out = path.is_reserved() || path.lineage().any(|above| above == self.without);
            (!is_out).then_some(Listed { path, ..one })
        };
        Ok(list(&git.at(&self.root), commit)?.files.into_iter().filter_map(below).collect())
    }

    /// Returns whether two commits have the same files there.
    pub fn is_same(&self, git: &Git<'_>, one: &str, other: &str) -> Result<bool, RangeError> {
        let of = |commit: &str| -> Result<Vec<_>, RangeError> {
            let listed = self.list(git, commit)?;
            Ok(listed.into_iter().map(|one| (one.path, one.kind, one.object)).collect())
        };
        Ok(of(one)? == of(other)?)
    }
}

/// Stores the files that a commit has in a part of the repository.
pub fn store_part(
    git: &Git<'_>,
    part: &Part,
    commit: &str,
    limits: Limits,
    objects: &Objects,
) -> Result<Manifest, RangeError> {
    let listed = part.list(git, commit)?;
    let bytes = listed.iter().fold(0_u64, |sum, one| sum.saturating_add(one.size));
    if listed.len() as u64 > limits.files || bytes > limits.bytes {
        return Err(RangeError::LargePart(limits));
    }
    stored(&git.at(&part.root), &listed, objects)
}

impl ChangeSet {
    /// Stores the files after the change, which are those of `before` where nothing changed.
    pub fn store(&self, before: &Manifest, objects: &Objects) -> Result<Manifest, RangeError> {
        let changed: BTreeMap<&RelPath, &FileChange> =
            self.files.iter().map(|file| (&file.path, file)).collect();
        let kept = before
            .entries()
            .iter()
            .filter(|entry| !entry.node.is_folder() && !changed.contains_key(&entry.path));
        let mut entries: Vec<Entry> = kept.cloned().collect();
        for file in &self.files {
            let Some(after) = &file.after else { continue };
            if after.kind != Kind::Link {
                objects.put(&after.bytes)?;
            }
            entries.push(Entry { path: file.path.clone(), node: after.node() });
        }
        Ok(with_folders(entries).map_err(RevisionError::from)?)
    }
}
