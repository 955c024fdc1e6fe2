//! The reasons why the reference validator refuses front matter.

use std::fmt;

use super::LONGEST;

/// The maximum length at which a user's name or key is shown.
pub(super) const SHOWN: usize = 100;

/// One reason why the reference validator refuses a skill. Names and keys are shortened for display.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("front matter is missing: the file must start with `---`")]
    NotOpened,
    #[error("front matter has no closing `---`")]
    NotClosed,
    #[error("front matter is longer than {LONGEST} bytes")]
    Oversized,
    #[error("front matter contains the unprintable character {found:?}")]
    Unprintable { line: usize, found: char },
    #[error("front matter is not YAML: {why}")]
    NotYaml { line: usize, why: Box<str> },
    #[error("front matter uses {construct}, which strict parsers reject")]
    Refused { line: usize, construct: Construct },
    #[error("duplicate key {key:?}")]
    Repeated { line: usize, key: String },
    #[error("front matter is not a mapping of keys to values")]
    NotMapping,
    #[error("unknown field {key:?}")]
    Unknown { line: usize, key: String },
    #[error("`{0}` is missing")]
    Missing(Field),
    #[error("`{field}` is not text, or is empty")]
    NoText { line: usize, field: Field },
    #[error("`{field}` has {long} characters; the limit is {most}")]
    TooLong { line: usize, field: Field, long: usize, most: usize },
    #[error("name {name:?} contains letters that are not lower-case")]
    NotLowercase { line: usize, name: String },
    #[error("name {name:?} starts or ends with a hyphen")]
    OuterHyphen { line: usize, name: String },
    #[error("name {name:?} has two hyphens in a row")]
    DoubleHyphen { line: usize, name: String },
    #[error("name {name:?} contains {found:?}; only letters, digits and hyphens are allowed")]
    NotLetter { line: usize, name: String, found: char },
    #[error("name {name:?} differs from its folder, {folder:?}")]
    NotFolder { line: usize, name: String, folder: String },
}

/// The fields whose values are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Name,
    Description,
    Compatibility,
}

/// YAML constructs that strict readers refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Construct {
    #[error("an alias")]
    Alias,
    #[error("an anchor")]
    Anchor,
    #[error("a tag")]
    Tag,
    #[error("brackets or braces")]
    Flow,
    #[error("a tab outside of quotes")]
    Tab,
    #[error("an invisible character outside of quotes")]
    Invisible,
    #[error("a list or mapping as a key")]
    CollectionAsKey,
    #[error("a `<<` that merges nothing")]
    Merge,
    #[error("mappings side by side with different indents")]
    UnevenIndent,
    #[error("a second document")]
    SecondDocument,
}

impl Fault {
    /// Returns a name for the kind of fault that stays when its wording changes.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::NotOpened => "not-opened",
            Self::NotClosed => "not-closed",
            Self::Oversized => "oversized",
            Self::Unprintable { .. } => "unprintable",
            Self::NotYaml { .. } => "not-yaml",
            Self::Refused { .. } => "refused-yaml",
            Self::Repeated { .. } => "repeated-key",
            Self::NotMapping => "not-mapping",
            Self::Unknown { .. } => "unknown-field",
            Self::Missing(_) => "missing-field",
            Self::NoText { .. } => "no-text",
            Self::TooLong { .. } => "too-long",
            Self::NotLowercase { .. } => "name-case",
            Self::OuterHyphen { .. } | Self::DoubleHyphen { .. } => "name-hyphen",
            Self::NotLetter { .. } => "name-character",
            Self::NotFolder { .. } => "name-folder",
        }
    }

    /// Returns the line of the file; the first line if the fault is about the whole front matter.
    pub fn line(&self) -> usize {
        match self {
            Self::NotOpened | Self::NotClosed | Self::Oversized | Self::NotMapping | Self::Missing(_) => 1,
            Self::Unprintable { line, .. }
            | Self::NotYaml { line, .. }
            | Self::Refused { line, .. }
            | Self::Repeated { line, .. }
            | Self::Unknown { line, .. }
            | Self::NoText { line, .. }
            | Self::TooLong { line, .. }
            | Self::NotLowercase { line, .. }
            | Self::OuterHyphen { line, .. }
            | Self::DoubleHyphen { line, .. }
            | Self::NotLetter { line, .. }
            | Self::NotFolder { line, .. } => *line,
        }
    }
}

impl Field {
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Compatibility => "compatibility",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
