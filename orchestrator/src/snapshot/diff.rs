//! The difference between two manifests: as a list for programs, as a unified diff for people, as a number of lines.

use std::fmt::Write;
use std::ops::AddAssign;

use similar::{ChangeTag, DiffTag, TextDiff};
use skilltune_phases::base::id::BlobId;

use super::manifest::{Manifest, Node};
use super::objects::{ObjectError, Objects};
use super::path::RelPath;

/// The largest file of which a person reads the lines.
const READABLE: u64 = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Removed,
    /// Other bytes or another link target; the mode may differ too.
    Modified,
    /// Only the mode.
    Mode,
    /// Another kind of entry, such as a folder in place of a file.
    Retyped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: RelPath,
    pub kind: ChangeKind,
}

/// Returns the paths at which two folders differ, sorted.
pub fn changes(from: &Manifest, to: &Manifest) -> Vec<Change> {
    let changed =
        |(path, old, new): (&RelPath, _, _)| Some(Change { path: path.clone(), kind: kind(old, new)? });
    from.beside(to).filter_map(changed).collect()
}

/// Returns the difference as text for people, in the form of `git diff`.
pub fn unified(objects: &Objects, from: &Manifest, to: &Manifest) -> Result<String, ObjectError> {
    unified_within(objects, from, to, (READABLE, usize::MAX))
}

/// Returns the same for folders that agents have filled: only the sizes of files that are larger than `readable`, and no
/// further file once the text is longer than `most`.
pub fn unified_within(
    objects: &Objects,
    from: &Manifest,
    to: &Manifest,
    (readable, most): (u64, usize),
) -> Result<String, ObjectError> {
    let mut text = String::new();
    for Change { path, kind } in changes(from, to) {
        if text.len() > most {
            break;
        }
        let (old, new) = (from.get(&path), to.get(&path));
        let _ = writeln!(text, "{}", headline(&path, kind, old, new));
        text.push_str(&body(objects, &path, (old, new), readable)?);
    }
    Ok(text)
}

fn kind(old: Option<&Node>, new: Option<&Node>) -> Option<ChangeKind> {
    match (old, new) {
        (None, None) => None,
        (None, Some(_)) => Some(ChangeKind::Added),
        (Some(_), None) => Some(ChangeKind::Removed),
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) if old.same_content(new) => Some(ChangeKind::Mode),
        (Some(old), Some(new)) if old.same_kind(new) => Some(ChangeKind::Modified),
        (Some(_), Some(_)) => Some(ChangeKind::Retyped),
    }
}

fn headline(path: &RelPath, kind: ChangeKind, old: Option<&Node>, new: Option<&Node>) -> String {
    let verb = match kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Modified => "modified",
        ChangeKind::Mode => "mode of",
        ChangeKind::Retyped => "retyped",
    };
    let mut sides: Vec<String> = [old, new].into_iter().flatten().map(describe).collect();
    sides.dedup();
    // The properties of nearly every file are not worth printing.
    match sides.as_slice() {
        [only] if only == "file 0644" => format!("{verb} {path}"),
        _ => format!("{verb} {path} ({})", sides.join(" -> ")),
    }
}

fn describe(node: &Node) -> String {
    match node {
        Node::File { mode, .. } => format!("file {mode:04o}"),
        Node::Folder { mode } => format!("folder {mode:04o}"),
        Node::Link { target } => format!("link to {:?}", String::from_utf8_lossy(target)),
    }
}

fn body(
    objects: &Objects,
    path: &RelPath,
    (old, new): (Option<&Node>, Option<&Node>),
    readable: u64,
) -> Result<String, ObjectError> {
    let (old, new) = (file(old), file(new));
    if old.map(|file| file.0) == new.map(|file| file.0) {
        return Ok(String::new());
    }
    let sizes = [old, new].map(|file| file.map_or(0, |(_, size)| size));
    if sizes.iter().any(|&size| size > readable) {
        return Ok(format!("large file: {} -> {} bytes\n", sizes[0], sizes[1]));
    }
    let (Some(before), Some(after)) = (text(objects, old)?, text(objects, new)?) else {
        return Ok(format!("binary file: {} -> {} bytes\n", sizes[0], sizes[1]));
    };
    let name =
        |side: &str, file: Option<_>| file.map_or("/dev/null".to_owned(), |_| format!("{side}/{path}"));
    let diff = TextDiff::from_lines(&before, &after);
    let mut diff = diff.unified_diff();
    Ok(diff.context_radius(3).header(&name("a", old), &name("b", new)).to_string())
}

