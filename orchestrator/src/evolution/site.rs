//! The way down, and the files there: links refused, pipes never waited for, sizes bounded.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};

use rustix::fs::FileType;

use super::LARGEST;
use super::error::{EvolutionError, Kind};
use crate::disk::{DiskError, Folder, OnDisk as _};

/// A file on its way to its name; only the run that owns the folder makes one.
const DRAFT: &str = ".skilltune-tmp-draft-";

/// The folder of that name, or nothing where nothing is.
pub(super) fn step_down(folder: &Folder, name: &OsStr) -> Result<Option<Folder>, EvolutionError> {
    if let Some(child) = folder.child(name)? {
        return Ok(Some(child));
    }
    match kind(folder, name)? {
        None => Ok(None),
        Some(kind) => Err(EvolutionError::NoFolder { path: folder.path_of(name), kind }),
    }
}

pub(super) fn step_down_or_make(folder: &Folder, name: &OsStr) -> Result<Folder, EvolutionError> {
    if let Some(child) = step_down(folder, name)? {
        return Ok(child);
    }
    match folder.make_folder(name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        // Whoever was faster made it, and what they made is looked at.
        _ => {}
    }
    let gone =
        || DiskError { op: "open", path: folder.path_of(name), source: io::ErrorKind::NotFound.into() };
    Ok(step_down(folder, name)?.ok_or_else(gone)?)
}

/// Whether a plain file has that name; anything else is in the way.
pub(super) fn is_there(folder: &Folder, name: &OsStr) -> Result<bool, EvolutionError> {
    match kind(folder, name)? {
        None => Ok(false),
        Some(Kind::File) => Ok(true),
        Some(kind) => Err(EvolutionError::NoFile { path: folder.path_of(name), kind }),
    }
}

/// The bytes of a plain file, or nothing where none is.
pub(super) fn read(folder: &Folder, name: &OsStr) -> Result<Option<Vec<u8>>, EvolutionError> {
    // Looked at first, for to open a device may do something.
    if !is_there(folder, name)? {
        return Ok(None);
    }
    let (file, path) = (folder.open_file(name)?, folder.path_of(name));
    let meta = file.metadata().on_disk("look at", &path)?;
    if !meta.is_file() {
        return Err(EvolutionError::NoFile { path, kind: Kind::Special });
    }
    let mut bytes = Vec::new();
    // One byte more tells a file that grows while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).on_disk("read", &path)?;
    if bytes.len() as u64 > LARGEST {
        return Err(EvolutionError::TooLarge(path));
    }
    Ok(Some(bytes))
}

/// Writes a file that has yet to get its name.
pub(super) fn draft(folder: &Folder, name: &OsStr, bytes: &[u8]) -> Result<OsString, EvolutionError> {
    let draft = draft_of(name);
    remove_draft(folder, name)?;
    let mut file = folder.make_file(&draft)?;
    if let Err(error) = file.write_all(bytes).on_disk("write", folder.path_of(&draft)) {
        // The error that matters is the first; a draft that stays is removed by the next.
        let _ = folder.remove_file(&draft);
        return Err(error.into());
    }
    Ok(draft)
}

/// Removes what a killed run has left on its way to that name.
pub(super) fn remove_draft(folder: &Folder, name: &OsStr) -> Result<(), EvolutionError> {
    let draft = draft_of(name);
    if folder.stat(&draft)?.is_some() {
        folder.remove_file(&draft)?;
    }
    Ok(())
}

fn draft_of(name: &OsStr) -> OsString {
    let mut draft = OsString::from(DRAFT);
    draft.push(name);
    draft
}

/// What stands at that name, if anything does.
pub(super) fn kind(folder: &Folder, name: &OsStr) -> Result<Option<Kind>, EvolutionError> {
    let kind = |mode| match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    };
    Ok(folder.stat(name)?.map(|stat| kind(stat.st_mode)))
}
