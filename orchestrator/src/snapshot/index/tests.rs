//! An index only saves reading: whatever was done to a folder, its store or the index, a capture is correct.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::snapshot::trees::{Children, Place, build, children_of, file, folder, random_children, scanned};
use crate::snapshot::{Limits, Manifest, Node, Objects, ReplaceError, Replacement};

/// A skill that was captured long after its last change, so that all of it is listed.
struct Scene {
    place: Place,
    indexes: Indexes,
    root: PathBuf,
    start: Manifest,
}

impl Scene {
    fn new() -> Self {
        let script = file("#!/bin/sh");
        Self::of(&children_of(&[
            ("SKILL.md", file("old")),
            ("d", folder(&[("run", script)])),
            ("d-e", file("x")),
        ]))
    }

    fn of(children: &Children) -> Self {
        let place = Place::new();
        let root = place.build("live", children);
        let indexes = Indexes::at(&place.path("cache/indexes"));
        let scene = Self { indexes, root: root.clone(), start: scanned(&root), place };
        assert_eq!(scene.capture_later(), scene.start);
        scene
    }

    fn objects(&self) -> &Objects {
        &self.place.objects
    }

    fn capture_at(&self, now: SystemTime) -> Manifest {
        self.indexes.look_at(now, self.objects(), &self.root, None, Limits::default()).unwrap().manifest
    }

    fn capture(&self) -> Manifest {
        self.capture_at(SystemTime::now())
    }

    /// Captures as if nothing had been changed for a while.
    fn capture_later(&self) -> Manifest {
        self.capture_at(SystemTime::now() + Duration::from_secs(60))
    }

    fn scan(&self) -> Manifest {
        self.indexes.scan(&self.root, None, Limits::default()).unwrap().manifest
    }

    #[track_caller]
    fn assert_truth(&self) {
        let truth = scanned(&self.root);
        assert_eq!(self.scan(), truth);
        assert_eq!(self.capture(), truth);
        assert_stored(self.objects(), &truth);
    }

    fn file(&self) -> PathBuf {
        let index = self.indexes.open(&self.root, SystemTime::now());
        index.folder.join(index.name).path().to_owned()
    }

    fn listed(&self) -> Vec<String> {
        let mut records = self.indexes.open(&self.root, SystemTime::now()).old;
        let mut paths = Vec::new();
        while let Some(record) = records.next() {
            paths.push(String::from_utf8_lossy(record.path).into_owned());
            records.at += record.whole.len();
        }
        paths
    }

    /// Makes the index say that `SKILL.md` holds `bytes`, with a valid checksum; the bytes are in the store.
    fn forge(&self, bytes: &[u8]) {
        let forged = self.objects().put(bytes).unwrap();
        let mut index = self.indexes.open(&self.root, SystemTime::now());
        index.new = index.old.bytes[index.old.at..].to_vec();
        let first = index.old.next().unwrap();
        assert_eq!(first.path, b"SKILL.md");
        let end = first.whole.len();
        index.new[end - DIGEST..end].copy_from_slice(forged.0.as_bytes());
        index.write(self.objects().voucher()).unwrap();
    }

    fn rewrite(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.file()).unwrap();
        change(&mut bytes);
        fs::write(self.file(), bytes).unwrap();
    }
}

