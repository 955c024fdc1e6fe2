//! The metadata that the system reports for a file, and when it is enough to identify the file's bytes.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use super::manifest::Node;

/// The time that a file must have been left unchanged. It exceeds the coarsest timestamp of a file system, two seconds,
/// and any clock tick, within which a file can change without a new timestamp.
const SETTLED: Duration = Duration::from_secs(3);

/// Everything that changes when a file does. Equal stamps of a settled file mean equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    pub(super) size: u64,
    mode: u32,
    written: Time,
    /// Set only by the system: a program that resets the other time cannot set this one.
    changed: Time,
}

/// Seconds and nanoseconds.
type Time = (i64, u64);

impl Stamp {
    /// The length of an encoded stamp in bytes.
    pub(super) const LEN: usize = 60;

    /// Returns the stamp of the file at a path, following symlinks.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self::of(&rustix::fs::stat(path)?))
    }

    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: number(stat.st_dev),
            inode: number(stat.st_ino),
            size: number(stat.st_size),
            mode: number(stat.st_mode),
            written: (stat.st_mtime, number(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, number(stat.st_ctime_nsec)),
        }
    }

    pub(super) fn mode(&self) -> u32 {
        self.mode & Node::MODE_BITS
    }

    /// Returns true if any later change must show, when the file was read at `now` or later. A write through a memory
    /// map shows only when the system gets to it, but editors do not write text that way.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let latest = now.checked_sub(SETTLED).and_then(|then| then.duration_since(UNIX_EPOCH).ok());
        let Some(latest) = latest.and_then(|then| i64::try_from(then.as_secs()).ok()) else { return false };
        self.written.0 < latest && self.changed.0 < latest
    }

    pub(super) fn encode(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.device.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.inode.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.size.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.mode.to_le_bytes());
        bytes[28..36].copy_from_slice(&self.written.0.to_le_bytes());
        bytes[36..44].copy_from_slice(&self.written.1.to_le_bytes());
        bytes[44..52].copy_from_slice(&self.changed.0.to_le_bytes());
        bytes[52..].copy_from_slice(&self.changed.1.to_le_bytes());
        bytes
    }
}

/// Converts a number: systems differ in the width and the sign.
fn number<T: TryInto<N>, N: Default>(raw: T) -> N {
    raw.try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_settled_when_both_its_times_are_long_enough_ago() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = Stamp::of(&rustix::fs::stat(folder.path()).unwrap());
        let born = UNIX_EPOCH + Duration::from_secs(u64::try_from(stamp.changed.0).unwrap());
        assert!(!stamp.is_settled(born));
        assert!(!stamp.is_settled(born + SETTLED), "the second may not be over");
        assert!(stamp.is_settled(born + SETTLED + Duration::from_secs(1)));
        let ahead = Stamp { written: (stamp.written.0 + 100, 0), ..stamp };
        assert!(!ahead.is_settled(born + SETTLED + Duration::from_secs(1)));
        assert!(!stamp.is_settled(UNIX_EPOCH));
    }
}