fn file(node: Option<&Node>) -> Option<(BlobId, u64)> {
    match node {
        Some(Node::File { blob, size, .. }) => Some((*blob, *size)),
        Some(Node::Folder { .. } | Node::Link { .. }) | None => None,
    }
}

/// Returns the text of one side, empty if the side is missing; `None` if it is not text.
fn text(objects: &Objects, file: Option<(BlobId, u64)>) -> Result<Option<String>, ObjectError> {
    let Some((blob, size)) = file else { return Ok(Some(String::new())) };
    let text = String::from_utf8(objects.read_whole(blob, size)?).ok();
    Ok(text.filter(|text| !text.contains('\0')))
}

/// Returns the text of an entry as `unified` shows it, empty without a file; `None` for links, large and binary files.
pub fn readable(objects: &Objects, node: Option<&Node>) -> Result<Option<String>, ObjectError> {
    match node {
        Some(Node::Link { .. }) => Ok(None),
        Some(Node::File { size, .. }) if *size > READABLE => Ok(None),
        Some(Node::File { .. } | Node::Folder { .. }) | None => text(objects, file(node)),
    }
}

/// The lines that differ between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineChanges {
    /// First and last lines of the new text.
    pub added: Vec<(u32, u32)>,
    /// First and last lines of the old text.
    pub removed: Vec<(u32, u32)>,
    /// The lines of the new text after which lines were removed and none added.
    pub gaps: Vec<u32>,
}

/// Returns the difference of two texts in the form of `git diff`, and the lines that differ.
pub fn line_diff(before: &str, after: &str) -> (String, LineChanges) {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = LineChanges::default();
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
        let (old, new) = (op.old_range(), op.new_range());
        if !old.is_empty() {
            lines.removed.push((number(old.start + 1), number(old.end)));
        }
        if new.is_empty() {
            lines.gaps.push(number(new.start));
        } else {
            lines.added.push((number(new.start + 1), number(new.end)));
        }
    }
    (diff.unified_diff().context_radius(3).to_string(), lines)
}

/// The size of a change, in lines.
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
        whole += size(objects, from.get(&change.path), to.get(&change.path))?;
    }
    Ok(whole)
}

fn size(objects: &Objects, old: Option<&Node>, new: Option<&Node>) -> Result<DiffSize, ObjectError> {
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
    use super::ChangeKind::{Mode, Modified, Retyped};
    use super::*;
    use crate::snapshot::trees::{Place, Tree, children_of, file, folder};

    #[test]
    fn a_diff_shows_lines_where_a_person_can_read_them_and_numbers_elsewhere() {
        let place = Place::new();
        let bytes = |bytes: &[u8], mode| Tree::File(bytes.to_vec(), mode);
        let from = place.build(
            "from",
            &children_of(&[
                ("SKILL.md", file("one\ntwo\n")),
                ("binary", bytes(b"\0", 0o644)),
                ("large", bytes(&b"x".repeat(300_000), 0o644)),
                ("link", Tree::Link(b"a".to_vec())),
                ("run.sh", bytes(b"#!", 0o644)),
                ("was", folder(&[])),
            ]),
        );
        let to = place.build(
            "to",
            &children_of(&[
                ("SKILL.md", file("one\n2\n")),
                ("binary", bytes(b"\0\0", 0o644)),
                ("large", bytes(b"x", 0o644)),
                ("link", Tree::Link(b"b".to_vec())),
                ("run.sh", bytes(b"#!", 0o755)),
                ("was", file("file\n")),
            ]),
        );
        let (from, to) = (place.capture(&from), place.capture(&to));
        let expected = "\
modified SKILL.md
--- a/SKILL.md
+++ b/SKILL.md
@@ -1,2 +1,2 @@
 one
-two
+2
modified binary
binary file: 1 -> 2 bytes
modified large
large file: 300000 -> 1 bytes
modified link (link to \"a\" -> link to \"b\")
mode of run.sh (file 0644 -> file 0755)
retyped was (folder 0755 -> file 0644)
--- /dev/null
+++ b/was
@@ -0,0 +1 @@
+file
";
        assert_eq!(unified(&place.objects, &from, &to).unwrap(), expected);
        let kinds: Vec<ChangeKind> = changes(&from, &to).into_iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [Modified, Modified, Modified, Modified, Mode, Retyped]);
        assert_eq!(unified(&place.objects, &to, &to).unwrap(), "");
        let short = unified_within(&place.objects, &from, &to, (0, 0)).unwrap();
        assert_eq!(short.lines().count(), 2, "the first file, by its sizes: {short}");
    }

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
