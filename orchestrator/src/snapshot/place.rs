//! From a manifest to a folder of our own: a workspace or an export, new or empty.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folder::{Descent, Folder, set_mode};
use super::manifest::{Entry, Manifest, Node};
use super::objects::{ObjectError, Objects};
use super::path::RelPath;
use crate::disk::{DiskError, OnDisk};

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    #[error("{} was replaced while it was filled", .0.display())]
    Replaced(PathBuf),
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Writes a tree into a folder, which is made when missing; modes of folders come last, for some are read-only.
pub fn place(objects: &Objects, manifest: &Manifest, into: &Path) -> Result<(), PlaceError> {
    let root = empty(into)?;
    let mut site = Site { root: &root, here: None };
    for entry in manifest.entries() {
        write(objects, site.folder_of(entry)?, entry)?;
    }
    for entry in manifest.entries().iter().rev() {
        if let Node::Folder { mode } = entry.node {
            let child = site.folder_of(entry)?.child(entry.path.name())?;
            child.ok_or_else(|| replaced(&root, entry))?.set_mode(mode)?;
        }
    }
    Ok(())
}

/// The folder, which nothing is in.
fn empty(into: &Path) -> Result<Folder, PlaceError> {
    let made = match fs::create_dir(into) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            into.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::create_dir(into))
        }
        made => made,
    };
    let was_there = match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => true,
        made => made.on_disk("create", into).map(|()| false)?,
    };
    let root = Folder::open(into)?;
    if was_there && !root.names(1)?.is_empty() {
        return Err(PlaceError::NotEmpty(into.to_path_buf()));
    }
    Ok(root)
}

/// The folder being filled, with the one of its folders open that was asked for last: neighbours share it.
struct Site<'a> {
    root: &'a Folder,
    here: Option<(RelPath, Folder)>,
}

impl Site<'_> {
    /// The folder that holds an entry.
    fn folder_of(&mut self, entry: &Entry) -> Result<&Folder, PlaceError> {
        let Some(path) = entry.path.parent() else { return Ok(self.root) };
        let kept = self.here.take().filter(|(open, _)| *open == path);
        let here = match kept {
            Some(here) => here,
            None => match self.root.descend(Some(&path))? {
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
        Node::File { blob, mode, .. } => {
            let full = folder.path_of(path.name());
            let mut file = folder.create_file(path.name())?;
            objects.copy_to(*blob, &mut file, &full)?;
            set_mode(&file, *mode, &full)?;
        }
    }
    Ok(())
}

fn replaced(root: &Folder, entry: &Entry) -> PlaceError {
    PlaceError::Replaced(root.path().join(entry.path.as_path()))
}
