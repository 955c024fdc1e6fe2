//! The answers of all runs of a project, by call key. Only this user on this machine can have written them.
//!
//! A `.skilltune/cache` may come with a repository, and an answer decides what a run does next. So each answer ends
//! with a keyed hash whose key is in the user's state folder. An answer without it, or with another user's, is ignored.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use skilltune_phases::base::id::CallKey;
use skilltune_phases::base::json;

use super::checksum;
use super::layout::Home;
use crate::disk::{DiskError, OnDisk, SafePath};

const FIELD: &str = "seal";
const DIGITS: usize = 64;
/// A larger answer is not read: agents cannot output that much.
const LARGEST: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub struct AnswerCache {
    place: SafePath,
    key: Key,
}

/// A secret of this user.
#[derive(Clone)]
struct Key([u8; blake3::KEY_LEN]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl AnswerCache {
    /// Opens the answers of a project, sealed with the key in the user's state folder. Creates the key if it is
    /// missing.
    pub fn of(home: &Home, state: &Path) -> Result<Self, DiskError> {
        let file = SafePath::below(state, "cache-key");
        if !file.exists() {
            SafePath::below(state, "runs").make_folder()?;
            let mut key = [0; blake3::KEY_LEN];
            random(&mut key).on_disk("generate a key for", file.path())?;
            match file.create_private(&key) {
                // Another command was faster: use its key.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => created?,
            }
        }
        let bytes = file.read(blake3::KEY_LEN as u64)?.unwrap_or_default();
        let not_a_key = || io::Error::other("it is not a 32-byte key; delete it to start a new cache");
        let key = bytes.try_into().map_err(|_| not_a_key()).on_disk("use", file.path())?;
        Ok(Self { place: home.cache(), key: Key(key) })
    }

    /// Serializes an answer for storing, with its keyed hash.
    pub(crate) fn seal(&self, answer: &impl Serialize) -> Vec<u8> {
        let mut text = json::line(answer).into_bytes();
        checksum::append(&mut text, FIELD, |body| self.sum(body));
        text
    }

    /// Reads an answer that was stored at `at` with this user's key, in the cache or in a run.
    pub(crate) fn read<T: DeserializeOwned>(&self, at: &SafePath) -> Option<T> {
        let text = at.read(LARGEST).ok()??;
        let is_ours = checksum::is_right(&text, FIELD, DIGITS, |body| self.sum(body));
        is_ours.then(|| serde_json::from_slice(&text).ok())?
    }

    /// Links a stored answer of a run into the cache, where the other runs find it.
    pub(crate) fn share(&self, key: CallKey, answer: &SafePath) -> Result<(), DiskError> {
        // Somebody may have deleted the folder during the run, or before it was resumed.
        self.place.make()?;
        answer.link_to(&self.place_of(key))
    }

    pub(crate) fn place_of(&self, key: CallKey) -> SafePath {
        self.place.join(format!("{key}.json"))
    }

    fn sum(&self, body: &[u8]) -> String {
        blake3::keyed_hash(&self.key.0, body).to_hex().to_string()
    }
}

/// Returns the calls with cached answers, stored by any user.
pub(super) fn cached(home: &Home) -> Result<impl Iterator<Item = (SafePath, CallKey)>, DiskError> {
    let place = home.cache();
    let names = place.names()?.into_iter();
    Ok(names.filter_map(move |name| {
        let key = name.to_str()?.strip_suffix(".json")?.parse().ok()?;
        Some((place.join(&name), CallKey(key)))
    }))
}

#[expect(clippy::disallowed_methods, reason = "a file of the system")]
fn random(bytes: &mut [u8]) -> io::Result<()> {
    use std::io::Read as _;
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use skilltune_phases::base::id::Digest;

    use super::*;
    use crate::disk::atomic::Durability;

    #[test]
    fn only_an_answer_of_this_users_is_read() {
        let (project, mine, theirs) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let home = Home::of(project.path());
        home.create().unwrap();
        let cache = AnswerCache::of(&home, mine.path()).unwrap();
        let at = cache.place_of(CallKey(Digest::of(b"a call")));
        at.create(&cache.seal(&serde_json::json!({"score": 100}))).unwrap();
        let read =
            |cache: &AnswerCache| cache.read::<serde_json::Value>(&at).map(|answer| answer["score"].clone());
        assert_eq!(read(&cache), Some(100.into()));
        assert_eq!(read(&AnswerCache::of(&home, mine.path()).unwrap()), Some(100.into()), "the key stays");
        assert_eq!(read(&AnswerCache::of(&home, theirs.path()).unwrap()), None);
        at.replace(br#"{"score":100}"#, Durability::Order).unwrap();
        assert_eq!(read(&cache), None, "no seal at all");
    }
}
