//! Checks a merged tree against the changes that were merged, by code other than the merge.
//!
//! If the changes of a path follow each other, the path has exactly what the last one made. If two were made side by
//! side, the merged file has the lines of the base and of each change, in order, less those that the others deleted. A
//! deleted line is known by its text, so of lines that are equal to it only the number counts. If another change moved
//! lines within the file, the order depends on who compares, and only the numbers count.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use skilltune_phases::base::id::{BlobId, TreeId};

use super::lines::{self, Names};
use super::manifest::{Manifest, Node, leaf};
use super::merge::MOST_MERGED;
use super::objects::{ObjectError, Objects};
use super::path::RelPath;
use super::renames::renames;

/// Something that the base or an accepted change has, and the merged tree has not, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub path: RelPath,
    pub kind: LossKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// The first line that is not there, or not in its place.
    Line(Box<str>),
    /// The file, symlink or folder is not there.
    Missing,
    /// A binary, symlink or text that no accepted change made.
    Content,
    Mode,
    /// A file, symlink or folder that neither the base nor a change has, or that the last change deleted.
    Unexpected,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kind {
            LossKind::Line(line) => write!(f, "{path} lost the line {line:?}"),
            LossKind::Missing => write!(f, "{path} is missing"),
            LossKind::Content => write!(f, "{path} has another content than any change gave it"),
            LossKind::Mode => write!(f, "{path} has another mode than any change gave it"),
            LossKind::Unexpected => write!(f, "{path} should not exist"),
        }
    }
}

/// Returns what a merge of the accepted changes (from, made) lost, by path. The changes are in the order of the merge.
pub fn census(
    objects: &Objects,
    base: TreeId,
    accepted: &[(TreeId, TreeId)],
    merged: TreeId,
) -> Result<Vec<Loss>, ObjectError> {
    let mut changes = Vec::new();
    for (from, made) in accepted {
        changes.push([objects.manifest(*from)?, objects.manifest(*made)?]);
    }
    Census { objects, base: objects.manifest(base)?, changes, merged: objects.manifest(merged)? }.losses()
}

struct Census<'a> {
    objects: &'a Objects,
    base: Manifest,
    changes: Vec<[Manifest; 2]>,
    merged: Manifest,
}

/// What a file or symlink has, without its mode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content<'a> {
    Nothing,
    Blob(BlobId),
    Link(&'a [u8]),
}

/// The paths of a file before and after all renames.
type Family = BTreeSet<RelPath>;

enum Lines {
    /// A version is a binary, a symlink or too large.
    Opaque,
    Complete,
    Lost(Box<str>),
}

