//! Errors in a settings file. Values are quoted only where no secret can be.

use std::fmt;
use std::path::PathBuf;

use crate::settings::origin::Origin;
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::trust::file::Unreadable;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error("{spot}: {message}")]
    Syntax { spot: Spot, message: String },
    #[error("{spot}: unknown key `{key}`")]
    Unknown { spot: Spot, key: String, hint: String },
    #[error("{spot}: `{key}` must be {must}{}", not(.found.as_deref()))]
    Wrong { spot: Spot, key: String, must: String, found: Option<String> },
    #[error("{spot}: only your own settings may set `{key}`, which sends calls to other machines")]
    NotYours { spot: Spot, key: &'static str },
    #[error("{least} must not be more than {most}")]
    Crossed { least: Held, most: Held },
}

/// A setting in force, and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub key: &'static str,
    pub value: usize,
    pub origin: Origin,
}

/// A line of a file, counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub file: PathBuf,
    pub line: usize,
}

const ELSEWHERE: &str = "remove it there, or set it in your own skilltune.toml";

fn not(found: Option<&str>) -> String {
    found.map(|found| format!(", not {found}")).unwrap_or_default()
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{} = {}` ({})", self.key, self.value, self.origin)
    }
}

impl From<SettingsError> for Complaint {
    fn from(error: SettingsError) -> Self {
        let complaint = Self::of(ErrorKind::Input, &error);
        match error {
            SettingsError::Unknown { hint, .. } => complaint.hint(hint),
            SettingsError::Unreadable(_) | SettingsError::Syntax { .. } => {
                complaint.hint("fix the file, or move it away; settings are TOML in UTF-8")
            }
            SettingsError::NotYours { .. } => complaint.hint(ELSEWHERE),
            // The message already says what the value must be.
            SettingsError::Wrong { .. } => complaint,
            SettingsError::Crossed { .. } => complaint.hint("lower the first, or raise the second"),
        }
    }
}
