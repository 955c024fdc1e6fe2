//! The paths that git tracks, read from its index: versions 2 to 4, sparse or split, SHA-1 or SHA-256.
//!
//! ```text
//! DIRC | version | number of entries | entries | extensions | hash
//! entry: 40 bytes of stat | hash | flags | name
//! extension: signature | length | bytes                `link` names the file that holds most entries of a split index,
//!                                                      and which of those are deleted
//! ```
//!
//! The file may be hostile: each step is checked, and an index that git would not write is an error.

use std::collections::HashSet;
use std::path::Path;

use super::RulesError;
use crate::disk;
use crate::snapshot::path::RelPath;

/// The size of an index of two million files.
const LARGEST: u64 = 256 << 20;
/// The most entries that fit into that size, if they have no name. Bits of a bitmap beyond this refer to no entry.
const MOST_ENTRIES: usize = (256 << 20) / 62;
/// The total size of all names and their folders: in version 4 each name reuses a part of the previous one.
const MOST_BYTES: usize = 256 << 20;
/// The longest path that can be opened.
const LONGEST_NAME: usize = 4096;
const SIGNATURE: &[u8] = b"DIRC";
/// The length of git's metadata of a file on the disk; the mode is at offset 24.
const STAT: usize = 40;
const MODE: usize = 24;
const EXTENDED: u16 = 0x4000;
const KIND: u32 = 0o170_000;
/// The modes of entries that are not files: folders of a sparse index and submodules.
const FOLDER: u32 = 0o040_000;
const SUBMODULE: u32 = 0o160_000;

/// Returns the tracked files below a folder of the repository, and their folders; `prefix` ends with a slash.
pub(super) fn below(git: &Path, prefix: &[u8]) -> Result<HashSet<RelPath>, RulesError> {
    let path = git.join("index");
    let unreadable = || RulesError::Index(path.clone());
    let bytes = match disk::read(&path, LARGEST) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashSet::new()),
        read => read.map_err(|_| unreadable())?,
    };
    let Index { mut files, shared } = Index::parse(&bytes, prefix, &[]).ok_or_else(unreadable)?;
    if let Some(Shared { file, deleted }) = shared {
        let bytes = disk::read(&git.join(file), LARGEST).map_err(|_| unreadable())?;
        files.extend(Index::parse(&bytes, prefix, &deleted).ok_or_else(unreadable)?.files);
    }
    Ok(files.iter().flat_map(RelPath::lineage).collect())
}

struct Index {
    files: Vec<RelPath>,
    shared: Option<Shared>,
}

/// The file of a split index that contains most entries, and a bit for each of them that is deleted.
struct Shared {
    file: String,
    deleted: Vec<u64>,
}

impl Index {
    /// The index does not say which hash it uses, but parsing fails with the wrong one.
    fn parse(bytes: &[u8], prefix: &[u8], deleted: &[u64]) -> Option<Self> {
        [20, 32].into_iter().find_map(|hash| Self::parse_with(bytes, hash, prefix, deleted))
    }

    fn parse_with(bytes: &[u8], hash: usize, prefix: &[u8], deleted: &[u64]) -> Option<Self> {
        let rest = bytes.strip_prefix(SIGNATURE)?;
        let (version, rest) = number(rest)?;
        let (entries, mut rest) = number(rest)?;
        let (mut files, mut name) = (Vec::new(), Vec::new());
        let mut left = MOST_BYTES;
        for nth in 0..entries as usize {
            let (mode, _) = number(rest.get(MODE..)?)?;
            let flags = rest.get(STAT + hash..)?.first_chunk().map(|two| u16::from_be_bytes(*two))?;
            let head = STAT + hash + if flags & EXTENDED == 0 { 2 } else { 4 };
            let named = rest.get(head..)?;
            let length = match version {
                2 | 3 => {
                    name = until_nul(named)?.to_vec();
                    // At least one zero byte, up to a multiple of eight.
                    (head + name.len() + 8) / 8 * 8
                }
                4 => {
                    // The name starts with a prefix of the previous one.
                    let (cut, suffix) = varint(named)?;
                    name.truncate(name.len().checked_sub(cut)?);
                    let own = until_nul(suffix)?;
                    name.extend_from_slice(own);
                    head + (named.len() - suffix.len()) + own.len() + 1
                }
                _ => return None,
            };
            rest = rest.get(length..)?;
            if name.len() > LONGEST_NAME {
                return None;
            }
            let is_deleted = deleted.get(nth / 64).is_some_and(|word| word >> (nth % 64) & 1 == 1);
            let counts = !is_deleted && !matches!(mode & KIND, FOLDER | SUBMODULE);
            if let Some(below) = name.strip_prefix(prefix).filter(|_| counts && !name.is_empty()) {
                let levels = below.split(|byte| *byte == b'/').count();
                left = left.checked_sub(levels * below.len())?;
                files.push(RelPath::parse(below).ok()?);
            }
        }
        Some(Self { files, shared: shared(rest, hash)? })
    }
}

/// Returns the rest of a split index, if it is one; the extensions must end at the hash.
#[expect(clippy::option_option, reason = "a file that is no index, and an index that is not split")]
fn shared(mut rest: &[u8], hash: usize) -> Option<Option<Shared>> {
    let mut shared = None;
    while rest.len() != hash {
        let (name, after) = rest.split_first_chunk::<4>()?;
        let (length, after) = number(after)?;
        let (content, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
        if name == b"link" {
            let (id, bitmaps) = content.split_at_checked(hash)?;
            let file =
                id.iter().fold(String::from("sharedindex."), |name, byte| name + &format!("{byte:02x}"));
            // The second bitmap marks entries that are replaced by others of the same name.
            let deleted = if bitmaps.is_empty() { Vec::new() } else { bits(bitmaps)? };
            shared = id.iter().any(|&byte| byte != 0).then_some(Shared { file, deleted });
        }
        rest = after;
    }
    Some(shared)
}

/// Decompresses a bitmap (EWAH). Each run starts with a word that says how many words of equal bits follow, and how
/// many literal words.
pub(super) fn bits(bytes: &[u8]) -> Option<Vec<u64>> {
    let (_size, rest) = number(bytes)?;
    let (words, mut rest) = number(rest)?;
    let mut next = || {
        let (eight, after) = rest.split_first_chunk()?;
        rest = after;
        Some(u64::from_be_bytes(*eight))
    };
    let mut all = Vec::new();
    let mut left = words;
    while let Some(after) = left.checked_sub(1) {
        let head = next()?;
        let (run, own) = ((head >> 1 & 0xffff_ffff) as usize, (head >> 33) as u32);
        let most = MOST_ENTRIES / 64 + 1;
        all.resize((all.len() + run).min(most.max(all.len())), if head & 1 == 1 { u64::MAX } else { 0 });
        left = after.checked_sub(own)?;
        for _ in 0..own {
            all.push(next()?);
        }
    }
    Some(all)
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (four, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*four), rest))
}

fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    Some(&bytes[..bytes.iter().position(|&byte| byte == 0)?])
}

/// Reads a number like an offset in git's pack files: seven bits per byte, and one is added for each further byte.
fn varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_usize;
    for (at, &byte) in bytes.iter().enumerate() {
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
        value = value.checked_add(1).filter(|value| *value < 1 << 32)?;
    }
    None
}