impl Census<'_> {
    fn losses(&self) -> Result<Vec<Loss>, ObjectError> {
        let mut touching: BTreeMap<&RelPath, Vec<usize>> = BTreeMap::new();
        for (path, ..) in self.base.beside(&self.merged).filter(|(_, base, merged)| base != merged) {
            touching.entry(path).or_default();
        }
        for (number, [from, made]) in self.changes.iter().enumerate() {
            for (path, ..) in from.beside(made).filter(|(_, from, made)| from != made) {
                touching.entry(path).or_default().push(number);
            }
        }
        let (mut losses, mut doubtful) = (Vec::new(), Vec::new());
        for (path, by) in &touching {
            let must = self.followed(path, by, |node| content(leaf(node)));
            if must == Some(content(leaf(self.merged.get(path)))) {
                losses.extend(self.mode(path, by).map(|kind| Loss { path: (*path).clone(), kind }));
            } else {
                doubtful.push((*path, must));
            }
        }
        losses.extend(self.compared(&doubtful)?);
        losses.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(losses)
    }

    /// Follows a property of a path from the base through the changes. Each starts where an earlier one ended, or makes
    /// the same. Returns `None` if two were made side by side.
    fn followed<'m, T: PartialEq>(
        &'m self,
        path: &RelPath,
        by: &[usize],
        property: impl Fn(Option<&'m Node>) -> T,
    ) -> Option<T> {
        let mut now = property(self.base.get(path));
        for [from, made] in by.iter().map(|number| &self.changes[*number]) {
            let (from, made) = (property(from.get(path)), property(made.get(path)));
            if from != made && made != now {
                if from != now {
                    return None;
                }
                now = made;
            }
        }
        Some(now)
    }

    /// Checks the mode of an entry and whether a folder is there. A merge may bring a folder back for what is in it.
    fn mode(&self, path: &RelPath, by: &[usize]) -> Option<LossKind> {
        let is = self.merged.get(path);
        if leaf(is).is_some() {
            let mode = |node: Option<&Node>| leaf(node).and_then(Node::mode);
            return (self.followed(path, by, mode) != Some(mode(is))).then_some(LossKind::Mode);
        }
        let mode = |node: Option<&Node>| node.filter(|node| node.is_folder()).and_then(Node::mode);
        let has_made = |[_, made]: &[Manifest; 2]| mode(made.get(path)).is_some();
        match (self.followed(path, by, mode), mode(is)) {
            (Some(Some(_)), None) => Some(LossKind::Missing),
            (Some(Some(must)), Some(is)) if must != is => Some(LossKind::Mode),
            (Some(None), Some(_)) if !self.changes.iter().any(has_made) => Some(LossKind::Unexpected),
            (Some(_) | None, _) => None,
        }
    }

    /// Compares the lines of paths that do not simply have the content that they must have.
    fn compared(&self, doubtful: &[(&RelPath, Option<Content<'_>>)]) -> Result<Vec<Loss>, ObjectError> {
        let mut losses = Vec::new();
        if doubtful.is_empty() {
            return Ok(losses);
        }
        let mut renamed: BTreeMap<RelPath, Vec<RelPath>> = BTreeMap::new();
        for [from, made] in &self.changes {
            for (old, new) in renames(self.objects, from, made)? {
                renamed.entry(old.clone()).or_default().push(new.clone());
                renamed.entry(new).or_default().push(old);
            }
        }
        let side_by_side = doubtful.iter().filter(|(_, must)| must.is_none());
        let side_by_side: BTreeSet<&RelPath> = side_by_side.map(|(path, _)| *path).collect();
        let mut lost: BTreeSet<&RelPath> = BTreeSet::new();
        for (path, must) in doubtful {
            let family = family(path, &renamed);
            let is_there = family.iter().any(|path| leaf(self.merged.get(path)).is_some());
            let kind = match self.lines(&family)? {
                Lines::Lost(_) if family.iter().any(|path| lost.contains(path)) => continue,
                Lines::Complete if family.iter().any(|path| side_by_side.contains(path)) => continue,
                Lines::Lost(line) if is_there => LossKind::Line(line),
                Lines::Lost(_) | Lines::Opaque | Lines::Complete => {
                    match (leaf(self.merged.get(path)), must) {
                        (None, _) => LossKind::Missing,
                        (Some(_), Some(Content::Nothing)) => LossKind::Unexpected,
                        (Some(_), _) => LossKind::Content,
                    }
                }
            };
            lost.insert(path);
            losses.push(Loss { path: (*path).clone(), kind });
        }
        Ok(losses)
    }

    /// Checks the lines of a file. If a version is opaque, what the change after it made is the base.
    fn lines(&self, family: &Family) -> Result<Lines, ObjectError> {
        let mut names = Names::default();
        let mut base = self.text(&self.base, family, &mut names)?;
        let mut edits: Vec<Edit> = Vec::new();
        for [from, made] in self.changes.iter().filter(|change| is_changed(change, family)) {
            match (self.text(from, family, &mut names)?, self.text(made, family, &mut names)?) {
                (Some(from), Some(made)) if base.is_some() => {
                    // A change that two made alike is merged once.
                    if !edits.iter().any(|edit| edit.from == from && edit.made == made) {
                        edits.push(Edit::of(from, made, &names));
                    }
                }
                (_, made) => {
                    base = made;
                    edits.clear();
                }
            }
        }
        let merged = self.text(&self.merged, family, &mut names)?;
        let (Some(base), Some(merged)) = (base, merged) else { return Ok(Lines::Opaque) };
        let lost = first_lost(&base, &edits, &merged, &names);
        Ok(lost.map_or(Lines::Complete, |line| Lines::Lost(names.shown(line))))
    }

    /// Returns the lines of the files at these paths, or `None` if one is opaque.
    fn text(
        &self,
        tree: &Manifest,
        family: &Family,
        names: &mut Names,
    ) -> Result<Option<Vec<usize>>, ObjectError> {
        let mut lines = Vec::new();
        for node in family.iter().filter_map(|path| leaf(tree.get(path))) {
            let Node::File { blob, .. } = node else { return Ok(None) };
            match self.objects.read_at_most(*blob, MOST_MERGED)? {
                Ok(text) if !lines::is_binary(&text) => lines.extend(names.numbered(&text)),
                Ok(_) | Err(_) => return Ok(None),
            }
        }
        Ok(Some(lines))
    }
}

fn content(node: Option<&Node>) -> Content<'_> {
    match node {
        Some(Node::File { blob, .. }) => Content::Blob(*blob),
        Some(Node::Link { target }) => Content::Link(target),
        Some(Node::Folder { .. }) | None => Content::Nothing,
    }
}

