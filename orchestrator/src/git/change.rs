//! Computes what a candidate changes in the tree of HEAD: a three-way merge, one file at a time.
//!
//! ```text
//! base: the version that the run started from    ours: HEAD    theirs: the candidate
//! ```
//!
//! The user's uncommitted edits are in base and in theirs, so they are not a change and are not committed. Each version of
//! a run that makes several commits is merged like a candidate.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use skilltune_phases::base::id::TreeId;

use crate::snapshot::{MOST_MERGED, Manifest, Node, Objects, merge_lines};

use super::error::{ProposeError, refused};
use super::repository::{LIST_BYTES, Repository, shown};
use super::runner::{Command, GitError};
use super::tree::{Blob, Mode, entries};

/// The new content of paths of the repository; no blob if the file is deleted.
pub(super) type Changes = BTreeMap<Vec<u8>, Option<Blob>>;

/// The entry of a version of a folder at one path.
type Found<'a> = Option<&'a Node>;

/// Returns what each version of one folder changes: the first one in the tree of HEAD, each other one in the tree before
/// it. `prefix` is the folder's path in the tree, with a trailing slash.
pub(super) fn changes(
    repository: &Repository<'_>,
    objects: &Objects,
    (from, versions): (TreeId, &[TreeId]),
    prefix: &[u8],
) -> Result<Vec<Changes>, ProposeError> {
    let from = objects.manifest(from)?;
    let ours = committed(repository, prefix, &from)?;
    let merge = Merge { repository, objects, prefix, ours: &ours };
    let (mut before, mut whole, mut steps) = (from.clone(), Changes::new(), Vec::new());
    for version in versions {
        let to = objects.manifest(*version)?;
        steps.push(merge.step(&differing(&from, &before, &to), &mut whole)?);
        before = to;
    }
    Ok(steps)
}

fn conflict(paths: &[String]) -> ProposeError {
    refused(
        format!("HEAD and the run changed the same lines or files: {}", paths.join(", ")),
        "commit your work on them first, or use `skilltune export` and merge by hand",
    )
}

/// The files to merge, each with its base and with what the version has there.
type Differing<'a> = BTreeMap<Vec<u8>, (Found<'a>, Found<'a>)>;

/// Returns the files that differ between a version and the one before it in the properties that git stores.
fn differing<'a>(from: &'a Manifest, before: &'a Manifest, to: &'a Manifest) -> Differing<'a> {
    let base = |path| from.get(path).filter(|node| !node.is_folder());
    let files = before.differing_in_git(to);
    files.map(|(path, _, theirs)| (path.as_bytes().to_vec(), (base(path), theirs))).collect()
}

fn mode(node: &Node) -> Mode {
    match node {
        Node::Link { .. } => Mode::Link,
        Node::File { .. } if node.is_program() => Mode::Program,
        Node::File { .. } | Node::Folder { .. } => Mode::File,
    }
}

/// Returns the folder in HEAD. If the run found no file in it, HEAD need not have it.
pub(super) fn committed(
    repository: &Repository<'_>,
    prefix: &[u8],
    base: &Manifest,
) -> Result<BTreeMap<Vec<u8>, Blob>, ProposeError> {
    // The trailing slash matches only a folder.
    let name = [repository.base.as_bytes(), b":", prefix].concat();
    let find = [OsString::from("rev-parse"), "--verify".into(), "--quiet".into(), OsString::from_vec(name)];
    let Some(tree) = repository.git.find(Command::new(find))? else {
        if base.entries().iter().all(|entry| entry.node.is_folder()) {
            require_way(repository, prefix)?;
            return Ok(BTreeMap::new());
        }
        return Err(refused(
            format!("HEAD does not have {}", shown(prefix.strip_suffix(b"/").unwrap_or(prefix))),
            "commit it first",
        ));
    };
    let tree = String::from_utf8(tree).map_err(|_| GitError::Garbled)?;
    let list = Command::new(["ls-tree", "-r", "-z", "--full-tree", tree.trim_end()]).most(LIST_BYTES);
    let list = repository.git.run(list)?;
    let entries = entries(&list).map(|entry| entry.map(|entry| (entry.path.to_vec(), entry.blob)));
    Ok(entries.collect::<Option<_>>().ok_or(GitError::Garbled)?)
}

