//! Writes a manifest to a folder of our own: a workspace or an export, new or empty.

use std::path::{Path, PathBuf};

use super::manifest::{Entry, Manifest, Node};
use super::objects::{Content, ObjectError, Objects};
use super::path::RelPath;
use crate::disk::{DiskError, Folder, OnDisk, SafePath, set_mode};

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    #[error("{} was replaced while it was written", .0.display())]
    Replaced(PathBuf),
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Writes a tree into a folder that the user named, and creates it if it is missing. Reports each written entry.
pub fn place(
    objects: &Objects,
    manifest: &Manifest,
    into: &Path,
    written: impl FnMut(&Entry),
) -> Result<(), PlaceError> {
    let above = into.parent().filter(|above| !above.as_os_str().is_empty());
    above.map_or(Ok(()), std::fs::create_dir_all).on_disk("create", into)?;
    place_at(objects, manifest, &SafePath::from(into), written)
}

/// Writes a tree below a folder with untrusted content.
pub fn place_at(
    objects: &Objects,
    manifest: &Manifest,
    into: &SafePath,
    written: impl FnMut(&Entry),
) -> Result<(), PlaceError> {
    let root = into.make_folder()?;
    if !root.names(1)?.is_empty() {
        return Err(PlaceError::NotEmpty(root.path().to_path_buf()));
    }
    fill_telling(&root, objects, manifest, written)
}

/// Writes a tree into an empty folder.
pub(crate) fn fill(root: &Folder, objects: &Objects, manifest: &Manifest) -> Result<(), PlaceError> {
    fill_telling(root, objects, manifest, |_| {})
}

/// The modes of folders are set last, because some are read-only. Set-id and sticky bits are not written: programs in a
/// copy run with no additional rights.
fn fill_telling(
    root: &Folder,
    objects: &Objects,
    manifest: &Manifest,
    mut written: impl FnMut(&Entry),
) -> Result<(), PlaceError> {
    let mut site = Site { root, here: None };
    for entry in manifest.entries() {
        write(objects, site.folder_of(entry)?, entry)?;
        written(entry);
    }
    for entry in manifest.entries().iter().rev() {
        if let Node::Folder { mode } = entry.node {
            let child = site.folder_of(entry)?.child(entry.path.name())?;
            child.ok_or_else(|| replaced(root, entry))?.set_mode(mode & Node::RIGHTS)?;
        }
    }
    Ok(())
}

/// The end of the descent.
pub(super) enum Descent {
    Arrived(Folder),
    /// The entry at this path is missing or not a folder.
    Blocked(RelPath),
}

/// Opens the folder at `path` without following a symlink; `None` is the root itself.
pub(super) fn descend(root: &Folder, path: Option<&RelPath>) -> Result<Descent, DiskError> {
    let mut here = None;
    for step in path.iter().flat_map(|path| path.lineage()) {
        match here.as_ref().unwrap_or(root).child(step.name())? {
            Some(child) => here = Some(child),
            None => return Ok(Descent::Blocked(step)),
        }
    }
    here.map_or_else(|| root.again(), Ok).map(Descent::Arrived)
}

/// The folder being filled. It keeps the subfolder open that was used last, because siblings share it.
struct Site<'a> {
    root: &'a Folder,
    here: Option<(RelPath, Folder)>,
}

impl Site<'_> {
    /// Returns the folder that contains an entry.
    fn folder_of(&mut self, entry: &Entry) -> Result<&Folder, PlaceError> {
        let Some(path) = entry.path.parent() else { return Ok(self.root) };
        let kept = self.here.take().filter(|(open, _)| *open == path);
        let here = match kept {
            Some(here) => here,
            None => match descend(self.root, Some(&path))? {
                Descent::Arrived(folder) => (path, folder),
                Descent::Blocked(_) => return Err(replaced(self.root, entry)),
            },
        };
        Ok(&self.here.insert(here).1)
    }
}

fn write(objects: &Objects, folder: &Folder, Entry { path, node }: &Entry) -> Result<(), PlaceError> {
    match node {
        Node::Folder { .. } => folder.create_folder(path.name())?,
        Node::Link { target } => folder.create_link(path.name(), target)?,
        Node::File { blob, size, mode } => {
            let full = folder.path_of(path.name());
            let mut file = folder.create_file(path.name())?;
            objects.copy_to(Content { blob: *blob, size: *size }, &mut file, &full)?;
            set_mode(&file, *mode & Node::RIGHTS, &full)?;
        }
    }
    Ok(())
}

fn replaced(root: &Folder, entry: &Entry) -> PlaceError {
    PlaceError::Replaced(root.path().join(entry.path.as_path()))
}
