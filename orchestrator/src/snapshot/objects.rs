//! A content-addressed store of blobs and manifests, written once, never changed, never hard-linked. Copies of large
//! blobs may share their blocks (`reflink`).
//!
//! Published with durability *order*: whole after this program ends, durable only after the barrier
//! (`SafePath::sync_everything`). So a power cut may leave a short object; `holds` detects it, and `put` replaces it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{FileType, Mode};
use skilltune_phases::base::id::{BlobId, Digest, TreeId};

use super::manifest::{Entry, Manifest, ManifestError, Node};
use super::path::RelPath;
use super::recent::{self, Recent};
use super::reflink::Sharing;
use crate::crash;
use crate::disk::{DiskError, Folder, OnDisk, SafePath, atomic::Draft};

/// Files up to this size are held in memory, so that a file that is already stored costs no write.
const IN_MEMORY: u64 = 4 << 20;
const CHUNK: usize = 128 << 10;
/// The size of each of the two generations of the cache of recently read objects: enough for a few skills with their
/// files, and their manifests.
const RECENT: usize = 512 << 10;
const MANIFESTS: usize = 64 << 10;
/// The size of each generation of the cache of larger manifests, 64 MiB in both: enough for those that a merge of works
/// on a project of 50,000 files reads again and again. Small ones have a cache of their own, because a long run has
/// thousands of them.
const LARGE_MANIFESTS: usize = 32 << 20;

/// A manifest of a million entries is smaller.
const LARGEST_MANIFEST: u64 = 128 << 20;

/// Objects are read-only, so that they are not changed by accident.
const READ_ONLY: Mode = Mode::from_raw_mode(0o444);

/// A store in a folder, which is created with the first object.
#[derive(Clone, Debug)]
pub struct Objects {
    at: SafePath,
    folder: Arc<OnceLock<Folder>>,
    recent: Arc<Recent<Arc<[u8]>>>,
    manifests: Arc<Recent<Manifest>>,
    large_manifests: Arc<Recent<Manifest>>,
    pub(super) sharing: Sharing,
}

#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error("object {0} is not in the store")]
    Missing(Digest),
    #[error("object {0} is damaged")]
    Damaged(Digest),
    #[error("object {id} is not a manifest")]
    NotAManifest { id: TreeId, source: ManifestError },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The blob and size of what a reader returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub blob: BlobId,
    pub size: u64,
}

impl Objects {
    pub fn at(place: impl Into<SafePath>) -> Self {
        let [manifests, large_manifests] =
            [MANIFESTS, LARGE_MANIFESTS].map(|room| Arc::new(Recent::of(room)));
        let recent = Arc::new(Recent::of(RECENT));
        let (folder, sharing) = (Arc::default(), Sharing::default());
        Self { at: place.into(), folder, recent, manifests, large_manifests, sharing }
    }

    pub fn place(&self) -> &SafePath {
        &self.at
    }

    /// Returns the folder, if it exists.
    pub(super) fn folder(&self) -> Result<Option<&Folder>, DiskError> {
        if let Some(folder) = self.folder.get() {
            return Ok(Some(folder));
        }
        Ok(self.at.folder()?.map(|folder| self.folder.get_or_init(|| folder)))
    }

    pub(super) fn folder_made(&self) -> Result<&Folder, DiskError> {
        if let Some(folder) = self.folder()? {
            return Ok(folder);
        }
        let made = self.at.make_folder()?;
        Ok(self.folder.get_or_init(|| made))
    }

    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, ObjectError> {
        let digest = Digest::of(bytes);
        if !self.holds(digest, bytes.len() as u64) {
            let mut draft = Draft::new(self.folder_made()?, READ_ONLY)?;
            draft.write(bytes)?;
            self.publish(draft, digest)?;
        }
        Ok(BlobId(digest))
    }

    /// Stores everything that `reader` returns, `expected` bytes or not, and hashes it meanwhile; `origin` is for the
    /// error.
    pub fn put_reader(
        &self,
        mut reader: impl Read,
        expected: u64,
        origin: &Path,
    ) -> Result<Content, ObjectError> {
        let head = head(&mut reader, expected, origin)?;
        let size = head.len() as u64;
        if size <= IN_MEMORY {
            return Ok(Content { blob: self.put(&head)?, size });
        }
        let mut draft = Draft::new(self.folder_made()?, READ_ONLY)?;
        let (digest, size) = pump(head.chain(reader), origin, |chunk| draft.write(chunk))?;
        if !self.holds(digest, size) {
            self.publish(draft, digest)?;
        }
        Ok(Content { blob: BlobId(digest), size })
    }

