//! Finds out whether a folder has a change already, or whether the change would still merge into it. It only reads:
//! nothing is stored and nothing is written.
//!
//! Paths are compared one by one, as git would store them: content, execute permission and symlinks count, other modes
//! and empty folders do not. So a change that came by `git merge`, `git am` or by hand counts too.

use std::path::Path;

use skilltune_phases::base::id::{BlobId, TreeId};

use super::capture::{Limits, scan};
use super::ignored::IgnoreRules;
use super::look::CaptureError;
use super::manifest::{Manifest, Node, leaf, same_in_git};
use super::merge::{MOST_MERGED, merge_lines};
use super::objects::Objects;
use super::path::RelPath;
use crate::disk::SafePath;

/// How much of a change a folder has, from all of it to the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// The folder has the whole change.
    Present,
    /// The folder lacks a part of the change, which would merge.
    Absent,
    /// The folder was changed in another way at the same place.
    Conflicting,
}

impl Presence {
    /// Looks for the change from `base` to `change` in a folder of the user.
    pub fn in_folder(
        objects: &Objects,
        folder: &Path,
        base: TreeId,
        change: TreeId,
    ) -> Result<Self, CaptureError> {
        let (base, change) = (objects.manifest(base)?, objects.manifest(change)?);
        let rules = IgnoreRules::knowing(folder, objects, [&base, &change])?;
        let now = scan(folder, Some(rules), Limits::default())?;
        let read = |path: &RelPath, _: BlobId| -> Result<Vec<u8>, CaptureError> {
            let bytes = SafePath::below(folder, path.as_path()).read(MOST_MERGED)?;
            bytes.ok_or_else(|| CaptureError::Changing(folder.join(path.as_path())))
        };
        Look { objects, base: &base, change: &change, now: &now, read: &read }.whole()
    }

    /// Looks for the same in a stored folder.
    pub fn in_tree(
        objects: &Objects,
        tree: TreeId,
        base: TreeId,
        change: TreeId,
    ) -> Result<Self, CaptureError> {
        let (base, change) = (objects.manifest(base)?, objects.manifest(change)?);
        let now = objects.manifest(tree)?;
        let read = |_: &RelPath, blob: BlobId| -> Result<Vec<u8>, CaptureError> { Ok(objects.read(blob)?) };
        Look { objects, base: &base, change: &change, now: &now, read: &read }.whole()
    }
}

/// The entry at a path; folders do not count.
type Leaf<'a> = Option<&'a Node>;

type Reader<'a> = dyn Fn(&RelPath, BlobId) -> Result<Vec<u8>, CaptureError> + 'a;

struct Look<'a> {
    objects: &'a Objects,
    base: &'a Manifest,
    change: &'a Manifest,
    now: &'a Manifest,
    /// Reads a file of `now`.
    read: &'a Reader<'a>,
}

