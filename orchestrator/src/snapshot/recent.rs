//! Small objects that were read of late: every call of a round shows and places the same skill.
//!
//! Two generations stand in for an order of use: when the young one is full, it becomes the old one, and what was not
//! asked for since the last time goes. An object never changes, so nothing here is ever stale.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skilltune_phases::id::Digest;

/// A larger object is read from the disk each time.
pub(super) const SMALL: u64 = 64 << 10;
/// How much one generation holds.
const GENERATION: usize = 512 << 10;
/// What an entry takes beside its bytes.
const ENTRY: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Digest, Arc<[u8]>>,
    old: HashMap<Digest, Arc<[u8]>>,
    young_bytes: usize,
}

impl Recent {
    pub(super) fn get(&self, digest: Digest) -> Option<Arc<[u8]>> {
        let mut generations = self.lock();
        if let Some(bytes) = generations.young.get(&digest) {
            return Some(Arc::clone(bytes));
        }
        let bytes = generations.old.remove(&digest)?;
        generations.insert(digest, Arc::clone(&bytes));
        Some(bytes)
    }

    pub(super) fn insert(&self, digest: Digest, bytes: Arc<[u8]>) {
        self.lock().insert(digest, bytes);
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn insert(&mut self, digest: Digest, bytes: Arc<[u8]>) {
        self.young_bytes += bytes.len() + ENTRY;
        self.young.insert(digest, bytes);
        if self.young_bytes > GENERATION {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: usize = 64 << 10;

    fn numbered(nth: usize) -> Digest {
        Digest::of(&nth.to_le_bytes())
    }

    #[test]
    fn what_is_asked_for_stays_and_what_is_not_goes() {
        let recent = Recent::default();
        recent.insert(numbered(0), vec![0; LARGEST].into());
        for nth in 1..100 {
            recent.insert(numbered(nth), vec![0; LARGEST].into());
            assert!(recent.get(numbered(0)).is_some(), "after {nth}");
        }
        assert!(recent.get(numbered(99)).is_some());
        assert!(recent.get(numbered(1)).is_none());
        let generations = recent.lock();
        let held = generations.young.len() + generations.old.len();
        assert!(held * LARGEST <= 2 * GENERATION + LARGEST, "{held} objects");
    }
}
