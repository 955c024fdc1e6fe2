//! A path below the root of a snapshot: raw bytes that cannot name anything outside of it.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Names at the top of a target that are never captured and never changed.
pub const RESERVED: [&str; 2] = [".git", ".skilltune"];

/// A relative path without `.`, `..`, empty components or NUL, ordered by its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Box<[u8]>);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a path inside the folder: {0:?}")]
pub struct BadPath(String);

impl RelPath {
    pub fn parse(bytes: &[u8]) -> Result<Self, BadPath> {
        if bytes.split(|&byte| byte == b'/').all(is_name) {
            Ok(Self(bytes.into()))
        } else {
            Err(BadPath(String::from_utf8_lossy(bytes).into_owned()))
        }
    }

    /// Returns the path of the entry `name` in the folder `parent`, or in the root.
    pub fn below(parent: Option<&Self>, name: &OsStr) -> Result<Self, BadPath> {
        let name = name.as_bytes();
        if !is_name(name) || name.contains(&b'/') {
            return Err(BadPath(String::from_utf8_lossy(name).into_owned()));
        }
        Ok(Self(parent.map_or(name.into(), |parent| [&parent.0, b"/".as_slice(), name].concat().into())))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Returns the parent folder; `None` is the root.
    pub fn parent(&self) -> Option<Self> {
        self.parent_bytes().map(|bytes| Self(bytes.into()))
    }

    pub(super) fn parent_bytes(&self) -> Option<&[u8]> {
        let slash = self.0.iter().rposition(|&byte| byte == b'/')?;
        Some(&self.0[..slash])
    }

    /// Returns the last component.
    pub fn name(&self) -> &OsStr {
        let start = self.0.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        OsStr::from_bytes(&self.0[start..])
    }

    /// Returns the path itself and all its parent folders, outermost first.
    pub fn lineage(&self) -> impl Iterator<Item = Self> + '_ {
        let ends = (0..self.0.len()).filter(|&at| self.0[at] == b'/').chain([self.0.len()]);
        ends.map(|end| Self(self.0[..end].into()))
    }

    /// Returns true if this is the other path, or a path below it.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(&*other.0);
        rest.is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
    }

    pub fn is_reserved(&self) -> bool {
        let top = self.0.split(|&byte| byte == b'/').next();
        RESERVED.iter().any(|name| top == Some(name.as_bytes()))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in String::from_utf8_lossy(&self.0).chars() {
            match char {
                '\'' | '"' => f.write_char(char)?,
                _ => write!(f, "{}", char.escape_debug())?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

fn is_name(component: &[u8]) -> bool {
    !component.is_empty() && component != b"." && component != b".." && !component.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_could_leave_the_folder_does_not_parse() {
        for bad in ["", "/", "/etc", "a/", "a//b", ".", "./a", "..", "a/../b", "a/..", "a\0b"] {
            assert!(RelPath::parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
        for good in ["a", "a/b", "...", "a/.b", "..a", "a b", "\n"] {
            assert!(RelPath::parse(good.as_bytes()).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn odd_bytes_are_escaped_for_the_eye_and_kept_in_the_path() {
        let path = RelPath::parse(b"it's/a\nb\xff").unwrap();
        assert_eq!(path.to_string(), "it's/a\\nb\u{fffd}");
        assert_eq!(path.name().as_bytes(), b"a\nb\xff");
    }

    #[test]
    fn a_path_is_within_itself_and_the_folders_above_it() {
        let path = |text: &str| RelPath::parse(text.as_bytes()).unwrap();
        for (other, is_within) in
            [("a", true), ("a/b", true), ("a/b/c", true), ("a/b/c/d", false), ("a/bb", false), ("b", false)]
        {
            assert_eq!(path("a/b/c").is_within(&path(other)), is_within, "{other}");
        }
        assert!(!path("a/bc").is_within(&path("a/b")));
    }

    #[test]
    fn only_the_top_of_a_target_is_reserved() {
        assert!(RelPath::parse(b".git/config").unwrap().is_reserved());
        assert!(!RelPath::parse(b"vendor/.git").unwrap().is_reserved());
        assert!(!RelPath::parse(b".gitignore").unwrap().is_reserved());
    }
}