#[track_caller]
fn assert_stored(objects: &Objects, manifest: &Manifest) {
    for entry in manifest.entries() {
        if let Node::File { blob, size, .. } = entry.node {
            assert_eq!(objects.read(blob).unwrap().len() as u64, size, "{}", entry.path);
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    Stamp::of(&rustix::fs::lstat(path).unwrap())
}

/// Waits until the clock of the file system has advanced: these tests only pretend that time has passed.
fn tick(place: &Place) {
    let clock = place.path("clock");
    fs::write(&clock, "").unwrap();
    let (before, mut now) = (stamp(&clock), stamp(&clock));
    while now == before {
        fs::write(&clock, "").unwrap();
        now = stamp(&clock);
    }
}

fn written_at(path: &Path) -> FileTimes {
    FileTimes::new().set_modified(fs::metadata(path).unwrap().modified().unwrap())
}

fn node_of(manifest: &Manifest, path: &str) -> Node {
    manifest.get(&RelPath::parse(path.as_bytes()).unwrap()).unwrap().clone()
}

#[test]
fn what_the_index_lists_is_believed_without_being_read() {
    let scene = Scene::new();
    assert_eq!(scene.listed(), ["SKILL.md", "d/run", "d-e"]);
    scene.forge(b"new");
    assert_ne!(scene.scan(), scene.start);
    assert_eq!(scene.scan(), scene.capture());
}

#[test]
fn bytes_of_a_person_survive_an_index_that_is_wrong_about_them() {
    let scene = Scene::new();
    scene.forge(b"lie");
    let (believed, to) =
        (scene.capture(), scene.place.capture(&scene.place.build("other", &Children::new())));
    let applied = Replacement::plan(&believed, &to).apply(scene.objects(), &scene.root);
    assert!(matches!(applied, Err(ReplaceError::Edited { .. })), "{applied:?}");
    assert_eq!(fs::read(scene.root.join("SKILL.md")).unwrap(), b"old");
}

#[test]
fn other_bytes_of_the_same_size_with_the_same_time_are_seen() {
    let scene = Scene::new();
    let path = scene.root.join("SKILL.md");
    let times = written_at(&path);
    tick(&scene.place);
    fs::write(&path, "new").unwrap();
    File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    assert_ne!(scene.capture(), scene.start);
    scene.assert_truth();
}

#[test]
fn a_file_that_took_the_place_of_another_is_seen() {
    let scene = Scene::new();
    let (path, other) = (scene.root.join("SKILL.md"), scene.place.path("other"));
    fs::write(&other, "new").unwrap();
    File::options().write(true).open(&other).unwrap().set_times(written_at(&path)).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_ne!(scene.capture(), scene.start);
    scene.assert_truth();
}

#[test]
fn a_change_of_nothing_but_the_mode_is_seen() {
    let scene = Scene::new();
    fs::set_permissions(scene.root.join("d/run"), Permissions::from_mode(0o755)).unwrap();
    let Node::File { blob, size, .. } = node_of(&scene.start, "d/run") else { panic!("a file") };
    assert_eq!(node_of(&scene.capture(), "d/run"), Node::File { blob, size, mode: 0o755 });
    scene.assert_truth();
}

/// Within one clock tick a file may be written, captured and written again without a new timestamp.
#[test]
fn a_file_that_was_touched_a_moment_ago_is_read_again_until_it_is_settled() {
    let scene = Scene::new();
    let (path, edited) = (RelPath::parse(b"SKILL.md").unwrap(), scene.root.join("SKILL.md"));
    let found = || scene.indexes.open(&scene.root, SystemTime::now()).find(&path, &stamp(&edited), |_| true);
    assert!(found().is_some());
    fs::write(&edited, "new").unwrap();
    scene.assert_truth();
    assert_eq!(found(), None);
    scene.capture_later();
    assert!(found().is_some());
}

#[test]
fn an_index_that_is_not_what_we_wrote_for_this_folder_is_as_good_as_none() {
    let scene = Scene::new();
    scene.forge(b"lie");
    let forged = fs::read(scene.file()).unwrap();
    assert_ne!(scene.scan(), scene.start, "the forged index works as long as it is whole");
    let newer = |bytes: &mut Vec<u8>| bytes[VERSION.len() - 2] = b'2';
    scene.rewrite(newer);
    scene.assert_truth();
    for at in 0..forged.len() {
        scene.rewrite(|bytes| *bytes = forged[..at].to_vec());
        assert_eq!(scene.scan(), scene.start, "cut at {at}");
        scene.rewrite(|bytes| {
            *bytes = forged.clone();
            bytes[at] ^= 0x40;
        });
        assert_eq!(scene.scan(), scene.start, "damaged at {at}");
    }
    scene.rewrite(Vec::clear);
    scene.assert_truth();
    fs::remove_file(scene.file()).unwrap();
    fs::create_dir(scene.file()).unwrap();
    scene.assert_truth();
}

#[test]
fn records_that_make_no_sense_are_passed_over() {
    let scene = Scene::new();
    for records in [vec![0xff; 200], vec![0; 400], [&length(b"../x"), b"../x".as_slice(), &[7; 92]].concat()]
    {
        let mut index = scene.indexes.open(&scene.root, SystemTime::now());
        index.new = records;
        index.write(scene.objects().voucher()).unwrap();
        scene.assert_truth();
    }
}

#[test]
fn the_index_of_another_folder_is_not_believed() {
    let mut scene = Scene::new();
    scene.forge(b"lie");
    let (forged, moved) = (scene.file(), scene.place.path("moved"));
    fs::rename(&scene.root, &moved).unwrap();
    scene.root = moved;
    fs::rename(forged, scene.file()).unwrap();
    scene.assert_truth();
}

#[test]
fn a_link_in_the_place_of_an_index_is_not_followed() {
    let scene = Scene::new();
    scene.forge(b"lie");
    let (index, elsewhere) = (scene.file(), scene.place.path("elsewhere"));
    fs::rename(&index, &elsewhere).unwrap();
    symlink(&elsewhere, &index).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    scene.assert_truth();
    scene.capture_later();
    assert!(index.symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
}

#[test]
fn what_is_no_longer_in_the_store_is_stored_again() {
    let scene = Scene::new();
    scene.objects().sweep(&std::collections::HashSet::new()).unwrap();
    scene.assert_truth();
    fs::remove_dir_all(scene.objects().place().path()).unwrap();
    let other = Objects::at(scene.objects().place().clone());
    let captured = scene.indexes.capture(&other, &scene.root, None, Limits::default()).unwrap();
    assert_eq!(captured.manifest, scene.start);
    assert_stored(&other, &scene.start);
    let other = Objects::at(scene.place.path("another-store"));
    let captured = scene.indexes.capture(&other, &scene.root, None, Limits::default()).unwrap();
    assert_eq!(captured.manifest, scene.start);
    assert_stored(&other, &scene.start);
}

#[test]
fn an_object_that_is_found_cut_short_is_stored_again_by_the_next_capture() {
    let scene = Scene::new();
    let Node::File { blob, .. } = node_of(&scene.start, "SKILL.md") else { panic!("a file") };
    let hex = blob.to_string();
    let object = scene.objects().place().path().join(&hex[..2]).join(&hex[2..]);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "ol").unwrap();
    assert_eq!(scene.capture(), scene.start);
    let anew = Objects::at(scene.objects().place().clone());
    assert!(anew.read(blob).is_err(), "nobody has looked at it so far");
    scene.assert_truth();
}

#[test]
fn a_scan_writes_nothing_and_limits_hold_for_what_is_not_read_too() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.place.path("cache")).unwrap();
    assert_eq!(scene.scan(), scene.start);
    assert!(!scene.place.path("cache").exists());
    scene.capture_later();
    let all: u64 = 3 + 9 + 1;
    let scan = |bytes| scene.indexes.scan(&scene.root, None, Limits { files: 10, bytes });
    assert!(scan(all).is_ok());
    assert!(scan(all - 1).is_err());
}

