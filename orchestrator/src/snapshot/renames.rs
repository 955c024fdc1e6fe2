//! Finds the files that a change renamed: removed ones whose content, or most of whose lines, is at a new path.

use std::collections::{HashMap, HashSet};

use skilltune_phases::base::id::BlobId;

use super::lines::{self, Names};
use super::manifest::{Manifest, Node};
use super::objects::{ObjectError, Objects};
use super::path::RelPath;

/// Files that were edited too are compared if there are not more of them, and if they are not larger.
const MOST_FILES: usize = 32;
const MOST_BYTES: u64 = 128 << 10;

/// Returns each old path with its new one. No path is in two pairs of the same side.
pub(super) fn renames(
    objects: &Objects,
    from: &Manifest,
    made: &Manifest,
) -> Result<Vec<(RelPath, RelPath)>, ObjectError> {
    let (mut gone, new) = (only_in(from, made), only_in(made, from));
    let mut by_blob: HashMap<BlobId, Vec<usize>> = HashMap::new();
    for (at, file) in new.iter().enumerate().rev() {
        by_blob.entry(file.blob).or_default().push(at);
    }
    let (mut renamed, mut taken) = (Vec::new(), HashSet::new());
    gone.retain(|file| {
        let Some(at) = by_blob.get_mut(&file.blob).and_then(Vec::pop) else { return true };
        renamed.push((file.path.clone(), new[at].path.clone()));
        taken.insert(at);
        false
    });
    let is_free = |(at, _): &(usize, Lone<'_>)| !taken.contains(at);
    let new: Vec<_> = new.into_iter().enumerate().filter(is_free).map(|(_, file)| file).collect();
    renamed.extend(edited(objects, &gone, &new)?);
    Ok(renamed)
}

/// A file that only one side has.
struct Lone<'a> {
    path: &'a RelPath,
    blob: BlobId,
    size: u64,
}

/// Returns the files of one side where the other has none. Empty files are left out.
fn only_in<'a>(one: &'a Manifest, other: &'a Manifest) -> Vec<Lone<'a>> {
    let lone = |(path, node, other): (&'a RelPath, Option<&Node>, Option<&Node>)| match (node, other) {
        (Some(Node::File { .. }), Some(Node::File { .. })) => None,
        (Some(Node::File { blob, size: size @ 1.., .. }), _) => Some(Lone { path, blob: *blob, size: *size }),
        _ => None,
    };
    one.beside(other).filter_map(lone).collect()
}

/// Pairs each file with the new one that has most of its lines.
fn edited(
    objects: &Objects,
    gone: &[Lone<'_>],
    new: &[Lone<'_>],
) -> Result<Vec<(RelPath, RelPath)>, ObjectError> {
    if gone.is_empty() || new.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = Names::default();
    let gone = counted(objects, gone, &mut names)?;
    let mut new = counted(objects, new, &mut names)?;
    let mut renamed = Vec::new();
    for (path, lines) in gone {
        let shared = |other: &HashMap<usize, usize>| -> usize {
            lines.iter().map(|(line, count)| other.get(line).map_or(0, |there| *there.min(count))).sum()
        };
        let all: usize = lines.values().sum();
        let best = new.iter().enumerate().map(|(at, (_, other))| (shared(other), at)).max();
        if let Some((_, at)) = best.filter(|(shared, _)| shared * 2 > all) {
            renamed.push((path.clone(), new.swap_remove(at).0.clone()));
        }
    }
    Ok(renamed)
}

/// A path and how often its file has each line.
type Counted<'a> = (&'a RelPath, HashMap<usize, usize>);

fn counted<'a>(
    objects: &Objects,
    files: &[Lone<'a>],
    names: &mut Names,
) -> Result<Vec<Counted<'a>>, ObjectError> {
    let mut counted = Vec::new();
    for file in files.iter().filter(|file| file.size <= MOST_BYTES).take(MOST_FILES) {
        let Ok(text) = objects.read_at_most(file.blob, MOST_BYTES)? else { continue };
        if !lines::is_binary(&text) {
            let mut lines = names.numbered(&text);
            lines.retain(|line| names.is_substantial(*line));
            counted.push((file.path, lines::counts(lines)));
        }
    }
    Ok(counted)
}
