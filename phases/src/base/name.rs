//! Names of files and folders from a journal, a suite or an agent. None of them can lead out of its folder.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A component of a path: no separator, neither `.` nor `..`, and short enough for every file system.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Box<str>);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a valid name for a file or folder")]
pub struct NotAName(pub(crate) String);

const LONGEST: usize = 255;

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let is_plain = !text.contains(['/', '\0']) && !matches!(text, "" | "." | "..");
        if is_plain && text.len() <= LONGEST { Ok(Self(text.into())) } else { Err(NotAName(text.to_owned())) }
    }
}

impl TryFrom<String> for Name {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.into()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_lead_out_of_its_folder_is_not_read() {
        let long = "x".repeat(LONGEST + 1);
        for bad in ["", ".", "..", "/", "../..", "/etc/passwd", "a/b", "a\0", &long] {
            assert!(serde_json::from_value::<Name>(bad.into()).is_err(), "{bad:?}");
        }
        for good in ["a", "...", "a b", ".hidden", "ünïcode", "a\nb"] {
            assert_eq!(serde_json::from_value::<Name>(good.into()).unwrap(), good);
        }
    }
}
