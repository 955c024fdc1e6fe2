//! The state of the files of a folder at its last capture, so that unchanged files need not be read again.
//!
//! There is one file per captured folder, in the user's own cache: an index from a repository is never trusted. An
//! index only saves reading. An index that is damaged, of another version or of another folder is ignored, and it lists
//! only files that were settled, so any later change has another stamp.
//!
//! ```text
//! skilltune index 1
//! checksum of the rest | voucher of the store | length, real path of the folder
//! length, path of a file | stamp | hash of its bytes         (in the order of the walk)
//! ```

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::FileType;

use skilltune_phases::base::id::{BlobId, Digest};

use super::path::RelPath;
use super::seal::Voucher;
use super::stamp::Stamp;
use crate::disk::{DiskError, Folder, OWNERS, OnDisk, SafePath, atomic::Draft};

const VERSION: &[u8] = b"skilltune index 1\n";
const DIGEST: usize = 32;
/// The length of everything before the first record, without the folder's path.
const HEAD: usize = VERSION.len() + 2 * DIGEST;

/// A larger index is neither written nor read.
const LARGEST: u64 = 64 << 20;
/// When either of these is exceeded, the oldest indexes are removed.
const MOST: usize = 64;
const MOST_BYTES: u64 = 256 << 20;
/// Opening a file costs as much as reading or writing this many bytes.
const OPENING: u64 = 4096;

/// The indexes of all captured folders, in the user's cache.
#[derive(Clone, Debug)]
pub struct Indexes {
    folder: SafePath,
}

impl Indexes {
    /// Returns the indexes in this folder, which is created with the first index.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into() }
    }

    pub(super) fn open(&self, root: &Path, now: SystemTime) -> Index {
        // A root without a real path cannot be walked either.
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let root = root.as_os_str().as_bytes().to_vec();
        let name = Digest::of(&root).short();
        let (old, voucher) = read(&self.folder.join(&name), &root).unwrap_or_default();
        let new = Vec::with_capacity(old.bytes.len());
        Index { folder: self.folder.clone(), name, root, now, old, voucher, new, learned: 0 }
    }
}

/// The index of a folder during a walk: it looks up the old records and collects the new ones.
pub(super) struct Index {
    folder: SafePath,
    name: String,
    root: Vec<u8>,
    now: SystemTime,
    old: Records,
    voucher: Option<Digest>,
    new: Vec<u8>,
    /// The cost of reading the files that the old index did not list.
    learned: u64,
}

/// The records of an index file that the walk has not reached yet.
#[derive(Default)]
struct Records {
    bytes: Vec<u8>,
    at: usize,
}

struct Record<'a> {
    path: &'a [u8],
    stamp: &'a [u8; Stamp::LEN],
    blob: &'a [u8; DIGEST],
    whole: &'a [u8],
}

impl Index {
    /// Returns the short hash of the folder's real path.
    pub(super) fn root_hash(&self) -> &str {
        &self.name
    }

    /// Returns true if the store with this voucher had all the listed objects, and still has them.
    pub(super) fn is_vouched_by(&self, voucher: Option<Voucher>) -> bool {
        voucher.is_some_and(|voucher| self.voucher == Some(voucher.0))
    }

    /// Returns the blob of a file with this stamp, unless `will_do` rejects it. The paths must be passed in the order
    /// of a walk.
    pub(super) fn find(
        &mut self,
        path: &RelPath,
        stamp: &Stamp,
        will_do: impl FnOnce(BlobId) -> bool,
    ) -> Option<BlobId> {
        let record = self.old.reach(path.as_bytes())?;
        let blob = BlobId(Digest::from_bytes(*record.blob));
        if *record.stamp != stamp.encode() || !will_do(blob) {
            return None;
        }
        self.new.extend_from_slice(record.whole);
        Some(blob)
    }

    /// Adds a file that was read, if it is settled.
    pub(super) fn learn(&mut self, path: &RelPath, stamp: &Stamp, blob: BlobId) {
        if stamp.is_settled(self.now) {
            self.learned += OPENING + stamp.size;
            let path = path.as_bytes();
            self.new.extend_from_slice(&length(path));
            self.new.extend_from_slice(path);
            self.new.extend_from_slice(&stamp.encode());
            self.new.extend_from_slice(blob.0.as_bytes());
        }
    }

