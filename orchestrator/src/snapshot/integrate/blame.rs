//! Finds out which task of a run added the lines that a new work deletes.

use std::collections::{BTreeMap, BTreeSet, HashMap, hash_map};

use skilltune_phases::base::id::TreeId;

use super::super::lines::{self, Names};
use super::super::manifest::{Manifest, Node};
use super::super::merge::MOST_MERGED;
use super::super::objects::{ObjectError, Objects};
use super::super::path::RelPath;
use super::super::renames::renames;

/// An accepted work of a task, with the tree of the run before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub task: usize,
    pub before: TreeId,
    pub after: TreeId,
}

/// A file in which a work deletes lines of other tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    pub path: RelPath,
    /// Sorted.
    pub tasks: Vec<usize>,
    /// The first of the lines.
    pub line: Box<str>,
}

/// Returns the files in which a work deletes lines of other tasks, except those of tasks that it `may` delete. `chain`
/// has the accepted works of the run, in order. A line that the work moves within its file is not deleted, nor are the
/// lines of a file that it renames. Blank lines and those of punctuation do not count, and a binary counts as one line.
pub fn deleted_lines(
    objects: &Objects,
    chain: &[Accepted],
    from: TreeId,
    made: TreeId,
    may: &dyn Fn(usize) -> bool,
) -> Result<Vec<Deleted>, ObjectError> {
    let (from_files, made_files) = (objects.manifest(from)?, objects.manifest(made)?);
    let renamed: BTreeMap<RelPath, RelPath> =
        renames(objects, &from_files, &made_files)?.into_iter().collect();
    let mut history = None;
    let mut all = Vec::new();
    for (path, old, _) in from_files.beside(&made_files).filter(|(_, old, new)| old != new) {
        let new = made_files.get(renamed.get(path).unwrap_or(path));
        let mut names = Names::default();
        let gone = deleted(objects, old, new, &mut names)?;
        if gone.is_empty() {
            continue;
        }
        let history = match &mut history {
            Some(history) => history,
            none => none.insert(History::read(objects, chain, from)?),
        };
        let owners = history.owners(path, old, &mut names)?;
        let owned = gone.iter().filter_map(|(at, line)| Some((owners[*at]?, *line)));
        let foreign: Vec<(usize, usize)> = owned.filter(|(task, _)| !may(*task)).collect();
        if let Some((_, line)) = foreign.first() {
            let tasks: BTreeSet<usize> = foreign.iter().map(|(task, _)| *task).collect();
            let (path, tasks) = (path.clone(), tasks.into_iter().collect());
            all.push(Deleted { path, tasks, line: names.shown(*line) });
        }
    }
    Ok(all)
}

/// Returns the deleted lines that count: their places in the old text, and their numbers.
fn deleted(
    objects: &Objects,
    old: Option<&Node>,
    new: Option<&Node>,
    names: &mut Names,
) -> Result<Vec<(usize, usize)>, ObjectError> {
    let (old, new) = (text(objects, old, names)?, text(objects, new, names)?);
    let marks = lines::compare(&old, &new);
    let added = new.iter().zip(&marks.added).filter(|(_, is_added)| **is_added);
    let mut moved = lines::counts(added.map(|(line, _)| *line));
    let mut is_deleted = |line: usize| match moved.get_mut(&line).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => names.is_substantial(line),
    };
    let removed = old.iter().copied().enumerate().filter(|(at, _)| marks.removed[*at]);
    Ok(removed.filter(|(_, line)| is_deleted(*line)).collect())
}

/// Returns the lines of a file. A binary or large one is one line: its hash.
fn text(objects: &Objects, node: Option<&Node>, names: &mut Names) -> Result<Vec<usize>, ObjectError> {
    let Some(Node::File { blob, .. }) = node else { return Ok(Vec::new()) };
    Ok(match objects.read_at_most(*blob, MOST_MERGED)? {
        Ok(text) if !lines::is_binary(&text) => names.numbered(&text),
        Ok(_) | Err(_) => vec![names.number(format!("binary {}", blob.short()).as_bytes())],
    })
}

/// The trees of the accepted works that led to a tree.
struct History<'a> {
    objects: &'a Objects,
    /// The task, and the trees before and after its work.
    works: Vec<(usize, Manifest, Manifest)>,
}

/// A file in a tree of the run, with the task that made this tree.
type Version<'n> = (Option<usize>, Option<&'n Node>);

impl<'a> History<'a> {
    /// Reads the works up to the tree, or all if none of them starts or ends with it.
    fn read(objects: &'a Objects, chain: &[Accepted], tree: TreeId) -> Result<Self, ObjectError> {
        let after = chain.iter().rposition(|work| work.after == tree).map(|at| at + 1);
        let end = after.or_else(|| chain.iter().position(|work| work.before == tree));
        let mut trees: HashMap<TreeId, Manifest> = HashMap::new();
        let mut works = Vec::new();
        for work in &chain[..end.unwrap_or(chain.len())] {
            for id in [work.before, work.after] {
                if let hash_map::Entry::Vacant(place) = trees.entry(id) {
                    place.insert(objects.manifest(id)?);
                }
            }
            works.push((work.task, trees[&work.before].clone(), trees[&work.after].clone()));
        }
        Ok(Self { objects, works })
    }

    /// Returns for each line of a file the task that added it.
    fn owners(
        &self,
        path: &RelPath,
        file: Option<&Node>,
        names: &mut Names,
    ) -> Result<Vec<Option<usize>>, ObjectError> {
        let (mut lines, mut owners) = (Vec::<usize>::new(), Vec::<Option<usize>>::new());
        let mut last = None;
        for (task, node) in self.versions(path, file)? {
            if node == last {
                continue;
            }
            let now = text(self.objects, node, names)?;
            let marks = lines::compare(&lines, &now);
            let mut kept = owners.iter().zip(&marks.removed).filter(|(_, is_removed)| !**is_removed);
            let mut owner = |is_added: &bool| {
                if *is_added { task } else { kept.next().and_then(|(owner, _)| *owner) }
            };
            owners = marks.added.iter().map(&mut owner).collect();
            (lines, last) = (now, node);
        }
        Ok(owners)
    }

    /// Returns the versions of a file up to this one, through renames, each with the task that made it.
    fn versions<'n>(
        &'n self,
        path: &RelPath,
        file: Option<&'n Node>,
    ) -> Result<Vec<Version<'n>>, ObjectError> {
        let mut path = path.clone();
        let mut versions = vec![(None, file)];
        for (task, before, after) in self.works.iter().rev() {
            let node = after.get(&path);
            if node.is_some() && before.get(&path).is_none() {
                let old = renames(self.objects, before, after)?.into_iter().find(|(_, new)| *new == path);
                path = old.map_or(path, |(old, _)| old);
            }
            versions.push((Some(*task), node));
            versions.push((None, before.get(&path)));
        }
        versions.reverse();
        Ok(versions)
    }
}
