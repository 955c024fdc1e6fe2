//! The expert of a run, as it was when the run began.

use serde::{Deserialize, Serialize};

use crate::base::id::Digest;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    pub name: String,
    pub persona: String,
    pub origin: Origin,
    /// The digest of its file.
    pub digest: Digest,
}

/// Who wrote the file of an expert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    BuiltIn,
    Project,
    User,
}

impl Origin {
    pub fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}
