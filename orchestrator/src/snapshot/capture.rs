//! Turns a folder into its manifest: a walk that follows no symlink and stores the bytes or only hashes them.
//!
//! A user's folder is walked with [`IgnoreRules`]: ignored files are not read. An agent's workspace has no rules.

use std::ffi::OsStr;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::{BlobId, TreeId};

use super::ignored::IgnoreRules;
use super::index::{Index, Indexes};
use super::look::{CaptureError, Reading, look, look_in};
use super::manifest::{Entry, Manifest, Node};
use super::objects::Objects;
use super::path::RelPath;
use super::stamp::Stamp;
use super::temporary::Temporaries;
use crate::disk::Folder;

/// Each level holds a folder open: a deeper walk could run out of file descriptors.
pub(super) const DEEPEST: usize = 128;

/// Files that tools leave where they work: caches and downloaded packages.
pub(crate) const LEFT_BY_TOOLS: [&str; 8] = [
    ".DS_Store",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "node_modules",
    "venv",
];

/// The maximum content of a folder, because an agent may flood it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub files: u64,
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 200_000, bytes: 8 << 30 }
    }
}

impl Limits {
    /// Returns the limits of a folder that has these files already.
    pub(crate) fn besides(self, manifest: &Manifest) -> Self {
        let size = |entry: &Entry| match entry.node {
            Node::File { size, .. } => size,
            Node::Folder { .. } | Node::Link { .. } => 0,
        };
        let bytes = manifest.entries().iter().map(size).fold(self.bytes, u64::saturating_add);
        Self { files: self.files.saturating_add(manifest.entries().len() as u64), bytes }
    }
}

/// A folder as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    pub tree: TreeId,
    pub manifest: Manifest,
}

/// The content of a folder, with and without the folders in it that contain only ignored files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderState {
    pub manifest: Manifest,
    /// The folders that contain only ignored files. They are not in the manifest, because a replacement may have failed
    /// to remove them.
    all_ignored: Vec<Entry>,
}

impl FolderState {
    /// Returns the manifest, including those of these folders that are in this version too.
    pub fn as_in(&self, version: &Manifest) -> Manifest {
        let known =
            self.all_ignored.iter().filter(|entry| version.get(&entry.path).is_some_and(Node::is_folder));
        let entries = self.manifest.entries().iter().chain(known).cloned().collect();
        Manifest::new(entries).expect("a version has every folder above those it has")
    }
}

/// Stores the folder `root` without ignored files and without [`super::RESERVED`] names at its top.
pub fn capture(
    objects: &Objects,
    root: &Path,
    rules: Option<IgnoreRules>,
    limits: Limits,
) -> Result<Captured, CaptureError> {
    stored(objects, Walk::live(&Folder::open(root)?, rules, limits))
}

/// Stores an agent's output at `at` in its workspace. Any part of it may have been replaced meanwhile, so no symlink is
/// followed on the way.
pub fn capture_left(
    objects: &Objects,
    space: &Path,
    at: &str,
    skip: &[&str],
    limits: Limits,
) -> Result<Captured, CaptureError> {
    stored(objects, Walk { skip, ..Walk::of(&left(space, at)?, limits) })
}

/// Stores an edited copy of `start`, without files that tools added to it, and without new ones that these rules ignore.
pub fn capture_edited(
    objects: &Objects,
    space: &Path,
    at: &str,
    (start, rules): (&Manifest, Option<IgnoreRules>),
    limits: Limits,
) -> Result<Captured, CaptureError> {
    stored(objects, Walk { start: Some(start), rules, ..Walk::of(&left(space, at)?, limits) })
}

/// Returns the manifest that [`capture_edited`] would store, without storing anything.
pub fn scan_edited(
    space: &Path,
    at: &str,
    (start, rules): (&Manifest, Option<IgnoreRules>),
    limits: Limits,
) -> Result<Manifest, CaptureError> {
    Ok(Walk { start: Some(start), rules, ..Walk::of(&left(space, at)?, limits) }.go()?.manifest)
}

fn stored(objects: &Objects, walk: Walk<'_>) -> Result<Captured, CaptureError> {
    let manifest = Walk { store: Some(objects), ..walk }.go()?.manifest;
    Ok(Captured { tree: objects.put_manifest(&manifest)?, manifest })
}

/// Returns the manifest that [`capture`] would store, without storing anything.
pub fn scan(root: &Path, rules: Option<IgnoreRules>, limits: Limits) -> Result<Manifest, CaptureError> {
    Ok(Walk::live(&Folder::open(root)?, rules, limits).go()?.manifest)
}

/// Returns the manifest that [`capture_left`] would store, without storing anything.
pub fn scan_left(space: &Path, at: &str, limits: Limits) -> Result<Manifest, CaptureError> {
    Ok(Walk::of(&left(space, at)?, limits).go()?.manifest)
}