    /// Stores a manifest. A large one is kept in memory too: the next merge reads what the last one wrote.
    pub fn put_manifest(&self, manifest: &Manifest) -> Result<TreeId, ObjectError> {
        let digest = self.put(&manifest.encode())?.0;
        let size = manifest.size_in_memory();
        if size > MANIFESTS && self.large_manifests.get(digest).is_none() {
            self.large_manifests.insert(digest, manifest.clone(), size);
        }
        Ok(TreeId(digest))
    }

    /// Stores our own texts as the plain files of a folder.
    pub fn put_files(&self, files: &[(&str, &[u8])]) -> Result<TreeId, ObjectError> {
        let mut entries = Vec::new();
        for (name, bytes) in files {
            let path = RelPath::parse(name.as_bytes()).expect("names of ours are plain");
            let node = Node::File { blob: self.put(bytes)?, size: bytes.len() as u64, mode: 0o644 };
            entries.push(Entry { path, node });
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        self.put_manifest(&Manifest::new(entries).expect("names of ours differ"))
    }

    pub fn read(&self, blob: BlobId) -> Result<Vec<u8>, ObjectError> {
        let mut bytes = Vec::new();
        self.feed(blob.0, |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Reads an object of at most `most` bytes; returns its size if it is larger.
    pub fn read_at_most(&self, blob: BlobId, most: u64) -> Result<Result<Vec<u8>, u64>, ObjectError> {
        match self.size(blob.0) {
            Some(size) if size > most => Ok(Err(size)),
            Some(_) | None => self.read(blob).map(Ok),
        }
    }

    /// Reads an object of at most `most` bytes; a larger one is damaged.
    pub fn read_whole(&self, blob: BlobId, most: u64) -> Result<Vec<u8>, ObjectError> {
        self.read_at_most(blob, most)?.map_err(|_| self.broken(ObjectError::Damaged(blob.0)))
    }

    /// Writes the object into a new file, open for reading too. After an error, the content of the file is invalid.
    pub fn copy_to(&self, content: Content, file: &mut File, path: &Path) -> Result<(), ObjectError> {
        let digest = content.blob.0;
        // Reading back a smaller one costs as much as writing it, and many of them are in memory.
        let is_tried = content.size > recent::SMALL && self.sharing.is_possible();
        let cloned = if is_tried { self.cloned(digest, file, path)? } else { None };
        match cloned {
            Some(found) if found == digest => Ok(()),
            Some(_) => Err(self.broken(ObjectError::Damaged(digest))),
            None => self.feed(digest, |chunk| file.write_all(chunk).on_disk("write", path)),
        }
    }

    /// Clones an object into an empty file, and returns the hash of the clone: a damaged object is noticed as in a written
    /// copy. Returns `None` if it has to be written.
    fn cloned(&self, digest: Digest, file: &File, path: &Path) -> Result<Option<Digest>, DiskError> {
        let object = self.folder()?.map(|folder| folder.file_below(&path_of(digest))).transpose()?.flatten();
        // The writer reports a missing object.
        if !object.is_some_and(|object| self.sharing.clone_into(file, &object)) {
            return Ok(None);
        }
        pump(file, path, |_| Ok(())).map(|(found, _)| Some(found))
    }

    pub fn manifest(&self, id: TreeId) -> Result<Manifest, ObjectError> {
        if let Some(manifest) = self.manifests.get(id.0).or_else(|| self.large_manifests.get(id.0)) {
            return Ok(manifest);
        }
        let bytes = self.read_whole(BlobId(id.0), LARGEST_MANIFEST)?;
        let manifest = Manifest::parse(&bytes).map_err(|source| ObjectError::NotAManifest { id, source })?;
        let size = manifest.size_in_memory();
        let cache = if size > MANIFESTS { &self.large_manifests } else { &self.manifests };
        cache.insert(id.0, manifest.clone(), size);
        Ok(manifest)
    }

    pub fn contains(&self, blob: BlobId) -> bool {
        self.size(blob.0).is_some()
    }

    /// Returns true if the store contains a tree and everything that it consists of.
    pub fn contains_tree(&self, tree: TreeId) -> bool {
        self.manifest(tree).is_ok_and(|manifest| {
            manifest.entries().iter().all(|entry| match entry.node {
                Node::File { blob, size, .. } => self.holds(blob.0, size),
                Node::Folder { .. } | Node::Link { .. } => true,
            })
        })
    }

    pub(super) fn holds(&self, digest: Digest, size: u64) -> bool {
        self.size(digest) == Some(size)
    }

    /// Returns the size of a stored object.
    pub(crate) fn size(&self, digest: Digest) -> Option<u64> {
        let stat = self.folder().ok()??.stat(path_of(digest).as_os_str()).ok()??;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then(|| u64::try_from(stat.st_size).unwrap_or(0))
    }

    fn publish(&self, draft: Draft<'_>, digest: Digest) -> Result<(), ObjectError> {
        let (store, path) = (self.folder_made()?, path_of(digest));
        let (shard, name) = split(&path);
        let shard = match store.child(shard)? {
            Some(shard) => shard,
            None => store.make_child(shard)?,
        };
        let publish = || draft.publish(&shard, name);
        Ok(crash::around(["before an object is stored", "after an object is stored"], publish)?)
    }

    /// Passes the object to `sink`. If the object is missing or damaged, the seal is broken, because the other objects
    /// cannot be trusted either.
    fn feed(
        &self,
        digest: Digest,
        sink: impl FnMut(&[u8]) -> Result<(), DiskError>,
    ) -> Result<(), ObjectError> {
        self.pass_on(digest, sink).map_err(|error| match error {
            ObjectError::Missing(_) | ObjectError::Damaged(_) => self.broken(error),
            ObjectError::NotAManifest { .. } | ObjectError::Disk(_) => error,
        })
    }

    /// Breaks the seal because of an error, and returns the error.
    fn broken(&self, error: ObjectError) -> ObjectError {
        // The first error matters more.
        let _ = self.break_seal();
        error
    }

    /// Passes a small object as a whole and caches it, a large one piece by piece.
    fn pass_on(
        &self,
        digest: Digest,
        mut sink: impl FnMut(&[u8]) -> Result<(), DiskError>,
    ) -> Result<(), ObjectError> {
        if let Some(bytes) = self.recent.get(digest) {
            return Ok(sink(&bytes)?);
        }
        let Some(folder) = self.folder()? else { return Err(ObjectError::Missing(digest)) };
        let path = path_of(digest);
        let Some(mut file) = folder.file_below(&path)? else { return Err(ObjectError::Missing(digest)) };
        let path = folder.path().join(path);
        let len = file.metadata().on_disk("access", &path)?.len();
        if len > IN_MEMORY {
            let (found, _) = pump(file, &path, sink)?;
            return if found == digest { Ok(()) } else { Err(ObjectError::Damaged(digest)) };
        }
        let bytes = head(&mut file, len, &path)?;
        if Digest::of(&bytes) != digest {
            return Err(ObjectError::Damaged(digest));
        }
        sink(&bytes)?;
        if len <= recent::SMALL {
            let size = bytes.len();
            self.recent.insert(digest, bytes.into(), size);
        }
        Ok(())
    }
}

/// Returns `ab/cdef...`, relative to the store's folder.
pub(super) fn path_of(digest: Digest) -> PathBuf {
    let hex = digest.hex();
    let (shard, rest) = hex.split_at(2);
    Path::new(shard).join(rest)
}

fn split(path: &Path) -> (&OsStr, &OsStr) {
    let shard = path.parent().expect("an object has a shard").as_os_str();
    (shard, path.file_name().expect("an object has a name"))
}

/// Hashes everything that `reader` returns, without storing it.
pub(super) fn hash_reader(mut reader: impl Read, expected: u64, origin: &Path) -> Result<Content, DiskError> {
    let head = head(&mut reader, expected, origin)?;
    if head.len() as u64 <= IN_MEMORY {
        return Ok(Content { blob: BlobId(Digest::of(&head)), size: head.len() as u64 });
    }
    let (digest, size) = pump(head.chain(reader), origin, |_| Ok(()))?;
    Ok(Content { blob: BlobId(digest), size })
}

/// Reads the first bytes: all of them, unless the file is too large for memory.
fn head(reader: &mut impl Read, expected: u64, origin: &Path) -> Result<Vec<u8>, DiskError> {
    // Capacity for one byte more detects the end without growing.
    let room = usize::try_from(expected.min(IN_MEMORY) + 1).expect("a few MiB fit into memory");
    let mut head = Vec::with_capacity(room);
    reader.take(IN_MEMORY + 1).read_to_end(&mut head).on_disk("read", origin)?;
    Ok(head)
}

fn pump(
    mut reader: impl Read,
    origin: &Path,
    mut sink: impl FnMut(&[u8]) -> Result<(), DiskError>,
) -> Result<(Digest, u64), DiskError> {
    let mut hasher = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK];
    let mut size = 0;
    loop {
        let read = match reader.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.on_disk("read", origin)?,
        };
        if read == 0 {
            return Ok((hasher.into(), size));
        }
        hasher.update(&chunk[..read]);
        size += read as u64;
        sink(&chunk[..read])?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn store() -> (tempfile::TempDir, Objects) {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::at(folder.path().join("objects"));
        (folder, objects)
    }

    fn files_in(objects: &Objects) -> usize {
        let files = walkdir::WalkDir::new(objects.place().path()).into_iter();
        files.filter(|entry| entry.as_ref().unwrap().file_type().is_file()).count()
    }

    #[test]
    fn equal_bytes_are_stored_once_however_they_come() {
        let (_folder, objects) = store();
        for size in [0, 3, 5 << 20] {
            let bytes = vec![b'x'; size];
            let blob = objects.put(&bytes).unwrap();
            let content = objects.put_reader(bytes.as_slice(), 3, Path::new("x")).unwrap();
            assert_eq!(content, Content { blob, size: size as u64 });
            assert_eq!(hash_reader(bytes.as_slice(), 3, Path::new("x")).unwrap(), content);
            assert!(objects.read(blob).unwrap() == bytes);
        }
        assert_eq!(files_in(&objects), 3);
    }

    #[test]
    fn a_missing_object_and_a_damaged_one_are_told_apart() {
        let (_folder, objects) = store();
        let blob = objects.put(b"right").unwrap();
        let absent = BlobId(Digest::of(b"absent"));
        assert!(matches!(objects.read(absent), Err(ObjectError::Missing(id)) if id == absent.0));
        fs::remove_file(objects.place().path().join(path_of(blob.0))).unwrap();
        fs::write(objects.place().path().join(path_of(blob.0)), "wrong").unwrap();
        assert!(matches!(objects.read(blob), Err(ObjectError::Damaged(id)) if id == blob.0));
    }

    #[test]
    fn a_large_manifest_stays_in_memory_once_it_was_written_or_read() {
        let (_folder, objects) = store();
        let tree = |files: u32| {
            let node = Node::File { blob: BlobId(Digest::of(b"text")), size: 4, mode: 0o644 };
            let path = |nth: u32| RelPath::parse(format!("page-{nth:05}").as_bytes()).unwrap();
            let entries = (0..files).map(|nth| Entry { path: path(nth), node: node.clone() }).collect();
            Manifest::new(entries).unwrap()
        };
        let (small, large) = (tree(10), tree(1_000));
        let [of_small, of_large] = [&small, &large].map(|one| objects.put_manifest(one).unwrap());
        let anew = Objects::at(objects.place().path());
        assert_eq!(anew.manifest(of_large).unwrap(), large);
        for tree in [of_small, of_large] {
            fs::remove_file(objects.place().path().join(path_of(tree.0))).unwrap();
        }
        assert_eq!(
            (objects.manifest(of_large).unwrap(), anew.manifest(of_large).unwrap()),
            (large.clone(), large)
        );
        assert!(matches!(objects.manifest(of_small), Err(ObjectError::Missing(_))));
    }

    #[test]
    fn an_object_cut_short_by_a_power_cut_is_written_again() {
        let (_folder, objects) = store();
        let blob = objects.put(b"whole").unwrap();
        fs::remove_file(objects.place().path().join(path_of(blob.0))).unwrap();
        fs::write(objects.place().path().join(path_of(blob.0)), "").unwrap();
        objects.put(b"whole").unwrap();
        assert_eq!(objects.read(blob).unwrap(), b"whole");
    }
}
