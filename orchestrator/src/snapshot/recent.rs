//! A cache of small objects and manifests that were read recently: every call of a round shows and places the same
//! skill.
//!
//! Two generations approximate an order of use: a full young generation becomes the old one, and entries that were not
//! used since then are dropped. An object never changes, so the cache is never stale.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use skilltune_phases::base::id::Digest;

/// Larger objects are read from the disk each time.
pub(super) const SMALL: u64 = 64 << 10;
/// The overhead of an entry besides its bytes.
const ENTRY: usize = 128;

#[derive(Debug)]
pub(super) struct Recent<V>(Mutex<Generations<V>>);

#[derive(Debug)]
struct Generations<V> {
    /// The number of bytes in one generation.
    room: usize,
    young: HashMap<Digest, Kept<V>>,
    old: HashMap<Digest, Kept<V>>,
    young_bytes: usize,
}

#[derive(Clone, Debug)]
struct Kept<V> {
    value: V,
    bytes: usize,
}

impl<V: Clone> Recent<V> {
    /// Creates a cache of at most twice this many bytes.
    pub(super) fn of(room: usize) -> Self {
        Self(Mutex::new(Generations { room, young: HashMap::new(), old: HashMap::new(), young_bytes: 0 }))
    }

    pub(super) fn get(&self, digest: Digest) -> Option<V> {
        let mut generations = self.lock();
        if let Some(kept) = generations.young.get(&digest) {
            return Some(kept.value.clone());
        }
        let kept = generations.old.remove(&digest)?;
        generations.insert(digest, kept.clone());
        Some(kept.value)
    }

    /// Adds a value of this many bytes.
    pub(super) fn insert(&self, digest: Digest, value: V, bytes: usize) {
        self.lock().insert(digest, Kept { value, bytes });
    }

    fn lock(&self) -> MutexGuard<'_, Generations<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Generations<V> {
    fn insert(&mut self, digest: Digest, kept: Kept<V>) {
        self.young_bytes += kept.bytes + ENTRY;
        self.young.insert(digest, kept);
        if self.young_bytes > self.room {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: usize = 64 << 10;
    const ROOM: usize = 512 << 10;

    fn numbered(nth: usize) -> Digest {
        Digest::of(&nth.to_le_bytes())
    }

    #[test]
    fn what_is_asked_for_stays_and_what_is_not_goes() {
        let recent = Recent::of(ROOM);
        recent.insert(numbered(0), (), LARGEST);
        for nth in 1..100 {
            recent.insert(numbered(nth), (), LARGEST);
            assert!(recent.get(numbered(0)).is_some(), "after {nth}");
        }
        assert!(recent.get(numbered(99)).is_some());
        assert!(recent.get(numbered(1)).is_none());
        let generations = recent.lock();
        let held = generations.young.len() + generations.old.len();
        assert!(held * LARGEST <= 2 * ROOM + LARGEST, "{held} objects");
    }
}
