//! The seal of a store: a file that guarantees that no object was removed, and is itself removed before the first
//! object is.
//!
//! While the seal is the same, objects that were seen in the store need not be checked again. It is broken before a
//! sweep, and when an object turns out to be missing or damaged. It is valid only until the machine restarts: a power
//! cut may truncate what was not on the disk.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::FileType;
use skilltune_phases::base::id::Digest;

use super::encoding::VERSION;
use super::objects::Objects;
use super::stamp::Stamp;
use crate::disk::{DiskError, Folder, OWNERS, atomic::TEMP_PREFIX};

/// No object has this name.
const SEAL: &str = "seal";
/// Changes at each start of the machine.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The identity of a seal: equal vouchers mean the same seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Voucher(pub(super) Digest);

impl Objects {
    /// Seals the store if it is not sealed; `None` if we cannot tell one start of the machine from another.
    pub(super) fn voucher(&self) -> Option<Voucher> {
        let boot = boot()?;
        let folder = self.folder_made().ok()?;
        let stamp = match stamp(folder) {
            None => {
                folder.create_new(OsStr::new(SEAL), OWNERS).ok()?;
                stamp(folder)?
            }
            Some(stamp) => stamp,
        };
        Some(Voucher(Digest::of_parts([stamp.encode().as_slice(), &boot])))
    }

    /// Removes every object that is not in `needed`, and returns their number. The caller must have the store alone.
    ///
    /// Manifests are removed before blobs, so that a kill leaves no manifest of an incomplete tree.
    pub fn sweep(&self, needed: &HashSet<Digest>) -> Result<usize, DiskError> {
        let Some(folder) = self.folder()? else { return Ok(0) };
        self.break_seal()?;
        let mut swept = 0;
        for manifests in [true, false] {
            for shard in shards(folder)? {
                let Some(shard) = folder.child(&shard)? else { continue };
                for name in shard.names(usize::MAX)? {
                    let digest = digest_of(&shard, &name);
                    let goes = digest.is_some_and(|digest| !needed.contains(&digest));
                    if goes && (!manifests || is_manifest(&shard, &name)) {
                        shard.remove_file(&name)?;
                        swept += 1;
                    }
                }
            }
        }
        for draft in folder.names(usize::MAX)?.iter().filter(|name| is_draft(name)) {
            folder.remove_file(draft)?;
        }
        Ok(swept)
    }

    /// Returns the names in the store's folder that are not ours.
    pub fn strange_names(&self) -> Result<Vec<String>, DiskError> {
        let Some(folder) = self.folder()? else { return Ok(Vec::new()) };
        let is_shard = |name: &OsStr| is_shard(name) && matches!(folder.child(name), Ok(Some(_)));
        let is_ours = |name: &OsStr| name == SEAL || is_draft(name) || is_shard(name);
        let names = folder.names(usize::MAX)?.into_iter().filter(|name| !is_ours(name));
        Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
    }

    pub(super) fn break_seal(&self) -> Result<(), DiskError> {
        let Some(folder) = self.folder()? else { return Ok(()) };
        match folder.remove_file(OsStr::new(SEAL)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of the system")]
fn boot() -> Option<[u8; 36]> {
    let mut id = [0; 36];
    File::open(BOOT).and_then(|mut file| file.read_exact(&mut id)).ok()?;
    Some(id)
}

fn stamp(folder: &Folder) -> Option<Stamp> {
    let stat = folder.stat(OsStr::new(SEAL)).ok()??;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| Stamp::of(&stat))
}

fn shards(folder: &Folder) -> Result<Vec<std::ffi::OsString>, DiskError> {
    Ok(folder.names(usize::MAX)?.into_iter().filter(|name| is_shard(name)).collect())
}

fn is_shard(name: &OsStr) -> bool {
    name.len() == 2 && name.as_bytes().iter().all(u8::is_ascii_hexdigit)
}

fn is_draft(name: &OsStr) -> bool {
    name.as_bytes().starts_with(TEMP_PREFIX.as_bytes())
}

/// Checks the first bytes. A blob that looks like a manifest is only removed a moment sooner.
fn is_manifest(shard: &Folder, name: &OsStr) -> bool {
    let Ok(Some(mut file)) = shard.file_below(name.as_ref()) else { return false };
    let mut head = [0; VERSION.len()];
    file.read_exact(&mut head).is_ok() && head == *VERSION
}

/// Returns the digest of an object in a shard, if its name is valid.
fn digest_of(shard: &Folder, name: &OsStr) -> Option<Digest> {
    let shard = shard.path().file_name()?.to_str()?;
    format!("{shard}{}", name.to_str()?).parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use skilltune_phases::base::id::BlobId;

    use super::*;
    use crate::snapshot::ObjectError;

    fn store() -> (tempfile::TempDir, Objects) {
        let home = tempfile::tempdir().unwrap();
        let objects = Objects::at(home.path().join("objects").as_path());
        (home, objects)
    }

    #[test]
    fn a_voucher_is_the_same_until_the_store_is_swept() {
        let (_home, objects) = store();
        let voucher = objects.voucher();
        assert!(voucher.is_some());
        let (kept, gone) = (objects.put(b"kept").unwrap(), objects.put(b"gone").unwrap());
        assert_eq!(objects.voucher(), voucher);
        assert_eq!(objects.sweep(&HashSet::from([kept.0])).unwrap(), 1);
        assert!(objects.contains(kept) && !objects.contains(gone));
        assert!(!objects.place().join(SEAL).exists());
        assert_ne!(objects.voucher(), voucher);
    }

    #[test]
    fn an_object_that_is_missing_or_damaged_breaks_the_seal() {
        let (_home, objects) = store();
        objects.voucher().unwrap();
        let absent = BlobId(Digest::of(b"absent"));
        assert!(matches!(objects.read(absent), Err(ObjectError::Missing(_))));
        assert!(!objects.place().join(SEAL).exists());
    }

    #[test]
    fn a_seal_that_is_a_link_seals_nothing_and_leads_nowhere() {
        let (home, objects) = store();
        let target = home.path().join("target");
        std::fs::create_dir(objects.place().path()).unwrap();
        symlink(&target, objects.place().path().join(SEAL)).unwrap();
        assert_eq!(objects.voucher(), None);
        assert!(!target.exists());
    }
}