/// Captures for a folder that is captured repeatedly: unchanged files are not read again.
impl Indexes {
    pub fn capture(
        &self,
        objects: &Objects,
        root: &Path,
        rules: Option<IgnoreRules>,
        limits: Limits,
    ) -> Result<Captured, CaptureError> {
        let manifest = self.look_at(SystemTime::now(), objects, root, rules, limits)?.manifest;
        Ok(Captured { tree: objects.put_manifest(&manifest)?, manifest })
    }

    /// Stores the files but no manifest: which manifest is right depends on the expected version.
    pub fn look(
        &self,
        objects: &Objects,
        root: &Path,
        rules: Option<IgnoreRules>,
        limits: Limits,
    ) -> Result<FolderState, CaptureError> {
        self.look_at(SystemTime::now(), objects, root, rules, limits)
    }

    /// Writes nothing, the index included.
    pub fn scan(
        &self,
        root: &Path,
        rules: Option<IgnoreRules>,
        limits: Limits,
    ) -> Result<FolderState, CaptureError> {
        let index = self.open(root, SystemTime::now());
        Walk::indexed(&Folder::open(root)?, rules, limits, index).go()
    }

    /// The time only decides which files are settled enough to be listed.
    pub(super) fn look_at(
        &self,
        now: SystemTime,
        objects: &Objects,
        root: &Path,
        rules: Option<IgnoreRules>,
        limits: Limits,
    ) -> Result<FolderState, CaptureError> {
        let (index, voucher) = (self.open(root, now), objects.voucher());
        let unsure = (!index.is_vouched_by(voucher)).then_some(objects);
        let root = Folder::open(root)?;
        let of = Walk::indexed(&root, rules, limits, index);
        let mut walk = Walk { store: Some(objects), unsure, ..of };
        let state = walk.go()?;
        if let Some(index) = walk.index {
            index.save(voucher);
        }
        Ok(state)
    }
}

/// Opens the folder at `at` in a workspace; an empty path is the workspace itself.
pub(super) fn left(space: &Path, at: &str) -> Result<Folder, CaptureError> {
    let replaced = || CaptureError::Replaced(space.join(at));
    let mut here = Folder::open_itself(space)?.ok_or_else(replaced)?;
    for name in at.split('/').filter(|name| !name.is_empty()) {
        here = here.child(OsStr::new(name))?.ok_or_else(replaced)?;
    }
    Ok(here)
}

/// An entry of a folder before it is inspected. Some file systems do not report which entries are folders.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    path: RelPath,
    is_folder: Option<bool>,
}

struct Walk<'a> {
    root: &'a Folder,
    skip: &'a [&'a str],
    /// The version that was edited: files of tools count only if this version has them.
    start: Option<&'a Manifest>,
    rules: Option<IgnoreRules>,
    /// The names that only a crash of ours can have left; a workspace has none.
    temporaries: Option<Temporaries>,
    limits: Limits,
    left: Limits,
    store: Option<&'a Objects>,
    index: Option<Index>,
    /// The store, if the index cannot guarantee that it still contains the listed objects.
    unsure: Option<&'a Objects>,
    entries: Vec<Entry>,
    all_ignored: Vec<Entry>,
}

impl<'a> Walk<'a> {
    fn of(root: &'a Folder, limits: Limits) -> Self {
        Self {
            root,
            skip: &[],
            start: None,
            rules: None,
            temporaries: None,
            limits,
            left: limits,
            store: None,
            index: None,
            unsure: None,
            entries: Vec::new(),
            all_ignored: Vec::new(),
        }
    }

    /// Walks a folder in which a replacement may have been killed.
    fn live(root: &'a Folder, rules: Option<IgnoreRules>, limits: Limits) -> Self {
        Self { rules, temporaries: Some(Temporaries::of(root.path())), ..Self::of(root, limits) }
    }

    fn indexed(root: &'a Folder, rules: Option<IgnoreRules>, limits: Limits, index: Index) -> Self {
        let temporaries = Some(Temporaries::named(index.root_hash()));
        Self { rules, temporaries, index: Some(index), ..Self::of(root, limits) }
    }

    fn go(&mut self) -> Result<FolderState, CaptureError> {
        self.folder(self.root, None, 1)?;
        let (entries, all_ignored) =
            (std::mem::take(&mut self.entries), std::mem::take(&mut self.all_ignored));
        let manifest = Manifest::new(entries).expect("a walk lists every folder before what is in it, once");
        Ok(FolderState { manifest, all_ignored })
    }

