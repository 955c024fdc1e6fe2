//! Files of our own, replaced as a whole: a reader sees the old bytes or the new ones, never some of each.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::crash;
use crate::disk::{DiskError, OnDisk};

/// How the names of our temporary files begin, so that a crash's leftovers are known for what they are.
pub const TEMP_PREFIX: &str = ".skilltune-tmp-";

/// What a replaced file must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of this program, however sudden.
    Order,
    /// The end of the machine's power too.
    Barrier,
}

/// Puts `bytes` at `path` in one step; a symlink there is replaced, not followed.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    let folder = folder_of(path);
    let mut temp = temp_in(folder, 0o666).on_disk("create a file in", folder)?;
    temp.write_all(bytes).on_disk("write", path)?;
    if durability == Durability::Barrier {
        temp.as_file().sync_all().on_disk("sync", path)?;
    }
    publish(temp, path)?;
    match durability {
        Durability::Order => Ok(()),
        Durability::Barrier => sync_folder(folder),
    }
}

/// Puts `bytes` at `path`, where nothing may be, in one step: whoever finds the file finds all of it.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let folder = folder_of(path);
    let mut temp = temp_in(folder, 0o666).on_disk("create a file in", folder)?;
    temp.write_all(bytes).on_disk("write", path)?;
    crash::point("create a file");
    temp.persist_noclobber(path).on_disk("create", path)?;
    crash::point("create a file");
    Ok(())
}

/// Makes a folder's list of names durable, not what stands in its files.
pub fn sync_folder(folder: &Path) -> Result<(), DiskError> {
    File::open(folder).and_then(|folder| folder.sync_all()).on_disk("sync", folder)
}

/// Makes all that was written to the file system of `folder` durable: the barrier.
pub fn sync_everything(folder: &Path) -> Result<(), DiskError> {
    #[cfg(target_os = "linux")]
    {
        let handle = File::open(folder).on_disk("open", folder)?;
        rustix::fs::syncfs(&handle).on_disk("sync", folder)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        rustix::fs::sync();
        Ok(())
    }
}

/// A temporary file with our prefix, gone when dropped; `mode` is subject to the umask.
pub(crate) fn temp_in(folder: &Path, mode: u32) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(TEMP_PREFIX).permissions(Permissions::from_mode(mode)).tempfile_in(folder)
}

/// Gives a finished temporary file its name.
pub(crate) fn publish(temp: NamedTempFile, path: &Path) -> Result<(), DiskError> {
    crash::point("publish a file");
    temp.persist(path).on_disk("write", path)?;
    crash::point("publish a file");
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_replaced_file_holds_the_new_bytes_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        replace(&path, b"old", Durability::Order).unwrap();
        replace(&path, b"new", Durability::Barrier).unwrap();
        sync_everything(folder.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_symlink_at_the_path_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, path) = (folder.path().join("elsewhere"), folder.path().join("link"));
        fs::write(&elsewhere, "precious").unwrap();
        symlink(&elsewhere, &path).unwrap();
        replace(&path, b"new", Durability::Order).unwrap();
        assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
        assert!(path.symlink_metadata().unwrap().is_file());
    }
}
