//! Folders for the tests, built only with the standard library: fixed ones with difficult cases, and random ones.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Captured, Limits, Manifest, Objects, capture, scan};

pub(super) type Children = BTreeMap<Vec<u8>, Tree>;

#[derive(Clone, Debug)]
pub(super) enum Tree {
    File(Vec<u8>, u32),
    Folder(Children, u32),
    Link(Vec<u8>),
}

/// Few names, so that two random trees have common paths, and unusual ones.
const NAMES: [&[u8]; 6] = [b"a", b"a-b", b"back\\slash", b"new\nline", b"no\xff\xfeutf", b" sp ace "];

pub(super) fn file(text: &str) -> Tree {
    Tree::File(text.into(), 0o644)
}

pub(super) fn folder(children: &[(&str, Tree)]) -> Tree {
    Tree::Folder(children_of(children), 0o755)
}

pub(super) fn children_of(children: &[(&str, Tree)]) -> Children {
    children.iter().map(|(name, tree)| (name.as_bytes().to_vec(), tree.clone())).collect()
}

pub(super) fn random_children() -> impl Strategy<Value = Children> {
    let bytes = prop_oneof![Just(vec![]), prop::collection::vec(any::<u8>(), 1..20), Just(vec![b'x'; 3000])];
    let mode = prop::sample::select(vec![0o644, 0o755, 0o600, 0o444, 0o4755]);
    let target = prop::sample::select(vec!["a", "/etc/passwd", "../..", "gone", "new\nline"]);
    let leaf = prop_oneof![
        3 => (bytes, mode).prop_map(|(bytes, mode)| Tree::File(bytes, mode)),
        1 => target.prop_map(|target| Tree::Link(target.into())),
    ];
    let folder_mode = prop::sample::select(vec![0o755, 0o700, 0o555, 0o2755]);
    let tree = leaf.prop_recursive(3, 24, 4, move |inner| {
        (children(inner), folder_mode.clone()).prop_map(|(children, mode)| Tree::Folder(children, mode))
    });
    children(tree)
}

fn children(tree: impl Strategy<Value = Tree>) -> impl Strategy<Value = Children> {
    let name = prop::sample::select(NAMES.to_vec()).prop_map(<[u8]>::to_vec);
    prop::collection::btree_map(name, tree, 0..5)
}

pub(super) fn build(root: &Path, children: &Children) {
    for (name, tree) in children {
        let path = root.join(OsStr::from_bytes(name));
        match tree {
            Tree::File(bytes, mode) => {
                fs::write(&path, bytes).unwrap();
                fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
            }
            Tree::Folder(children, mode) => {
                fs::create_dir(&path).unwrap();
                build(&path, children);
                fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
            }
            Tree::Link(target) => symlink(OsStr::from_bytes(target), &path).unwrap(),
        }
    }
}

/// A live folder beside a store, both removed at the end of the test.
pub(super) struct Place {
    home: tempfile::TempDir,
    pub(super) objects: Objects,
}

impl Place {
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let objects = Objects::at(home.path().join("objects"));
        Self { home, objects }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Creates a folder with these entries.
    pub(super) fn build(&self, name: &str, children: &Children) -> PathBuf {
        let root = self.path(name);
        fs::create_dir(&root).unwrap();
        build(&root, children);
        root
    }

    pub(super) fn capture(&self, root: &Path) -> Manifest {
        let Captured { tree, manifest } = capture(&self.objects, root, None, Limits::default()).unwrap();
        assert_eq!(self.objects.manifest(tree).unwrap(), manifest);
        manifest
    }
}

impl Drop for Place {
    /// Opens read-only folders, which could not be removed otherwise.
    fn drop(&mut self) {
        for entry in walkdir::WalkDir::new(self.home.path()).into_iter().flatten() {
            if entry.file_type().is_dir() {
                let _ = fs::set_permissions(entry.path(), Permissions::from_mode(0o700));
            }
        }
    }
}

pub(super) fn scanned(root: &Path) -> Manifest {
    scan(root, None, Limits::default()).unwrap()
}
