//! A file of settings, a suite or a prompt, as it was when it was read: trust is bound to these exact bytes.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use skilltune_orchestrator::disk;
use skilltune_phases::base::id::Digest;

use crate::terminal::complaint::{Complaint, ErrorKind};

#[derive(Clone, Debug)]
pub struct TextFile {
    /// The real path.
    pub path: PathBuf,
    pub digest: Digest,
    text: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", .path.display())]
pub struct Unreadable {
    pub path: PathBuf,
    pub source: io::Error,
}

/// Larger than any prompt that a model takes.
const LARGEST: u64 = 8 << 20;

impl From<Unreadable> for Complaint {
    fn from(error: Unreadable) -> Self {
        Self::of(ErrorKind::Input, &error)
            .hint("fix the file, or move it away; skilltune reads text in UTF-8")
    }
}

impl TextFile {
    /// Reads a file; returns `None` if it does not exist.
    pub fn read(path: &Path) -> Result<Option<Self>, Unreadable> {
        let unreadable = |source| Unreadable { path: path.to_owned(), source };
        let bytes = match disk::read(path, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(unreadable)?,
        };
        let digest = Digest::of(&bytes);
        let text = String::from_utf8(bytes)
            .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
        Ok(Some(Self { path: path.canonicalize().map_err(unreadable)?, digest, text }))
    }

    /// Returns a file with this text, which the caller has read itself or is about to write.
    pub fn drafted(path: &Path, text: String) -> Self {
        Self { path: path.to_owned(), digest: Digest::of(text.as_bytes()), text }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parses the content, or returns the error and its line.
    pub fn toml<T: DeserializeOwned>(&self) -> Result<T, String> {
        toml::from_str(&self.text).map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| 1 + self.text[..span.start].matches('\n').count());
            let at = line.map_or_else(String::new, |line| format!("line {line}: "));
            format!("{at}{}", error.message())
        })
    }
}
