//! Reads the entry at a name once, without following a symlink: the one place that turns a file into a [`Node`].

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::ignored::RulesError;
use super::manifest::Node;
use super::objects::{Content, ObjectError, Objects, hash_reader};
use super::stamp::Stamp;
use crate::disk::{DiskError, Folder, OnDisk};

/// How often to read a file again that changes while it is read.
const TRIES: usize = 3;

/// How a file is read: stored or only hashed, and up to which size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    pub store: Option<&'a Objects>,
    pub at_most: u64,
}

impl<'a> Reading<'a> {
    pub(super) const HASHING: Self = Self { store: None, at_most: u64::MAX };

    pub(super) fn storing(objects: &'a Objects) -> Self {
        Self { store: Some(objects), ..Self::HASHING }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("{} is not a file, folder or symlink", .0.display())]
    Special(PathBuf),
    #[error("{} changed while it was read", .0.display())]
    Changing(PathBuf),
    #[error("{} exceeds the limits", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is nested too deeply", .0.display())]
    TooDeep(PathBuf),
    /// A path that was a folder in an agent's workspace.
    #[error("{} is no longer a folder", .0.display())]
    Replaced(PathBuf),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Returns the node with that name, or `None` if it is missing.
pub(super) fn look(
    folder: &Folder,
    name: &OsStr,
    reading: Reading<'_>,
) -> Result<Option<Node>, CaptureError> {
    let Some(stat) = folder.stat(name)? else { return Ok(None) };
    let changed = || CaptureError::Changing(folder.path_of(name));
    let node = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => look_in(folder, name, reading)?.0,
        FileType::Directory => Node::Folder { mode: folder.child(name)?.ok_or_else(changed)?.mode()? },
        FileType::Symlink => Node::Link { target: folder.read_link(name)? },
        _ => return Err(CaptureError::Special(folder.path_of(name))),
    };
    Ok(Some(node))
}

/// Reads a file, and reads it again if it changed meanwhile: size, hash and mode are from the moment of the stamp.
pub(super) fn look_in(
    folder: &Folder,
    name: &OsStr,
    reading: Reading<'_>,
) -> Result<(Node, Stamp), CaptureError> {
    let (mut file, path) = (folder.open_file(name)?, folder.path_of(name));
    for _ in 0..TRIES {
        let before = stamp(&file, &path)?;
        if before.size > reading.at_most {
            return Err(CaptureError::TooLarge(path));
        }
        // One byte more than expected: a file that grows forever must not block us.
        let bounded = file.by_ref().take(before.size + 1);
        let Content { blob, size } = match reading.store {
            None => hash_reader(bounded, before.size, &path)?,
            Some(objects) => objects.put_reader(bounded, before.size, &path)?,
        };
        if size == before.size && stamp(&file, &path)? == before {
            return Ok((Node::File { blob, size, mode: before.mode() }, before));
        }
        file.rewind().on_disk("read", &path)?;
    }
    Err(CaptureError::Changing(path))
}

fn stamp(file: &File, path: &Path) -> Result<Stamp, CaptureError> {
    let stat = rustix::fs::fstat(file).on_disk("access", path)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Stamp::of(&stat)),
        _ => Err(CaptureError::Special(path.to_path_buf())),
    }
}
