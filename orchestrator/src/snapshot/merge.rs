//! Merges three versions of a folder: the changes of each side since the base, or the list of conflicts.
//!
//! The result is the same as of `git merge-tree` without renames. Paths are merged one by one: if one side changed
//! nothing, the other side's version is taken, and a text file that both changed is merged line by line (`text`). Empty
//! folders and all twelve mode bits count too. If there are conflicts, there is no merged tree, so nothing half-merged
//! can be placed, and no file ever contains conflict markers.

mod histogram;
mod slide;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use skilltune_phases::base::id::{BlobId, TreeId};

use super::manifest::{Entry, Manifest, Node};
use super::objects::{ObjectError, Objects};
use super::path::RelPath;

pub(crate) use text::{MOST_BYTES as MOST_MERGED, merge as merge_lines};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The id of the merged tree in the store.
    Clean(TreeId),
    /// At least one, sorted by path.
    Conflicts(Vec<Conflict>),
}

/// A path that the two sides changed in incompatible ways. The contents of all versions are in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub path: RelPath,
    pub kind: ConflictKind,
    pub base: Option<Node>,
    pub ours: Option<Node>,
    pub theirs: Option<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// Changes to the same or adjacent lines of a text.
    Text,
    Binary,
    /// A file that is too large to merge line by line.
    TooLarge,
    Mode,
    /// A symlink with different targets.
    Link,
    /// A file on one side, a symlink on the other.
    Type,
    /// Changed on one side, deleted on the other.
    Deleted,
    /// A file or a symlink on one side, a folder on the other.
    Folder,
}

impl ConflictKind {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Text => "both changed the same lines",
            Self::Binary => "both changed it, and it is not text",
            Self::TooLarge => "both changed it, and it is too large to merge",
            Self::Mode => "both changed its mode",
            Self::Link => "both changed where the symlink points",
            Self::Type => "it is a file in one and a symlink in the other",
            Self::Deleted => "one changed it and the other deleted it",
            Self::Folder => "it is a folder in only one of the two",
        }
    }
}

/// Puts versions of a folder, each with its changes since `base`, on another version. Fails with the conflicts of the first
/// one that does not go together with it.
pub fn rebase(
    objects: &Objects,
    base: TreeId,
    onto: TreeId,
    versions: &[TreeId],
) -> Result<Result<Vec<TreeId>, Vec<Conflict>>, ObjectError> {
    let mut rebased = Vec::new();
    for version in versions {
        match merge(objects, base, onto, *version)? {
            Merged::Clean(tree) => rebased.push(tree),
            Merged::Conflicts(conflicts) => return Ok(Err(conflicts)),
        }
    }
    Ok(Ok(rebased))
}

/// Merges the changes of `ours` and `theirs` since `base`.
pub fn merge(objects: &Objects, base: TreeId, ours: TreeId, theirs: TreeId) -> Result<Merged, ObjectError> {
    let three = [objects.manifest(base)?, objects.manifest(ours)?, objects.manifest(theirs)?];
    let mut merge = Merge { objects, three: &three, nodes: BTreeMap::new(), conflicts: BTreeMap::new() };
    // A path that only the base has is in no result.
    for (path, ours, theirs) in three[1].beside(&three[2]) {
        match ours.filter(|_| ours == theirs) {
            Some(same) => drop(merge.nodes.insert(path.clone(), same.clone())),
            None => merge.path(path)?,
        }
    }
    merge.connect();
    if !merge.conflicts.is_empty() {
        return Ok(Merged::Conflicts(merge.conflicts()));
    }
    let entries = merge.nodes.into_iter().map(|(path, node)| Entry { path, node }).collect();
    let manifest = Manifest::new(entries).expect("every entry stands in a folder, once");
    objects.put_manifest(&manifest).map(Merged::Clean)
}

struct Merge<'a> {
    objects: &'a Objects,
    /// The base, ours and theirs.
    three: &'a [Manifest; 3],
    nodes: BTreeMap<RelPath, Node>,
    conflicts: BTreeMap<RelPath, ConflictKind>,
}