    /// Returns true if something in the folder is ignored.
    fn folder(&mut self, folder: &Folder, at: Option<&RelPath>, depth: usize) -> Result<bool, CaptureError> {
        // Ignored files count only in their own folder: a listing needs a limit.
        let most = usize::try_from(self.limits.files).unwrap_or(usize::MAX);
        let listed = |name: &OsStr, kind| Listed {
            path: RelPath::below(at, name).expect("a listed name is a single component"),
            is_folder: (kind != FileType::Unknown).then_some(kind == FileType::Directory),
        };
        let entries = folder.sorted(most.saturating_add(1), listed)?;
        if entries.len() > most {
            return Err(self.too_large());
        }
        let mut has_ignored = false;
        for listed in entries {
            if !(at.is_none() && self.skips(&listed.path) || self.is_left_by_tools(&listed.path)) {
                has_ignored |= self.entry(folder, listed, depth)?;
            }
        }
        Ok(has_ignored)
    }

    /// Returns true if the entry is ignored or contains only ignored files.
    fn entry(&mut self, folder: &Folder, listed: Listed, depth: usize) -> Result<bool, CaptureError> {
        let Listed { path, is_folder } = listed;
        // Most ignored files need no stat.
        if let Some(is_folder) = is_folder
            && self.ignores(&path, is_folder)?
        {
            return Ok(true);
        }
        let name = path.name();
        let changed = || CaptureError::Changing(folder.path_of(name));
        let stat = folder.stat(name)?.ok_or_else(changed)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if is_folder.is_none() && self.ignores(&path, kind == FileType::Directory)? {
            return Ok(true);
        }
        self.left.files = self.left.files.checked_sub(1).ok_or_else(|| self.too_large())?;
        let node = match kind {
            FileType::Directory if depth == DEEPEST => {
                return Err(CaptureError::TooDeep(folder.path_of(name)));
            }
            FileType::Directory => {
                let child = folder.child(name)?.ok_or_else(changed)?;
                return self.child(&child, &path, depth + 1);
            }
            _ if self.temporaries.as_ref().is_some_and(|ours| ours.own(name)) => return Ok(false),
            FileType::RegularFile => self.file(folder, &path, &stat)?,
            _ => look(folder, name, self.reading())?.ok_or_else(changed)?,
        };
        self.entries.push(Entry { path, node });
        Ok(false)
    }

    /// Adds a folder and its contents; returns true if it contains only ignored files.
    fn child(&mut self, child: &Folder, path: &RelPath, depth: usize) -> Result<bool, CaptureError> {
        let node = Node::Folder { mode: child.mode()? };
        self.entries.push(Entry { path: path.clone(), node });
        let before = self.entries.len();
        let is_all_ignored = self.folder(child, Some(path), depth)? && self.entries.len() == before;
        let was_there = self.start.is_some_and(|start| start.get(path).is_some());
        if is_all_ignored && !was_there {
            self.all_ignored.extend(self.entries.pop());
        }
        Ok(is_all_ignored)
    }

    fn ignores(&mut self, path: &RelPath, is_folder: bool) -> Result<bool, CaptureError> {
        match &mut self.rules {
            Some(rules) => Ok(rules.ignores(path, is_folder)?),
            None => Ok(false),
        }
    }

    /// Returns a file's node from the index, or reads the file.
    fn file(&mut self, folder: &Folder, path: &RelPath, stat: &Stat) -> Result<Node, CaptureError> {
        if let Some(node) = self.known(path, &Stamp::of(stat)) {
            return Ok(node);
        }
        let (node, stamp) = look_in(folder, path.name(), self.reading())?;
        if let (Some(index), Node::File { blob, .. }) = (&mut self.index, &node) {
            index.learn(path, &stamp, *blob);
        }
        self.left.bytes = self.left.bytes.saturating_sub(stamp.size);
        Ok(node)
    }

    fn known(&mut self, path: &RelPath, stamp: &Stamp) -> Option<Node> {
        let left = self.left.bytes.checked_sub(stamp.size)?;
        let is_stored = |blob: BlobId| self.unsure.is_none_or(|objects| objects.holds(blob.0, stamp.size));
        let blob = self.index.as_mut()?.find(path, stamp, is_stored)?;
        self.left.bytes = left;
        Some(Node::File { blob, size: stamp.size, mode: stamp.mode() })
    }

    fn reading(&self) -> Reading<'a> {
        Reading { store: self.store, at_most: self.left.bytes }
    }

    fn skips(&self, path: &RelPath) -> bool {
        path.is_reserved() || self.skip.iter().any(|name| path.as_bytes() == name.as_bytes())
    }

    fn is_left_by_tools(&self, path: &RelPath) -> bool {
        let is_theirs = |name: &[u8]| LEFT_BY_TOOLS.iter().any(|theirs| name == theirs.as_bytes());
        self.start.is_some_and(|start| {
            path.as_bytes().split(|byte| *byte == b'/').any(is_theirs) && start.get(path).is_none()
        })
    }

    fn too_large(&self) -> CaptureError {
        CaptureError::TooLarge(self.root.path().to_path_buf())
    }
}

#[cfg(test)]
mod tests;
