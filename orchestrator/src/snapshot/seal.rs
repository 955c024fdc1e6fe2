//! A store's word that nothing has left it: a file that goes before the first object does.
//!
//! Whoever has seen objects in the store need not look for them again as long as the seal is the same one. It is broken
//! before a sweep, and when an object turns out to be missing or damaged. It does not outlast the machine's being on:
//! a power cut may cut short what had not reached the disk.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use skilltune_phases::id::Digest;

use super::objects::Objects;
use super::stamp::Stamp;
use crate::disk::{DiskError, OnDisk};

/// No object has such a name.
const SEAL: &str = "seal";
/// Another one at each start of the machine.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Two that are equal stand for the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Voucher(pub(super) Digest);

impl Objects {
    /// Seals the store unless it is; nothing where we cannot tell one start of the machine from another.
    pub(super) fn voucher(&self) -> Option<Voucher> {
        let boot = boot()?;
        let seal = self.seal();
        let stamp = match stamp(&seal) {
            None => {
                fs::create_dir_all(self.folder()).ok()?;
                File::create_new(&seal).ok()?;
                stamp(&seal)?
            }
            Some(stamp) => stamp,
        };
        Some(Voucher(Digest::of_parts([stamp.encode().as_slice(), &boot])))
    }

    /// Removes everything but what is `needed` and tells how much went; only for whoever has the store alone.
    pub fn sweep(&self, needed: &HashSet<Digest>) -> Result<usize, DiskError> {
        self.break_seal()?;
        let mut swept = 0;
        for entry in walkdir::WalkDir::new(self.folder()).into_iter().flatten() {
            let is_needed = || digest_of(entry.path()).is_some_and(|digest| needed.contains(&digest));
            if entry.file_type().is_file() && !is_needed() {
                fs::remove_file(entry.path()).on_disk("remove", entry.path())?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    pub(super) fn break_seal(&self) -> Result<(), DiskError> {
        let seal = self.seal();
        match fs::remove_file(&seal) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.on_disk("remove", &seal),
        }
    }

    fn seal(&self) -> PathBuf {
        self.folder().join(SEAL)
    }
}

fn boot() -> Option<[u8; 36]> {
    let mut id = [0; 36];
    File::open(BOOT).and_then(|mut file| file.read_exact(&mut id)).ok()?;
    Some(id)
}

fn stamp(seal: &Path) -> Option<Stamp> {
    let stat = rustix::fs::lstat(seal).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| Stamp::of(&stat))
}

/// `ab/cdef...` of the store.
fn digest_of(path: &Path) -> Option<Digest> {
    let name = path.file_name()?.to_str()?;
    let shard = path.parent()?.file_name()?.to_str()?;
    format!("{shard}{name}").parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use skilltune_phases::id::BlobId;

    use super::*;
    use crate::snapshot::ObjectError;

    fn store() -> (tempfile::TempDir, Objects) {
        let home = tempfile::tempdir().unwrap();
        let objects = Objects::at(home.path().join("objects"));
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
        assert!(!objects.seal().exists());
        assert_ne!(objects.voucher(), voucher);
    }

    #[test]
    fn an_object_that_is_missing_or_damaged_breaks_the_seal() {
        let (_home, objects) = store();
        objects.voucher().unwrap();
        let absent = BlobId(Digest::of(b"absent"));
        assert!(matches!(objects.read(absent), Err(ObjectError::Missing(_))));
        assert!(!objects.seal().exists());
    }

    #[test]
    fn a_seal_that_is_a_link_seals_nothing_and_leads_nowhere() {
        let (home, objects) = store();
        let target = home.path().join("target");
        fs::create_dir(objects.folder()).unwrap();
        symlink(&target, objects.seal()).unwrap();
        assert_eq!(objects.voucher(), None);
        assert!(!target.exists());
    }
}