fn is_changed([from, made]: &[Manifest; 2], family: &Family) -> bool {
    family.iter().any(|path| content(from.get(path)) != content(made.get(path)))
}

/// Returns the path and all that renames connect with it.
fn family(path: &RelPath, renamed: &BTreeMap<RelPath, Vec<RelPath>>) -> Family {
    let (mut family, mut open) = (Family::new(), vec![path]);
    while let Some(path) = open.pop() {
        if family.insert(path.clone()) {
            open.extend(renamed.get(path).into_iter().flatten());
        }
    }
    family
}

/// One change of a text.
struct Edit {
    from: Vec<usize>,
    made: Vec<usize>,
    removed: HashMap<usize, usize>,
    /// It removes a line and adds it elsewhere.
    is_move: bool,
}

impl Edit {
    fn of(from: Vec<usize>, made: Vec<usize>, names: &Names) -> Self {
        let marks = lines::compare(&from, &made);
        let removed = marked(&from, &marks.removed);
        let added = marked(&made, &marks.added);
        let is_move = removed.keys().any(|line| names.is_substantial(*line) && added.contains_key(line));
        Self { from, made, removed, is_move }
    }

    fn removals_of(&self, line: usize) -> usize {
        self.removed.get(&line).copied().unwrap_or(0)
    }
}

/// Counts the marked lines.
fn marked(text: &[usize], marks: &[bool]) -> HashMap<usize, usize> {
    lines::counts(text.iter().zip(marks).filter(|(_, is_marked)| **is_marked).map(|(line, _)| *line))
}

/// Returns a line of the base or of a change that is missing in the merged text.
fn first_lost(base: &[usize], edits: &[Edit], merged: &[usize], names: &Names) -> Option<usize> {
    let mut all: HashMap<usize, usize> = HashMap::new();
    for (line, count) in edits.iter().flat_map(|edit| &edit.removed) {
        *all.entry(*line).or_default() += count;
    }
    let removals = |line: usize| all.get(&line).copied().unwrap_or(0);
    let moves = edits.iter().filter(|edit| edit.is_move).count();
    let of_edit = |edit: &Edit| {
        // Lines that the base did not have any more when the change was merged.
        let late = Edit::of(edit.from.clone(), base.to_vec(), names);
        let is_ordered = moves == usize::from(edit.is_move) && !late.is_move;
        let deleted = |line| removals(line) - edit.removals_of(line) + late.removals_of(line);
        missing(&edit.made, merged, deleted, is_ordered)
    };
    missing(base, merged, removals, moves == 0).or_else(|| edits.iter().find_map(of_edit))
}

/// Returns the first line that occurs too rarely. Lines of which none was deleted must be in order, too.
fn missing(
    text: &[usize],
    merged: &[usize],
    deleted: impl Fn(usize) -> usize,
    is_ordered: bool,
) -> Option<usize> {
    let (needed, there) = (lines::counts(text.iter().copied()), lines::counts(merged.iter().copied()));
    let is_short = |line: &usize| there.get(line).copied().unwrap_or(0) + deleted(*line) < needed[line];
    let mut rest = merged.iter();
    let mut is_late = |line: &usize| deleted(*line) == 0 && !rest.any(|other| other == line);
    let short = text.iter().copied().find(is_short);
    short.or_else(|| text.iter().copied().find(|line| is_ordered && is_late(line)))
}

#[cfg(test)]
mod tests;
