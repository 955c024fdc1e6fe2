//! Copies of some files and folders below one folder, as a tree of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use skilltune_phases::id::TreeId;

use super::capture::{Limits, capture_left, left, scan_left};
use super::look::{CaptureError, Reading, look};
use super::manifest::{Entry, Manifest, ManifestError, Node};
use super::objects::{ObjectError, Objects};
use super::path::RelPath;

#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    #[error("{} is no file and no folder", .0.display())]
    Odd(PathBuf),
    #[error("{} is a link, or holds one; links are not copied", .0.display())]
    Link(PathBuf),
    #[error(transparent)]
    Names(#[from] ManifestError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Store(#[from] ObjectError),
}

/// Stores these below `base`, each under its own name, without following a link.
pub fn gather(
    objects: &Objects,
    base: &Path,
    paths: &[RelPath],
    limits: Limits,
) -> Result<TreeId, GatherError> {
    Ok(objects.put_manifest(&collect(Some(objects), base, paths, limits)?)?)
}

/// The manifest that [`gather`] would store, storing nothing.
pub fn gathered(base: &Path, paths: &[RelPath], limits: Limits) -> Result<Manifest, GatherError> {
    collect(None, base, paths, limits)
}

fn collect(
    store: Option<&Objects>,
    base: &Path,
    paths: &[RelPath],
    limits: Limits,
) -> Result<Manifest, GatherError> {
    let reading = Reading { store, at_most: limits.bytes };
    let mut entries = Vec::new();
    for path in paths {
        let place = || base.join(path.as_path());
        let above = path.parent().map_or_else(String::new, |parent| parent.to_string());
        let node = look(&left(base, &above)?, path.name(), reading)?;
        let node = node.ok_or_else(|| GatherError::Odd(place()))?;
        let name = RelPath::below(None, path.name()).expect("the name of a path is a component");
        if node.is_folder() {
            let path = path.to_string();
            let below = match store {
                Some(objects) => capture_left(objects, base, &path, &[], limits)?.manifest,
                None => scan_left(base, &path, limits)?,
            };
            for entry in below.entries() {
                let mut below = entry.path.as_path().iter();
                let path = below.try_fold(name.clone(), |at, part: &OsStr| RelPath::below(Some(&at), part));
                let path = path.map_err(|_| GatherError::Odd(place()))?;
                entries.push(Entry { path, node: entry.node.clone() });
            }
        }
        entries.push(Entry { path: name, node });
        if entries.iter().any(|entry| matches!(entry.node, Node::Link { .. })) {
            return Err(GatherError::Link(place()));
        }
    }
    Ok(Manifest::new(entries)?.unlocked())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn gathered(base: &Path, paths: &[&str]) -> Result<Vec<String>, GatherError> {
        let store = TempDir::new().unwrap();
        let objects = Objects::at(store.path());
        let paths: Vec<_> = paths.iter().map(|path| RelPath::parse(path.as_bytes()).unwrap()).collect();
        let tree = gather(&objects, base, &paths, Limits::default())?;
        assert_eq!(super::gathered(base, &paths, Limits::default())?.tree(), tree, "stored or not");
        Ok(objects.manifest(tree)?.entries().iter().map(|entry| entry.path.to_string()).collect())
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
        assert!(matches!(gathered(base.path(), &["cases/b.md", "other/b.md"]), Err(GatherError::Names(_))));
        symlink("/etc/passwd", at("cases/data/link")).unwrap();
        assert!(matches!(gathered(base.path(), &["cases/data"]), Err(GatherError::Link(_))));
        symlink("/etc", at("etc")).unwrap();
        assert!(gathered(base.path(), &["etc/passwd"]).is_err() && gathered(base.path(), &["etc"]).is_err());
    }
}