impl Look<'_> {
    fn whole(&self) -> Result<Presence, CaptureError> {
        let mut presence = Presence::Present;
        for (path, base, change) in self.base.differing_in_git(self.change) {
            presence = presence.max(self.at(path, base, leaf(self.now.get(path)), change)?);
        }
        Ok(presence)
    }

    fn at(
        &self,
        path: &RelPath,
        base: Leaf<'_>,
        now: Leaf<'_>,
        change: Leaf<'_>,
    ) -> Result<Presence, CaptureError> {
        if same_in_git(now, change) {
            return Ok(Presence::Present);
        }
        if same_in_git(now, base) {
            return Ok(Presence::Absent);
        }
        let (Some(Node::File { blob: ours, size, .. }), Some(Node::File { blob: theirs, size: other, .. })) =
            (now, change)
        else {
            return Ok(Presence::Conflicting);
        };
        if ours == theirs {
            // Only the execute permission is missing.
            return Ok(Presence::Absent);
        }
        let before = match base {
            None => None,
            Some(Node::File { blob, size, .. }) => Some((*blob, *size)),
            Some(Node::Folder { .. } | Node::Link { .. }) => return Ok(Presence::Conflicting),
        };
        let sizes = [Some(*size), Some(*other), before.map(|(_, size)| size)];
        if sizes.into_iter().flatten().any(|size| size > MOST_MERGED) {
            return Ok(Presence::Conflicting);
        }
        let before = before.map(|(blob, _)| self.objects.read(blob)).transpose()?.unwrap_or_default();
        let (ours, theirs) = ((self.read)(path, *ours)?, self.objects.read(*theirs)?);
        Ok(match merge_lines(&before, &ours, &theirs) {
            Ok(merged) if merged == ours && now.map(Node::is_program) == change.map(Node::is_program) => {
                Presence::Present
            }
            Ok(_) => Presence::Absent,
            Err(_) => Presence::Conflicting,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::trees::{Place, Tree, children_of, file, folder};
    use super::*;

    const BASE: &str = "1\n2\n3\n4\n5\n";

    fn program(text: &str) -> Tree {
        Tree::File(text.into(), 0o755)
    }

    /// Looks for a change in a folder, and in its stored tree.
    fn presence(base: &[(&str, Tree)], change: &[(&str, Tree)], now: &[(&str, Tree)]) -> Presence {
        let place = Place::new();
        let folders = [("base", base), ("change", change), ("now", now)]
            .map(|(name, children)| place.build(name, &children_of(children)));
        let [base, change, stored] = folders.each_ref().map(|folder| place.capture(folder).tree());
        let objects = fs::read_dir(place.objects.place().path()).unwrap().count();
        let looked = Presence::in_folder(&place.objects, &folders[2], base, change).unwrap();
        assert_eq!(Presence::in_tree(&place.objects, stored, base, change).unwrap(), looked);
        let after = fs::read_dir(place.objects.place().path()).unwrap().count();
        assert_eq!(after, objects, "nothing is stored");
        looked
    }

    #[test]
    fn a_change_is_there_however_it_came_and_whatever_else_changed() {
        let base = [("SKILL.md", file(BASE)), ("old", file("x"))];
        let change = [("SKILL.md", file("1\n2\nTHREE\n4\n5\n")), ("new", folder(&[("a", file("a"))]))];
        assert_eq!(presence(&base, &change, &base), Presence::Absent);
        assert_eq!(presence(&base, &change, &change), Presence::Present);
        // Another mode, an empty folder, and an edit of another line and of another file.
        let private = Tree::File("1\n2\nTHREE\n4\nfive\n".into(), 0o600);
        let now = [
            ("SKILL.md", private),
            ("new", folder(&[("a", file("a"))])),
            ("empty", folder(&[])),
            ("mine", file("mine")),
        ];
        assert_eq!(presence(&base, &change, &now), Presence::Present);
    }

    #[test]
    fn a_change_still_merges_beside_edits_and_conflicts_with_those_of_its_lines() {
        let base = [("SKILL.md", file(BASE)), ("notes", file("x")), ("run", file("x"))];
        let change = [("SKILL.md", file("1\n2\nTHREE\n4\n5\n")), ("notes", file("y")), ("run", program("x"))];
        let page = |text: &str| [("SKILL.md", file(text)), ("notes", file("x")), ("run", file("x"))];
        assert_eq!(presence(&base, &change, &page("one\n2\n3\n4\n5\n")), Presence::Absent);
        assert_eq!(presence(&base, &change, &page("1\n2\ndrei\n4\n5\n")), Presence::Conflicting);
        // A part of it is there.
        let part = [("SKILL.md", file("1\n2\nTHREE\n4\n5\n")), ("notes", file("y")), ("run", file("x"))];
        assert_eq!(presence(&base, &change, &part), Presence::Absent);
        let gone = [("SKILL.md", file("1\n2\nTHREE\n4\n5\n")), ("run", program("x"))];
        assert_eq!(presence(&base, &change, &gone), Presence::Conflicting, "a file that it changes is gone");
    }

    #[test]
    fn what_is_no_text_or_no_file_conflicts_where_both_sides_changed_it() {
        let (base, change) = ([("a", file("\0one"))], [("a", file("\0two"))]);
        assert_eq!(presence(&base, &change, &[("a", file("\0three"))]), Presence::Conflicting);
        assert_eq!(presence(&base, &change, &[("a", Tree::Link("b".into()))]), Presence::Conflicting);
        assert_eq!(presence(&[], &change, &[("a", Tree::Link("b".into()))]), Presence::Conflicting);
        assert_eq!(presence(&base, &[], &[]), Presence::Present, "it deletes a file that is gone");
        assert_eq!(presence(&base, &[], &base), Presence::Absent);
    }
}