    /// Replaces the old index if that is worth writing. A failed write is ignored, because the index only saves time.
    pub(super) fn save(self, voucher: Option<Voucher>) {
        let len = (HEAD + self.root.len() + self.new.len()) as u64;
        let tells_more = self.learned > len || (voucher.is_some() && !self.is_vouched_by(voucher));
        if tells_more && !self.new.is_empty() && len <= LARGEST {
            let _ = self.write(voucher);
        }
    }

    /// No crash point: whether it is written depends on the time, and nothing depends on it.
    fn write(&self, voucher: Option<Voucher>) -> Result<(), DiskError> {
        let folder = self.folder.make_folder()?;
        make_room(&folder)?;
        let voucher = voucher.map_or([0; DIGEST], |voucher| *voucher.0.as_bytes());
        let head = [&voucher, length(&self.root).as_slice(), &self.root].concat();
        let mut draft = Draft::new(&folder, OWNERS)?;
        for part in [VERSION, checksum(&head, &self.new).as_bytes(), &head, &self.new] {
            draft.write(part)?;
        }
        draft.publish(&folder, self.name.as_ref())
    }
}

impl Records {
    /// Returns the record of this path, if any, and skips the records before it.
    fn reach(&mut self, path: &[u8]) -> Option<Record<'_>> {
        while let Some(record) = self.next()
            && record.path != path
            && walk_order(record.path, path).is_lt()
        {
            self.at += record.whole.len();
        }
        self.next().filter(|record| record.path == path)
    }

    fn next(&self) -> Option<Record<'_>> {
        let start = &self.bytes[self.at..];
        let (path, rest) = sized(start)?;
        let (stamp, rest) = rest.split_first_chunk()?;
        let (blob, rest) = rest.split_first_chunk()?;
        let whole = &start[..start.len() - rest.len()];
        Some(Record { path, stamp, blob, whole })
    }
}

/// Reads the records of this folder's index, and the voucher stored with them.
fn read(file: &SafePath, root: &[u8]) -> Option<(Records, Option<Digest>)> {
    let bytes = file.read(LARGEST).ok()??;
    let rest = bytes.strip_prefix(VERSION)?;
    let (sum, rest) = rest.split_first_chunk::<DIGEST>()?;
    let (voucher, named) = rest.split_first_chunk::<DIGEST>()?;
    let (path, records) = sized(named)?;
    let head = &rest[..rest.len() - records.len()];
    if checksum(head, records).as_bytes() != sum || path != root {
        return None;
    }
    let voucher = (*voucher != [0; DIGEST]).then(|| Digest::from_bytes(*voucher));
    let at = bytes.len() - records.len();
    Some((Records { bytes, at }, voucher))
}

fn checksum(head: &[u8], records: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head).update(records);
    hasher.into()
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).expect("no path has four billion bytes").to_le_bytes()
}

/// Splits off bytes that follow their length, and returns the rest.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// Orders a folder before its contents, and those before its next sibling.
fn walk_order(one: &[u8], other: &[u8]) -> Ordering {
    let rank = |&byte: &u8| if byte == b'/' { 0 } else { byte };
    one.iter().map(rank).cmp(other.iter().map(rank))
}

/// Removes the oldest files until there is room for one more of any size.
fn make_room(folder: &Folder) -> Result<(), DiskError> {
    let mut files = Vec::new();
    for name in folder.names(usize::MAX)? {
        let stat = folder.stat(&name)?;
        if let Some(stat) = stat.filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        {
            files.push((stat.st_mtime, u64::try_from(stat.st_size).unwrap_or(0), name));
        }
    }
    files.sort();
    let mut bytes: u64 = files.iter().map(|(_, len, _)| len).sum();
    let mut left = files.len();
    for (_, len, name) in files {
        if left < MOST && bytes + LARGEST <= MOST_BYTES {
            break;
        }
        folder.unlink(&name).on_disk("remove", folder.path_of(&name))?;
        left -= 1;
        bytes -= len;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