/// Fails if a parent of a new folder is not a folder in HEAD: it would be replaced.
fn require_way(repository: &Repository<'_>, prefix: &[u8]) -> Result<(), ProposeError> {
    let slashes = prefix.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let way = slashes.map(|(at, _)| OsString::from_vec(prefix[..at].to_vec()));
    let list = Command::new(["ls-tree", "--full-tree", "-z", &repository.base, "--"]).more(way);
    let listed = repository.git.run(list.env("GIT_LITERAL_PATHSPECS", "1"))?;
    let mut listed = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let Some(other) = listed.find(|entry| !entry.starts_with(FOLDER)) else { return Ok(()) };
    let path = other.iter().position(|byte| *byte == b'\t').map_or(other, |tab| &other[tab + 1..]);
    Err(refused(
        format!("HEAD has {}, which is not a folder", shown(path)),
        "commit your own change of it first",
    ))
}

/// The start of a folder's line in `git ls-tree`.
const FOLDER: &[u8] = b"040000 ";

/// Returns the paths of a step that would replace something else in HEAD: a folder replacing a file, or a file replacing
/// a folder. `whole` are all changes of HEAD after the step.
fn in_the_way(
    ours: &BTreeMap<Vec<u8>, Blob>,
    (step, whole): (&Changes, &Changes),
    prefix: &[u8],
) -> BTreeSet<Vec<u8>> {
    let goes = |path: &[u8]| whole.get(&[prefix, path].concat()).is_some_and(Option::is_none);
    let added = step.iter().filter(|(_, blob)| blob.is_some()).map(|(path, _)| &path[prefix.len()..]);
    added
        .filter(|path| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let is_below =
                slashes.map(|(at, _)| &path[..at]).any(|above| ours.contains_key(above) && !goes(above));
            let folder = [*path, b"/"].concat();
            let mut below = ours.range(folder.clone()..).take_while(|(other, _)| other.starts_with(&folder));
            let is_above = below.any(|(other, _)| !goes(other));
            is_below || is_above
        })
        .map(<[u8]>::to_vec)
        .collect()
}

struct Merge<'a, 'r> {
    repository: &'a Repository<'r>,
    objects: &'a Objects,
    prefix: &'a [u8],
    ours: &'a BTreeMap<Vec<u8>, Blob>,
}

enum Merged {
    /// HEAD has it already.
    Same,
    Changed(Option<Blob>),
    Conflict,
}

impl Merge<'_, '_> {
    /// Returns what a version changes in the tree before it. `whole` are all changes of HEAD until then, and becomes those
    /// of this version.
    fn step(&self, differing: &Differing<'_>, whole: &mut Changes) -> Result<Changes, ProposeError> {
        self.require_no_foreign_filter(differing.keys())?;
        let (mut step, mut conflicts) = (Changes::new(), Vec::new());
        for (path, (base, theirs)) in differing {
            let full = [self.prefix, path].concat();
            match self.one(path, *base, *theirs)? {
                Merged::Same => {
                    if whole.remove(&full).is_some() {
                        step.insert(full, self.ours.get(path).cloned());
                    }
                }
                Merged::Changed(blob) => {
                    whole.insert(full.clone(), blob.clone());
                    step.insert(full, blob);
                }
                Merged::Conflict => conflicts.push(shown(path)),
            }
        }
        conflicts.extend(in_the_way(self.ours, (&step, whole), self.prefix).iter().map(|path| shown(path)));
        if conflicts.is_empty() { Ok(step) } else { Err(conflict(&conflicts)) }
    }

