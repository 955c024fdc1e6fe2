//! Opens the folders and reads the files: refuses symlinks, never waits for pipes, limits sizes.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};

use rustix::fs::FileType;

use super::{EntryKind, EvolutionError, LARGEST};
use crate::disk::{DiskError, Folder, OnDisk as _};

/// A file that does not have its final name yet; only the folder's owner makes one.
const DRAFT: &str = ".skilltune-tmp-draft-";

/// Opens the folder of that name, or returns none if nothing is there.
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
        // Another process may have made it: it is checked like any other.
        _ => {}
    }
    let gone =
        || DiskError { op: "open", path: folder.path_of(name), source: io::ErrorKind::NotFound.into() };
    Ok(step_down(folder, name)?.ok_or_else(gone)?)
}

/// Whether a plain file has that name. Fails if it is anything else.
pub(super) fn is_there(folder: &Folder, name: &OsStr) -> Result<bool, EvolutionError> {
    match kind(folder, name)? {
        None => Ok(false),
        Some(EntryKind::File) => Ok(true),
        Some(kind) => Err(EvolutionError::NoFile { path: folder.path_of(name), kind }),
    }
}

/// Reads a plain file, or returns none if nothing is there.
pub(super) fn read(folder: &Folder, name: &OsStr) -> Result<Option<Vec<u8>>, EvolutionError> {
    // Checked first, because opening a device may have effects.
    if !is_there(folder, name)? {
        return Ok(None);
    }
    let (file, path) = (folder.open_file(name)?, folder.path_of(name));
    let meta = file.metadata().on_disk("access", &path)?;
    if !meta.is_file() {
        return Err(EvolutionError::NoFile { path, kind: EntryKind::Special });
    }
    let mut bytes = Vec::new();
    // One more byte reveals a file that grows while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).on_disk("read", &path)?;
    if bytes.len() as u64 > LARGEST {
        return Err(EvolutionError::TooLarge(path));
    }
    Ok(Some(bytes))
}

/// Writes a file under a draft name.
pub(super) fn draft(folder: &Folder, name: &OsStr, bytes: &[u8]) -> Result<OsString, EvolutionError> {
    let draft = draft_of(name);
    remove_draft(folder, name)?;
    let mut file = folder.make_file(&draft)?;
    if let Err(error) = file.write_all(bytes).on_disk("write", folder.path_of(&draft)) {
        // The first error matters; the next draft removes this one.
        let _ = folder.remove_file(&draft);
        return Err(error.into());
    }
    Ok(draft)
}

/// Removes the draft that a killed run left for that name.
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

/// Returns the kind of the entry with that name, if there is one.
pub(super) fn kind(folder: &Folder, name: &OsStr) -> Result<Option<EntryKind>, EvolutionError> {
    let kind = |mode| match FileType::from_raw_mode(mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    };
    Ok(folder.stat(name)?.map(|stat| kind(stat.st_mode)))
}
