//! Copies some files and folders below one folder into a tree of their own.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use skilltune_phases::base::id::TreeId;

use super::capture::{DEEPEST, Limits, capture_left, left, scan_left};
use super::look::{CaptureError, Reading, look};
use super::manifest::{Manifest, ManifestError, Node};
use super::objects::{ObjectError, Objects};
use super::path::RelPath;
use super::stamp::Stamp;
use crate::disk::Folder;

#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    #[error("{} is neither a file nor a folder", .0.display())]
    Odd(PathBuf),
    #[error("{} is or contains a symlink; symlinks are not copied", .0.display())]
    Link(PathBuf),
    #[error("two files would be placed at {0}")]
    Twice(RelPath),
    #[error(transparent)]
    Names(#[from] ManifestError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Store(#[from] ObjectError),
}

/// A file or folder below a folder, and the path of its copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    pub from: RelPath,
    pub at: RelPath,
}

impl Brought {
    /// Places it under its own name.
    pub fn flat(from: RelPath) -> Self {
        let at = RelPath::below(None, from.name()).expect("the name of a path is a component");
        Self { from, at }
    }
}

/// Copies files and folders below `base` without following a symlink. Leaves out the paths in `omitted`, which are
/// relative to `base`.
#[derive(Clone, Copy, Debug)]
pub struct Gathering<'a> {
    pub base: &'a Path,
    pub brought: &'a [Brought],
    pub omitted: &'a [RelPath],
    pub limits: Limits,
}

impl Gathering<'_> {
    /// Stores the copies as one tree.
    pub fn store(self, objects: &Objects) -> Result<TreeId, GatherError> {
        Ok(objects.put_manifest(&self.collect(Some(objects))?)?)
    }

    /// Returns the manifest that [`Self::store`] would store, without storing anything.
    pub fn manifest(self) -> Result<Manifest, GatherError> {
        self.collect(None)
    }

    /// Returns all files that would be copied, including omitted ones: each file's path below `base`, and the path of
    /// its copy.
    pub fn files(self) -> Result<Vec<Brought>, GatherError> {
        let mut files = Vec::new();
        for brought in self.brought {
            let nodes = self.nodes(brought, None)?;
            files.extend(nodes.into_iter().filter(|(_, node)| !node.is_folder()).map(|(brought, _)| brought));
        }
        Ok(files)
    }

    fn collect(self, store: Option<&Objects>) -> Result<Manifest, GatherError> {
        let mut all = Vec::new();
        for brought in self.brought {
            let nodes = self.nodes(brought, store)?.into_iter();
            let wanted = nodes.filter(|(one, _)| !self.omitted.contains(&one.from));
            all.extend(wanted.map(|(one, node)| (one.at, node)));
        }
        let manifest = Manifest::of_files(all.iter().cloned());
        let mut places = HashSet::new();
        for (at, node) in all.iter().filter(|(_, node)| !node.is_folder()) {
            if !places.insert(at) || manifest.get(at) != Some(node) {
                return Err(GatherError::Twice(at.clone()));
            }
        }
        Ok(Manifest::new(manifest.entries().to_vec())?.unlocked())
    }

    fn nodes(self, brought: &Brought, store: Option<&Objects>) -> Result<Vec<(Brought, Node)>, GatherError> {
        let Brought { from, at } = brought;
        let place = || self.base.join(from.as_path());
        let above = from.parent().map_or_else(String::new, |parent| parent.to_string());
        let reading = Reading { store, at_most: self.limits.bytes };
        let node = look(&left(self.base, &above)?, from.name(), reading)?;
        let node = node.ok_or_else(|| GatherError::Odd(place()))?;
        let mut nodes = vec![(brought.clone(), node)];
        if nodes[0].1.is_folder() {
            let folder = from.to_string();
            let below = match store {
                Some(objects) => capture_left(objects, self.base, &folder, &[], self.limits)?.manifest,
                None => scan_left(self.base, &folder, self.limits)?,
            };
            for entry in below.entries() {
                let joined = |above: &RelPath| {
                    let mut parts = entry.path.as_path().iter();
                    let path = parts.try_fold(above.clone(), |at, part| RelPath::below(Some(&at), part));
                    path.map_err(|_| GatherError::Odd(place()))
                };
                nodes.push((Brought { from: joined(from)?, at: joined(at)? }, entry.node.clone()));
            }
        }
        let has_link = nodes.iter().any(|(_, node)| matches!(node, Node::Link { .. }));
        if has_link { Err(GatherError::Link(place())) } else { Ok(nodes) }
    }
}

/// Fails if these files below `base` exceed the limits, before any of them is read.
pub fn weigh<'a>(
    base: &Path,
    paths: impl IntoIterator<Item = &'a RelPath>,
    limits: Limits,
) -> Result<(), CaptureError> {
    let mut room = limits;
    for path in paths {
        let above = path.parent().map_or_else(String::new, |parent| parent.to_string());
        match left(base, &above) {
            // The reader reports what is missing.
            Err(CaptureError::Replaced(_)) => {}
            folder => weigh_one(&folder?, path.name(), DEEPEST, &mut room)?,
        }
    }
    Ok(())
}

