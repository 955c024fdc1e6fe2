//! The files of a commit: their list, and their contents from one `git cat-file --batch`.
//!
//! The repository may be hostile: git's output is checked.

use std::collections::{BTreeMap, BTreeSet};

use skilltune_phases::base::id::{BlobId, Digest};

use super::runner::{Command, Git, GitError};
use super::tree::{self, Mode};
use crate::snapshot::{Entry, Manifest, ManifestError, Node, RelPath};

/// The bytes of a file, or the target of a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File { mode: u32 },
    Link,
}

#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    #[error("git cannot read it: {0}")]
    Git(GitError),
    #[error("{0:?} holds a submodule, whose files the repository does not have")]
    Submodule(String),
    #[error("it has more than {MOST_FILES} files or {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error("cannot parse the output of git")]
    Garbled,
    #[error("it cannot be stored as a folder")]
    Manifest(#[from] ManifestError),
}

impl From<GitError> for RevisionError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::TooLarge => Self::TooLarge,
            error => Self::Git(error),
        }
    }
}

/// More than any skill has.
pub(super) const MOST_FILES: usize = 10_000;
pub(super) const MOST_BYTES: u64 = 64 << 20;
/// The size of the list of the most files that are read.
const LIST_BYTES: u64 = 16 << 20;
/// The bytes that git writes before and after each content.
const FRAME: u64 = 128;
/// The contents that are read at once.
const PART_BYTES: u64 = 16 << 20;

/// A file or a symlink of a commit.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub path: RelPath,
    pub kind: Kind,
    pub object: String,
    pub size: u64,
}

/// The content of a commit.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub files: Vec<Listed>,
    /// The commit of each submodule, whose files the repository does not have.
    submodules: BTreeMap<RelPath, String>,
}

impl Tree {
    /// Returns the files of a tree that has no submodule and is small enough.
    pub(super) fn whole(self) -> Result<Vec<Listed>, RevisionError> {
        if let Some(path) = self.submodules.keys().next() {
            return Err(RevisionError::Submodule(path.to_string()));
        }
        let bytes = self.files.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.size));
        let is_small = self.files.len() <= MOST_FILES && bytes.is_some_and(|bytes| bytes <= MOST_BYTES);
        if is_small { Ok(self.files) } else { Err(RevisionError::TooLarge) }
    }

    /// Returns the submodules that differ from those of another commit.
    pub(super) fn other_submodules(&self, other: &Self) -> Vec<RelPath> {
        let paths: BTreeSet<&RelPath> = self.submodules.keys().chain(other.submodules.keys()).collect();
        let differs = |path: &&RelPath| self.submodules.get(*path) != other.submodules.get(*path);
        paths.into_iter().filter(differs).cloned().collect()
    }
}

/// Lists all files of a commit.
pub(super) fn list(git: &Git<'_>, commit: &str) -> Result<Tree, RevisionError> {
    listed(&run_list(git, commit)?)
}

pub(super) fn run_list(git: &Git<'_>, tree: &str) -> Result<Vec<u8>, GitError> {
    git.run(Command::new(["ls-tree", "--full-tree", "-r", "-z", "-l", tree]).most(LIST_BYTES))
}

pub(super) fn listed(list: &[u8]) -> Result<Tree, RevisionError> {
    let mut tree = Tree::default();
    for one in tree::entries(list) {
        let tree::Listed { path, blob, size } = one.ok_or(RevisionError::Garbled)?;
        let path = RelPath::parse(path).map_err(|_| RevisionError::Garbled)?;
        let kind = match blob.mode {
            Mode::Submodule => {
                tree.submodules.insert(path, blob.id);
                continue;
            }
            Mode::Link => Kind::Link,
            Mode::Program => Kind::File { mode: 0o755 },
            Mode::File => Kind::File { mode: 0o644 },
        };
        let size = size.ok_or(RevisionError::Garbled)?;
        // Like a capture of a folder on the disk.
        if !path.is_reserved() {
            tree.files.push(Listed { path, kind, object: blob.id, size });
        }
    }
    Ok(tree)
}

/// Reads the contents of some files in parts of bounded size, in their order.
pub(super) fn read_all<E: From<RevisionError>>(
    git: &Git<'_>,
    listed: &[Listed],
    mut each: impl FnMut(&Listed, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut rest = listed;
    while !rest.is_empty() {
        let mut size = 0_u64;
        let fits = |one: &&Listed| {
            size = size.saturating_add(one.size).saturating_add(FRAME);
            size <= PART_BYTES
        };
        // A file that is larger than a part is a part of its own.
        let count = rest.iter().take_while(fits).count().max(1);
        let (part, others) = rest.split_at(count);
        rest = others;
        let asked: String = part.iter().flat_map(|one| [one.object.as_str(), "\n"]).collect();
        let size = part.iter().map(|one| one.size + FRAME).sum();
        let batch = git.run(Command::new(["cat-file", "--batch"]).input(asked).most(size));
        let batch = batch.map_err(RevisionError::from)?;
        let mut bytes = batch.as_slice();
        for one in part {
            each(one, content(one, &mut bytes)?)?;
        }
    }
    Ok(())
}

/// Parses the next content: `ID blob SIZE\n`, the bytes, `\n`.
pub(super) fn content(one: &Listed, rest: &mut &[u8]) -> Result<Vec<u8>, RevisionError> {
    let header = format!("{} blob {}\n", one.object, one.size);
    let size = usize::try_from(one.size).map_err(|_| RevisionError::TooLarge)?;
    let after = rest.strip_prefix(header.as_bytes()).ok_or(RevisionError::Garbled)?;
    let (content, after) = after.split_at_checked(size).ok_or(RevisionError::Garbled)?;
    *rest = after.strip_prefix(b"\n").ok_or(RevisionError::Garbled)?;
    Ok(content.to_vec())
}

/// Returns the manifest of these files and of their folders.
pub(super) fn with_folders(mut entries: Vec<Entry>) -> Result<Manifest, ManifestError> {
    let folders: BTreeSet<RelPath> = entries
        .iter()
        .filter_map(|one| one.path.parent())
        .flat_map(|parent| parent.lineage().collect::<Vec<_>>())
        .collect();
    let folder = |path| Entry { path, node: Node::Folder { mode: 0o755 } };
    entries.extend(folders.into_iter().map(folder));
    Manifest::new(entries)
}

/// Returns the words for a symlink, which is reviewed as a text.
pub fn link_text(target: &[u8]) -> String {
    format!("symbolic link to {}\n", String::from_utf8_lossy(target))
}

impl Content {
    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|text| !text.contains('\0'))
    }

    pub(super) fn node(&self) -> Node {
        match self.kind {
            Kind::Link => Node::Link { target: self.bytes.clone() },
            Kind::File { mode } => {
                let (blob, size) = (BlobId(Digest::of(&self.bytes)), self.bytes.len() as u64);
                Node::File { blob, size, mode }
            }
        }
    }
}
