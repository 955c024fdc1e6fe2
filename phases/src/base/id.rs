//! Content hashes as newtypes, so that a tree is never taken for a candidate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Thirty-two bytes of blake3, written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a hash of 64 hex digits: {0:?}")]
pub struct NotADigest(String);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Hashes several parts. Each is preceded by its length, so that no two lists of parts have the same input.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.into()
    }

    /// Returns a hash from its stored bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Returns a number made of 53 of its bits: every JSON reader keeps so many exactly.
    pub fn number(&self) -> u64 {
        u64::from_le_bytes(self.0[..8].try_into().expect("eight bytes")) >> 11
    }

    /// Returns the first twelve digits: enough for people, and for names of folders within one run.
    pub fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(12);
        hex
    }
}

impl From<blake3::Hasher> for Digest {
    fn from(hasher: blake3::Hasher) -> Self {
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        blake3::Hash::from_hex(text)
            .map(|hash| Self(*hash.as_bytes()))
            .map_err(|_| NotADigest(text.to_owned()))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

macro_rules! digest_newtypes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Digest);

        impl $name {
            pub fn short(&self) -> String {
                self.0.short()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

digest_newtypes! {
    /// The stored bytes of one file.
    BlobId;
    /// One exact folder: the hash of its manifest.
    TreeId;
    /// One immutable version of the target: the hash of its members' trees, in order.
    CandidateId;
    /// The frozen criteria of a run.
    ContractId;
    /// Everything that goes into one call of an agent.
    CallKey;
}

impl TreeId {
    /// The empty folder. As a member of a candidate it means no skill at all.
    pub const EMPTY: Self = Self(Digest(*b"\x80\x05\x00\xa0\x03\x44\x25\x61\x5d\xc2\x22\xd4\x17\xb1\x8b\xb7\xf8\x1a\xf4\x93\x26\x5d\x82\x3d\x62\x52\x34\xf8\xf0\x84\x39\x19"));
}

impl CandidateId {
    pub fn of(trees: &[TreeId]) -> Self {
        Self(Digest::of_parts(trees.iter().map(|tree| tree.0.as_bytes().as_slice())))
    }
}
