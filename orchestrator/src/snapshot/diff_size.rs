//! The size of a change, in lines.

use std::ops::AddAssign;

use similar::{ChangeTag, TextDiff};

use super::diff::{READABLE, changes, file, text};
use super::manifest::{Manifest, Node};
use super::objects::{ObjectError, Objects};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffSize {
    /// The number of new lines, and of removed lines.
    pub added: usize,
    pub removed: usize,
    /// The number of files, folders and links that differ.
    pub files: usize,
    /// Those without lines to count: binary and large files.
    pub opaque: usize,
}

/// Counts the differences between two manifests.
pub fn diff_size(objects: &Objects, from: &Manifest, to: &Manifest) -> Result<DiffSize, ObjectError> {
    let mut whole = DiffSize::default();
    for change in changes(from, to) {
        whole += one(objects, from.get(&change.path), to.get(&change.path))?;
    }
    Ok(whole)
}

fn one(objects: &Objects, old: Option<&Node>, new: Option<&Node>) -> Result<DiffSize, ObjectError> {
    let (old, new) = (file(old), file(new));
    let mut size = DiffSize { files: 1, ..DiffSize::default() };
    if old.map(|file| file.0) == new.map(|file| file.0) {
        return Ok(size);
    }
    let large = [old, new].into_iter().flatten().any(|(_, bytes)| bytes > READABLE);
    let sides = if large { (None, None) } else { (text(objects, old)?, text(objects, new)?) };
    let (Some(before), Some(after)) = sides else { return Ok(DiffSize { opaque: 1, ..size }) };
    for change in TextDiff::from_lines(&before, &after).iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => size.added += 1,
            ChangeTag::Delete => size.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    Ok(size)
}

impl AddAssign for DiffSize {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.removed += other.removed;
        self.files += other.files;
        self.opaque += other.opaque;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::trees::{Place, Tree, children_of, file};

    #[test]
    fn lines_are_counted_where_there_are_lines_and_files_everywhere() {
        let place = Place::new();
        let bytes = |bytes: &[u8], mode| Tree::File(bytes.to_vec(), mode);
        let from = place.build(
            "from",
            &children_of(&[
                ("SKILL.md", file("one\ntwo\nthree\n")),
                ("binary", bytes(b"\0", 0o644)),
                ("large", bytes(&b"x\n".repeat(200_000), 0o644)),
                ("link", Tree::Link(b"a".to_vec())),
                ("old.md", file("gone\n")),
                ("run.sh", bytes(b"#!", 0o644)),
                ("same", file("same\n")),
            ]),
        );
        let to = place.build(
            "to",
            &children_of(&[
                ("SKILL.md", file("one\n2\nthree\nfour\n")),
                ("binary", bytes(b"\0\0", 0o644)),
                ("large", bytes(b"x\n", 0o644)),
                ("link", Tree::Link(b"b".to_vec())),
                ("new.md", file("a\nb\n")),
                ("run.sh", bytes(b"#!", 0o755)),
                ("same", file("same\n")),
            ]),
        );
        let (from, to) = (place.capture(&from), place.capture(&to));
        let there = diff_size(&place.objects, &from, &to).unwrap();
        assert_eq!(there, DiffSize { added: 4, removed: 2, files: 7, opaque: 2 });
        let back = diff_size(&place.objects, &to, &from).unwrap();
        assert_eq!(back, DiffSize { added: there.removed, removed: there.added, ..there });
        assert_eq!(diff_size(&place.objects, &to, &to).unwrap(), DiffSize::default());
    }
}