impl Merge<'_> {
    /// Folders are merged separately from files and symlinks at a path: a file may make room for a folder.
    fn path(&mut self, path: &RelPath) -> Result<(), ObjectError> {
        let three = self.versions(path);
        let folder = folder(three.map(|node| node.filter(|node| node.is_folder())));
        let leaf = self.leaf(three.map(|node| node.filter(|node| !node.is_folder())))?;
        let merged = match (folder, leaf) {
            (Ok(Some(_)), Ok(Some(_))) => Err(ConflictKind::Folder),
            (Ok(node), Ok(None)) | (Ok(None), Ok(node)) => Ok(node),
            (_, Err(kind)) | (Err(kind), _) => Err(kind),
        };
        match merged {
            Ok(Some(node)) => drop(self.nodes.insert(path.clone(), node)),
            Ok(None) => {}
            Err(kind) => drop(self.conflicts.insert(path.clone(), kind)),
        }
        Ok(())
    }

    /// The base, ours and theirs.
    fn versions(&self, path: &RelPath) -> [Option<&Node>; 3] {
        self.three.each_ref().map(|manifest| manifest.get(path))
    }

    /// Merges a file or a symlink.
    fn leaf(&self, three: [Option<&Node>; 3]) -> Result<Result<Option<Node>, ConflictKind>, ObjectError> {
        if let Some(node) = undisputed(three) {
            return Ok(Ok(node.cloned()));
        }
        let merged = match three {
            [base, Some(ours), Some(theirs)] => {
                match (File::of(base), File::of(Some(ours)), File::of(Some(theirs))) {
                    (base, Some(ours), Some(theirs)) => self.file(base, ours, theirs)?.map(Some),
                    (_, None, None) => Err(ConflictKind::Link),
                    (_, Some(_), None) | (_, None, Some(_)) => Err(ConflictKind::Type),
                }
            }
            [_, None, _] | [_, _, None] => Err(ConflictKind::Deleted),
        };
        Ok(merged)
    }

    fn file(
        &self,
        base: Option<File>,
        ours: File,
        theirs: File,
    ) -> Result<Result<Node, ConflictKind>, ObjectError> {
        let blobs = [base.map(|file| file.blob), Some(ours.blob), Some(theirs.blob)];
        let (blob, size) = match undisputed(blobs).flatten() {
            Some(blob) if blob == ours.blob => (blob, ours.size),
            Some(blob) => (blob, theirs.size),
            None => match self.text(base, ours, theirs)? {
                Ok(text) => (self.objects.put(&text)?, text.len() as u64),
                Err(kind) => return Ok(Err(kind)),
            },
        };
        let mode = undisputed([base.map(|file| file.mode), Some(ours.mode), Some(theirs.mode)]).flatten();
        Ok(mode.map(|mode| Node::File { blob, size, mode }).ok_or(ConflictKind::Mode))
    }

    /// The base of a file that is new on both sides is empty.
    fn text(
        &self,
        base: Option<File>,
        ours: File,
        theirs: File,
    ) -> Result<Result<Vec<u8>, ConflictKind>, ObjectError> {
        if [base, Some(ours), Some(theirs)].into_iter().flatten().any(|file| file.size > text::MOST_BYTES) {
            return Ok(Err(ConflictKind::TooLarge));
        }
        let base = base.map(|file| self.objects.read(file.blob)).transpose()?.unwrap_or_default();
        let (ours, theirs) = (self.objects.read(ours.blob)?, self.objects.read(theirs.blob)?);
        Ok(text::merge(&base, &ours, &theirs))
    }

    /// Adds the missing folders of every entry: one side may have deleted a folder in which the other added a file, or
    /// replaced it with a file.
    fn connect(&mut self) {
        let remaining = self.nodes.keys().chain(self.conflicts.keys());
        let parents: BTreeSet<RelPath> = remaining.filter_map(RelPath::parent).collect();
        let above: BTreeSet<RelPath> = parents.iter().flat_map(RelPath::lineage).collect();
        for path in above {
            match self.nodes.get(&path) {
                _ if self.conflicts.contains_key(&path) => {}
                Some(Node::Folder { .. }) => {}
                Some(Node::File { .. } | Node::Link { .. }) => {
                    self.conflicts.insert(path, ConflictKind::Folder);
                }
                None => {
                    let [base, ours, theirs] = self.versions(&path);
                    let folder =
                        [ours, theirs, base].into_iter().flatten().find(|node| node.is_folder()).cloned();
                    self.nodes.insert(path, folder.expect("one of the versions has an entry in it"));
                }
            }
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let conflict = |(path, kind): (&RelPath, &ConflictKind)| {
            let [base, ours, theirs] = self.versions(path).map(Option::<&Node>::cloned);
            Conflict { path: path.clone(), kind: *kind, base, ours, theirs }
        };
        self.conflicts.iter().map(conflict).collect()
    }
}

#[derive(Clone, Copy)]
struct File {
    blob: BlobId,
    size: u64,
    mode: u32,
}

impl File {
    fn of(node: Option<&Node>) -> Option<Self> {
        match node? {
            Node::File { blob, size, mode } => Some(Self { blob: *blob, size: *size, mode: *mode }),
            Node::Folder { .. } | Node::Link { .. } => None,
        }
    }
}

/// Returns the value that both sides agree on, or that of the only side that changed it.
fn undisputed<T: PartialEq>([base, ours, theirs]: [T; 3]) -> Option<T> {
    if ours == theirs || base == theirs {
        Some(ours)
    } else if base == ours {
        Some(theirs)
    } else {
        None
    }
}

/// A folder that one side deleted is removed, even if the other side changed its mode; `connect` restores it if it
/// contains anything.
fn folder(three: [Option<&Node>; 3]) -> Result<Option<Node>, ConflictKind> {
    match (undisputed(three), three) {
        (Some(node), _) => Ok(node.cloned()),
        (None, [_, Some(_), Some(_)]) => Err(ConflictKind::Mode),
        (None, _) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
