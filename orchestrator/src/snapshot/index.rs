//! What the files of a folder were when it was last captured, so that those still the same need not be read again.
//!
//! One file a captured folder, in a place of the user's own: what a repository brings along is never believed. An
//! index only ever spares a read. One that is damaged, of another version or of another folder is as good as none, and
//! it lists only files that were settled, so that whatever has changed since has another stamp.
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

use skilltune_phases::id::{BlobId, Digest};

use super::path::RelPath;
use super::seal::Voucher;
use super::stamp::Stamp;
use crate::disk::{DiskError, Folder, OWNERS, OnDisk, SafePath, atomic::Draft};

const VERSION: &[u8] = b"skilltune index 1\n";
const DIGEST: usize = 32;
/// What stands before the first record, without the folder's path.
const HEAD: usize = VERSION.len() + 2 * DIGEST;

/// A larger one is neither written nor read.
const LARGEST: u64 = 64 << 20;
/// Beyond either of these the oldest indexes go.
const MOST: usize = 64;
const MOST_BYTES: u64 = 256 << 20;
/// Opening a file costs as much as reading or writing so many bytes.
const OPENING: u64 = 4096;

/// The indexes of all folders that were captured, where the user's caches are.
#[derive(Clone, Debug)]
pub struct Indexes {
    folder: SafePath,
}

impl Indexes {
    /// The place is made when the first index is.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into() }
    }

    pub(super) fn open(&self, root: &Path, now: SystemTime) -> Index {
        // A root that has no real path cannot be walked either.
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let root = root.as_os_str().as_bytes().to_vec();
        let name = Digest::of(&root).short();
        let (old, voucher) = read(&self.folder.join(&name), &root).unwrap_or_default();
        let new = Vec::with_capacity(old.bytes.len());
        Index { folder: self.folder.clone(), name, root, now, old, voucher, new, learned: 0 }
    }
}

/// The index of one folder while that is walked: the last one is asked, the next one is gathered.
pub(super) struct Index {
    folder: SafePath,
    name: String,
    root: Vec<u8>,
    now: SystemTime,
    old: Records,
    voucher: Option<Digest>,
    new: Vec<u8>,
    /// What it has cost to read what the old one did not know.
    learned: u64,
}

/// The records of a file that are still ahead of the walk.
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
    /// The short hash of the folder's real path.
    pub(super) fn root_hash(&self) -> &str {
        &self.name
    }

    /// Whether all that is listed was in the store that gives this voucher, and still is.
    pub(super) fn is_vouched_by(&self, voucher: Option<Voucher>) -> bool {
        voucher.is_some_and(|voucher| self.voucher == Some(voucher.0))
    }

    /// What a file with this stamp holds, unless that is to be read again for another reason. The paths asked for must
    /// come in the order of a walk.
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

    /// Lists a file that was read, once it is settled.
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

    /// Takes the place of the old one if that is worth the writing. Nobody misses an index that cannot be written.
    pub(super) fn save(self, voucher: Option<Voucher>) {
        let len = (HEAD + self.root.len() + self.new.len()) as u64;
        let tells_more = self.learned > len || (voucher.is_some() && !self.is_vouched_by(voucher));
        if tells_more && !self.new.is_empty() && len <= LARGEST {
            let _ = self.write(voucher);
        }
    }

    /// No crash point here: whether it is written at all depends on the time, and nothing depends on it.
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
    /// The record of this path, when there is one; those before it are passed.
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

/// The records of the index of this folder and the voucher that they were stored under.
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

/// Some bytes that stand after their length, and what stands after them.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// A folder comes before what is in it, and that before its next neighbour.
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
