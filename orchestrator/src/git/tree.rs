//! Parses the output of `git ls-tree -z`: one entry for each file.

use super::runner::is_id;

/// A file in a git tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub mode: Mode,
    pub id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    File,
    Program,
    Link,
    Submodule,
}

/// One line of the list.
#[derive(Debug)]
pub(super) struct Listed<'l> {
    pub path: &'l [u8],
    pub blob: Blob,
    /// Only with `-l`, and only for objects that the repository itself contains.
    pub size: Option<u64>,
}

/// Returns the entries of a list, with `None` for each entry that cannot be parsed.
pub(super) fn entries(list: &[u8]) -> impl Iterator<Item = Option<Listed<'_>>> {
    list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).map(entry)
}

/// Parses `100644 blob 5716ca59...\tdir/name`; with `-l` a size precedes the tab.
fn entry(entry: &[u8]) -> Option<Listed<'_>> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let mut head = std::str::from_utf8(&entry[..tab]).ok()?.split_ascii_whitespace();
    let (mode, _, id, size) = (head.next()?, head.next()?, head.next()?, head.next());
    let mode = match mode {
        "100644" | "100664" => Mode::File,
        "100755" => Mode::Program,
        "120000" => Mode::Link,
        "160000" => Mode::Submodule,
        _ => return None,
    };
    let size = match size {
        None | Some("-") => None,
        Some(size) => Some(size.parse().ok()?),
    };
    let blob = Blob { mode, id: id.to_owned() };
    (is_id(id) && head.next().is_none()).then_some(Listed { path: &entry[tab + 1..], blob, size })
}

impl Mode {
    pub(super) fn number(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Program => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }
}
