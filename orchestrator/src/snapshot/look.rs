//! What stands at a name, read once and without following: the one place that turns a file into a [`Node`].

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::folder::Folder;
use super::manifest::Node;
use super::objects::{Content, ObjectError, Objects, hash_reader};
use crate::disk::{DiskError, OnDisk};

/// How often a file that changes under our eyes is read again before we give up.
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
    #[error("{} is neither a file nor a folder nor a link", .0.display())]
    Special(PathBuf),
    #[error("{} changes while it is read", .0.display())]
    Changing(PathBuf),
    #[error("{} is more than the limits allow", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is nested too deeply", .0.display())]
    TooDeep(PathBuf),
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The node of that name, or `None` when there is none.
pub(super) fn look(
    folder: &Folder,
    name: &OsStr,
    reading: Reading<'_>,
) -> Result<Option<Node>, CaptureError> {
    let Some(kind) = folder.kind(name)? else { return Ok(None) };
    let changed = || CaptureError::Changing(folder.path_of(name));
    let node = match kind {
        FileType::RegularFile => read(&mut folder.open_file(name)?, &folder.path_of(name), reading)?,
        FileType::Directory => Node::Folder { mode: folder.child(name)?.ok_or_else(changed)?.mode()? },
        FileType::Symlink => Node::Link { target: folder.read_link(name)? },
        _ => return Err(CaptureError::Special(folder.path_of(name))),
    };
    Ok(Some(node))
}

/// Reads an open file, again if it changed meanwhile: size, hash and mode belong to one moment.
pub(super) fn read(file: &mut File, path: &Path, reading: Reading<'_>) -> Result<Node, CaptureError> {
    for _ in 0..TRIES {
        let before = file.metadata().on_disk("look at", path)?;
        if !before.is_file() {
            return Err(CaptureError::Special(path.to_path_buf()));
        }
        if before.len() > reading.at_most {
            return Err(CaptureError::TooLarge(path.to_path_buf()));
        }
        // One byte more than there should be: a file that grows without end must not hold us.
        let bounded = file.by_ref().take(before.len() + 1);
        let Content { blob, size } = match reading.store {
            None => hash_reader(bounded, before.len(), path)?,
            Some(objects) => objects.put_reader(bounded, before.len(), path)?,
        };
        let after = file.metadata().on_disk("look at", path)?;
        if size == before.len() && moment(&before) == moment(&after) {
            return Ok(Node::File { blob, size, mode: after.mode() & Node::MODE_BITS });
        }
        file.rewind().on_disk("read", path)?;
    }
    Err(CaptureError::Changing(path.to_path_buf()))
}

fn moment(metadata: &Metadata) -> (u64, i64, i64, i64, i64, u32) {
    let (written, changed) = (metadata.mtime(), metadata.ctime());
    (metadata.len(), written, metadata.mtime_nsec(), changed, metadata.ctime_nsec(), metadata.mode())
}