    fn one(&self, path: &[u8], base: Found<'_>, theirs: Found<'_>) -> Result<Merged, ProposeError> {
        let ours = self.ours.get(path);
        let converted = base.map(|node| self.stored(node, Some(path))).transpose()?;
        // A file may be committed unconverted although git would convert it today.
        let raw =
            base.filter(|_| converted.as_ref() != ours).map(|node| self.stored(node, None)).transpose()?;
        let is_raw = raw.is_some() && raw.as_ref() == ours;
        let as_path = (!is_raw).then_some(path);
        let base = if is_raw { raw } else { converted };
        let theirs = theirs.map(|node| self.stored(node, as_path)).transpose()?;
        if theirs.as_ref() == ours || theirs == base {
            return Ok(Merged::Same);
        }
        if base.as_ref() == ours {
            return Ok(Merged::Changed(theirs));
        }
        match (&base, ours, &theirs) {
            (Some(base), Some(ours), Some(theirs)) => self.content(base, ours, theirs),
            _ => Ok(Merged::Conflict),
        }
    }

    /// Merges the content of a file that both sides changed.
    fn content(&self, base: &Blob, ours: &Blob, theirs: &Blob) -> Result<Merged, ProposeError> {
        let are_files =
            [base, ours, theirs].iter().all(|blob| matches!(blob.mode, Mode::File | Mode::Program));
        if !are_files {
            return Ok(Merged::Conflict);
        }
        let mode = if ours.mode == base.mode { theirs.mode } else { ours.mode };
        let id = match (&base.id, &ours.id, &theirs.id) {
            (base, ours, theirs) if base == theirs || ours == theirs => ours.clone(),
            (base, ours, theirs) if base == ours => theirs.clone(),
            (base, ours, theirs) => match self.lines(base, ours, theirs)? {
                Some(id) => id,
                None => return Ok(Merged::Conflict),
            },
        };
        Ok(Merged::Changed(Some(Blob { mode, id })))
    }

    /// Merges three files line by line, if they are text.
    fn lines(&self, base: &str, ours: &str, theirs: &str) -> Result<Option<String>, ProposeError> {
        let git = &self.repository.git;
        let read = |id| match git.run(Command::new(["cat-file", "blob", id]).most(MOST_MERGED)) {
            Ok(content) => Ok(Some(content)),
            Err(GitError::TooLarge) => Ok(None),
            Err(error) => Err(error),
        };
        let (Some(base), Some(ours), Some(theirs)) = (read(base)?, read(ours)?, read(theirs)?) else {
            return Ok(None);
        };
        let Ok(merged) = merge_lines(&base, &ours, &theirs) else { return Ok(None) };
        let hash = Command::new(["hash-object", "-w", "--stdin", "--no-filters"]).input(merged);
        Ok(Some(git.id(hash)?))
    }

    /// Returns the node as git would store it at this path, or unconverted without a path.
    fn stored(&self, node: &Node, path: Option<&[u8]>) -> Result<Blob, ProposeError> {
        let content = match node {
            Node::File { blob, .. } => self.objects.read(*blob)?,
            Node::Link { target } => target.clone(),
            Node::Folder { .. } => Vec::new(),
        };
        let mode = mode(node);
        let how = match path.filter(|_| mode != Mode::Link) {
            Some(path) => OsString::from_vec([b"--path=", self.prefix, path].concat()),
            None => "--no-filters".into(),
        };
        let hash = [OsString::from("hash-object"), "-w".into(), "--stdin".into(), how];
        Ok(Blob { mode, id: self.repository.git.id(Command::new(hash).input(content))? })
    }

    /// Fails if a path needs a filter that only the repository defines, because it must not be committed without it.
    fn require_no_foreign_filter<'p>(
        &self,
        paths: impl Iterator<Item = &'p Vec<u8>>,
    ) -> Result<(), ProposeError> {
        let foreign = &self.repository.guard.filters;
        if foreign.is_empty() {
            return Ok(());
        }
        let paths = paths.map(|path| [self.prefix, path].concat());
        let is_foreign = |filter: &[u8]| foreign.iter().any(|name| name.as_bytes() == filter);
        let Some((path, filter)) = self.repository.filtered(paths, is_foreign)? else { return Ok(()) };
        Err(refused(
            format!(
                "{path} needs the filter {filter:?}, a program that the repository's own configuration names"
            ),
            if filter.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
                format!("if you trust it, run `git config --global filter.{filter}.clean COMMAND`")
            } else {
                "if you trust it, define it in your own configuration".to_owned()
            },
        ))
    }
}