#[test]
fn what_is_left_is_still_found_when_neighbours_come_and_go() {
    let scene = Scene::new();
    let found = |paths: &[&'static str]| {
        let mut index = scene.indexes.open(&scene.root, SystemTime::now());
        let known = |path: &&&str| {
            let at = RelPath::parse(path.as_bytes()).unwrap();
            index.find(&at, &stamp(&scene.root.join("d-e")), |_| true).is_some()
        };
        paths.iter().filter(known).copied().collect::<Vec<_>>()
    };
    // A walk enters a folder before it continues with names that sort before a slash.
    assert_eq!(found(&["A", "SKILL.md", "c", "d/a", "d/run", "d/s", "d-e", "e"]), ["d-e"]);
    assert_eq!(found(&["d-e"]), ["d-e"]);
    assert_eq!(found(&["d/s/t", "d-e"]), ["d-e"]);
    assert_eq!(found(&["d-a", "d-e"]), ["d-e"]);
    assert_eq!(found(&["d-f"]), [""; 0]);
}

#[test]
fn there_are_never_more_indexes_than_a_person_has_skills() {
    let scene = Scene::new();
    let folder = scene.indexes.folder.path();
    for nth in 0..2 * MOST {
        fs::write(folder.join(format!("older-{nth}")), "").unwrap();
    }
    File::create(folder.join("huge")).unwrap().set_len(MOST_BYTES).unwrap();
    fs::remove_file(scene.file()).unwrap();
    scene.capture_later();
    let sizes: Vec<u64> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
    assert!(sizes.len() <= MOST && sizes.iter().sum::<u64>() <= MOST_BYTES, "{sizes:?}");
    assert_eq!(scene.listed().len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_becomes_of_a_folder_an_indexed_capture_is_a_plain_one(
        from in random_children(), to in random_children(), back: bool,
    ) {
        let scene = Scene::of(&from);
        tick(&scene.place);
        let (old, new) = (scene.place.path("old"), scene.place.path("new"));
        fs::create_dir(&new).unwrap();
        build(&new, &to);
        fs::rename(&scene.root, &old).unwrap();
        fs::rename(&new, &scene.root).unwrap();
        scene.assert_truth();
        prop_assert_eq!(scene.capture_later(), scanned(&scene.root));
        if back {
            fs::rename(&scene.root, &new).unwrap();
            fs::rename(&old, &scene.root).unwrap();
            prop_assert_eq!(scene.capture(), scene.start.clone());
            scene.assert_truth();
        }
    }
}
