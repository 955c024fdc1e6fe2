//! Lets the copy of an object share its blocks with the store where the file system can, such as btrfs and XFS: that
//! costs no writing and no room. A program that changes the copy later changes blocks of its own.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether copies can share blocks with the store. The first failure decides for all: the store and the copies of one
/// program are on the same file systems.
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    share: fn(&File, &File) -> bool,
    is_impossible: Arc<AtomicBool>,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { share, is_impossible: Arc::default() }
    }
}

impl Sharing {
    pub(super) fn is_possible(&self) -> bool {
        !self.is_impossible.load(Ordering::Relaxed)
    }

    /// Fills an empty file with an object, and leaves the position in both. Returns false if it has to be written.
    pub(super) fn clone_into(&self, file: &File, object: &File) -> bool {
        let is_cloned = (self.share)(file, object);
        self.is_impossible.fetch_or(!is_cloned, Ordering::Relaxed);
        is_cloned
    }
}

/// Makes an empty file share the blocks of another one.
#[cfg(target_os = "linux")]
fn share(file: &File, object: &File) -> bool {
    rustix::fs::ioctl_ficlone(file, object).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn share(_: &File, _: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt as _;
    use std::sync::atomic::AtomicUsize;

    use skilltune_phases::base::id::{BlobId, Digest};

    use super::super::objects::{Content, ObjectError, Objects, path_of};
    use super::*;
    use crate::disk::Folder;

    const LARGE: usize = 100 << 10;

    struct Bench {
        home: tempfile::TempDir,
        objects: Objects,
        large: BlobId,
    }

    impl Bench {
        fn new(share: fn(&File, &File) -> bool) -> Self {
            let home = tempfile::tempdir().unwrap();
            let mut objects = Objects::at(home.path().join("objects"));
            objects.sharing.share = share;
            let large = objects.put(&vec![b'x'; LARGE]).unwrap();
            Self { home, objects, large }
        }

        fn copy(&self, blob: BlobId, size: usize) -> Result<Vec<u8>, ObjectError> {
            let path = self.home.path().join("copy");
            let _ = fs::remove_file(&path);
            let mut file = Folder::open(self.home.path()).unwrap().create_file("copy".as_ref()).unwrap();
            self.objects.copy_to(Content { blob, size: size as u64 }, &mut file, &path)?;
            Ok(fs::read(path).unwrap())
        }

        /// Replaces the large object.
        fn damage(&self, bytes: &[u8]) {
            let path = self.objects.place().path().join(path_of(self.large.0));
            fs::remove_file(&path).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    /// As a clone does it, this leaves the position in the file.
    fn as_cloned(file: &File, object: &File) -> bool {
        let mut bytes = vec![0; usize::try_from(object.metadata().unwrap().len()).unwrap()];
        object.read_exact_at(&mut bytes, 0).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        true
    }

    #[test]
    fn a_copy_has_the_bytes_of_the_object_on_any_file_system() {
        for share in [share, as_cloned] {
            let bench = Bench::new(share);
            let small = bench.objects.put(b"small").unwrap();
            for _ in 0..2 {
                assert!(bench.copy(bench.large, LARGE).unwrap() == vec![b'x'; LARGE]);
                assert_eq!(bench.copy(small, 5).unwrap(), b"small");
            }
        }
    }

    #[test]
    fn a_damaged_object_is_noticed_in_a_clone_too() {
        for share in [share, as_cloned] {
            let bench = Bench::new(share);
            bench.objects.voucher().unwrap();
            for bytes in [&vec![b'y'; LARGE][..], b"short"] {
                bench.damage(bytes);
                let copied = bench.copy(bench.large, LARGE);
                assert!(matches!(copied, Err(ObjectError::Damaged(id)) if id == bench.large.0));
            }
            assert!(!bench.objects.place().join("seal").exists());
        }
    }

    #[test]
    fn a_file_system_that_cannot_clone_is_asked_once() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let bench = Bench::new(|_, _| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            false
        });
        for _ in 0..3 {
            assert!(bench.copy(bench.large, LARGE).unwrap() == vec![b'x'; LARGE]);
        }
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
        let absent = BlobId(Digest::of(b"absent"));
        assert!(matches!(bench.copy(absent, LARGE), Err(ObjectError::Missing(_))));
    }
}