fn weigh_one(folder: &Folder, name: &OsStr, deepest: usize, room: &mut Limits) -> Result<(), CaptureError> {
    let Some(stat) = folder.stat(name)? else { return Ok(()) };
    let too_large = || CaptureError::TooLarge(folder.path_of(name));
    room.files = room.files.checked_sub(1).ok_or_else(too_large)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            room.bytes = room.bytes.checked_sub(Stamp::of(&stat).size).ok_or_else(too_large)?;
        }
        FileType::Directory => {
            let Some(child) = folder.child(name)? else { return Ok(()) };
            let deepest =
                deepest.checked_sub(1).ok_or_else(|| CaptureError::TooDeep(folder.path_of(name)))?;
            let most = usize::try_from(room.files).unwrap_or(usize::MAX);
            for name in child.names(most.saturating_add(1))? {
                weigh_one(&child, &name, deepest, room)?;
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text.as_bytes()).unwrap()
    }

    fn stored(gathering: Gathering<'_>) -> Result<Vec<String>, GatherError> {
        let store = TempDir::new().unwrap();
        let objects = Objects::at(store.path());
        let tree = gathering.store(&objects)?;
        assert_eq!(gathering.manifest()?.tree(), tree, "stored or not");
        Ok(objects.manifest(tree)?.entries().iter().map(|entry| entry.path.to_string()).collect())
    }

    fn gathered(base: &Path, paths: &[&str]) -> Result<Vec<String>, GatherError> {
        let brought: Vec<_> = paths.iter().map(|text| Brought::flat(path(text))).collect();
        stored(Gathering { base, brought: &brought, omitted: &[], limits: Limits::default() })
    }

    #[test]
    fn what_is_too_large_or_too_many_together_is_known_before_it_is_read() {
        let base = TempDir::new().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir_all(at("data/more")).unwrap();
        fs::write(at("data/more/a"), "12345").unwrap();
        // Larger than any test disk, and never read.
        fs::File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
        let weighed = |paths: &[&str], files, bytes| {
            let paths: Vec<_> = paths.iter().map(|path| RelPath::parse(path.as_bytes()).unwrap()).collect();
            weigh(base.path(), &paths, Limits { files, bytes }).is_ok()
        };
        assert!(weighed(&["data", "missing", "missing/x"], 3, 5));
        assert!(!weighed(&["data"], 2, 5) && !weighed(&["data"], 3, 4));
        assert!(!weighed(&["data", "data"], 6, 9), "each time that a file is named counts");
        assert!(!weighed(&["huge"], 1, 1 << 39));
    }

    #[test]
    fn files_and_folders_come_under_their_own_names_and_no_link_does() {
        let base = TempDir::new().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir_all(at("cases/data/more")).unwrap();
        fs::write(at("cases/data/more/a.csv"), "a").unwrap();
        fs::write(at("cases/b.md"), "b").unwrap();
        let names = gathered(base.path(), &["cases/data", "cases/b.md"]).unwrap();
        assert_eq!(names, ["b.md", "data", "data/more", "data/more/a.csv"]);
        assert!(matches!(gathered(base.path(), &["cases/none"]), Err(GatherError::Odd(_))));
        fs::create_dir(at("other")).unwrap();
        fs::write(at("other/b.md"), "c").unwrap();
        assert!(matches!(gathered(base.path(), &["cases/b.md", "other/b.md"]), Err(GatherError::Twice(_))));
        symlink("/etc/passwd", at("cases/data/link")).unwrap();
        assert!(matches!(gathered(base.path(), &["cases/data"]), Err(GatherError::Link(_))));
        symlink("/etc", at("etc")).unwrap();
        assert!(gathered(base.path(), &["etc/passwd"]).is_err() && gathered(base.path(), &["etc"]).is_err());
    }

    #[test]
    fn copies_are_placed_where_they_are_wanted_without_what_is_omitted() {
        let base = TempDir::new().unwrap();
        fs::create_dir_all(base.path().join("evals/files/more")).unwrap();
        fs::write(base.path().join("evals/files/more/a.csv"), "a").unwrap();
        fs::write(base.path().join("evals/files/key.json"), "{}").unwrap();
        let brought = [Brought { from: path("evals/files"), at: path("data/in") }];
        let omitted = [path("evals/files/key.json")];
        let gathering =
            Gathering { base: base.path(), brought: &brought, omitted: &omitted, limits: Limits::default() };
        assert_eq!(stored(gathering).unwrap(), ["data", "data/in", "data/in/more", "data/in/more/a.csv"]);
        let files: Vec<String> = gathering.files().unwrap().iter().map(|one| one.from.to_string()).collect();
        assert_eq!(files, ["evals/files/key.json", "evals/files/more/a.csv"]);
        let twice = [
            Brought::flat(path("evals/files/more")),
            Brought { from: path("evals/files"), at: path("more") },
        ];
        let clash = Gathering { brought: &twice[..], omitted: &[], ..gathering };
        assert_eq!(
            stored(clash).unwrap(),
            ["more", "more/a.csv", "more/key.json", "more/more", "more/more/a.csv"]
        );
    }
}
