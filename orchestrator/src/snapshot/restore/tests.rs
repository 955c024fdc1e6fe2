//! A replacement is exact, survives a crash at every point, and never loses an edit that the user made meanwhile.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::crash::rehearsal::{crashed, interrupted};
use crate::snapshot::temporary::Temporaries;
use crate::snapshot::trees::{Children, Place, Tree, children_of, file, folder, random_children, scanned};
use crate::snapshot::{Objects, place};

/// Every kind of change at once, and its reverse in the other direction.
fn rich() -> (Children, Children) {
    let closed = |text| Tree::Folder(children_of(&[("inner", file(text))]), 0o555);
    let from = children_of(&[
        ("SKILL.md", file("old")),
        ("closed", closed("old")),
        ("deleted", file("going")),
        ("empty", folder(&[])),
        ("file-to-folder", file("file")),
        ("folder-to-file", folder(&[("x", file("x")), ("y", folder(&[("z", file("z"))]))])),
        ("folder-to-link", folder(&[("x", file("in a folder"))])),
        ("link", Tree::Link(b"SKILL.md".to_vec())),
        ("link-to-file", Tree::Link(b"/nowhere".to_vec())),
        ("run.sh", file("script")),
        ("same", folder(&[("kept", file("kept"))])),
    ]);
    let to = children_of(&[
        ("SKILL.md", file("new")),
        ("added", folder(&[("deep", folder(&[("er", file("added"))]))])),
        ("closed", closed("new")),
        ("file-to-folder", folder(&[("x", file("inside"))])),
        ("folder-to-file", file("a file now")),
        ("folder-to-link", Tree::Link(b"same".to_vec())),
        ("link", Tree::Link(b"deleted".to_vec())),
        ("link-to-file", file("a file now")),
        ("run.sh", Tree::File(b"script".to_vec(), 0o755)),
        ("same", folder(&[("kept", file("kept")), ("sealed", Tree::Folder(children_of(&[]), 0o500))])),
    ]);
    (from, to)
}

/// Few paths, each a separate case for a user's edit.
fn small() -> (Children, Children) {
    let from = children_of(&[
        ("SKILL.md", file("old")),
        ("deleted", file("going")),
        ("folder", folder(&[("inner", file("x"))])),
        ("link", Tree::Link(b"/nowhere".to_vec())),
        ("run.sh", file("script")),
    ]);
    let to = children_of(&[
        ("SKILL.md", file("new")),
        ("added", folder(&[("inner", file("added"))])),
        ("folder", file("a file now")),
        ("link", file("a file now")),
        ("run.sh", Tree::File(b"script".to_vec(), 0o755)),
    ]);
    (from, to)
}

/// A place whose folder `live` holds the first tree, with both manifests and the plan between them.
struct Scene {
    place: Place,
    from: Manifest,
    to: Manifest,
    plan: Replacement,
}

impl Scene {
    fn new((from, to): &(Children, Children)) -> Self {
        let place = Place::new();
        let from = place.capture(&place.build("live", from));
        let to = place.capture(&place.build("other", to));
        let plan = Replacement::plan(&from, &to);
        Self { place, from, to, plan }
    }

    fn live(&self) -> PathBuf {
        self.place.path("live")
    }

    fn apply(&self, plan: &Replacement) -> Result<Applied, ReplaceError> {
        plan.apply(&self.place.objects, &self.live())
    }

    fn reverse(&self) -> Replacement {
        Replacement::plan(&self.to, &self.from)
    }

    #[track_caller]
    fn assert_holds(&self, expected: &Manifest) {
        assert_eq!(&scanned(&self.live()), expected);
        assert_eq!(leftovers(&self.live()), 0);
    }
}

fn leftovers(root: &Path) -> usize {
    let entries = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    let ours = Temporaries::of(root);
    entries.filter(|entry| ours.own(entry.file_name())).count()
}

fn some_file_holds(root: &Path, bytes: &[u8]) -> bool {
    let entries = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap);
    let mut files = entries.filter(|entry| entry.file_type().is_file());
    files.any(|entry| fs::read(entry.path()).unwrap() == bytes)
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_plan_reads_as_what_will_be_done() {
    let from = children_of(&[("a", file("1")), ("d", folder(&[("x", file("x"))])), ("s", file("s"))]);
    let to = children_of(&[("a", file("2")), ("d", file("file")), ("s", Tree::File(b"s".into(), 0o755))]);
    let scene = Scene::new(&(from, to));
    let expected = "remove d/x\nremove d\nreplace a\nreplace d\nset the mode of s to 0755\n";
    assert_eq!(scene.plan.to_string(), expected);
    assert!(Replacement::plan(&scene.to, &scene.to).is_empty());
}

#[test]
fn every_kind_of_change_is_made_and_made_again_and_undone() {
    let scene = Scene::new(&rich());
    for _ in 0..2 {
        assert_eq!(scene.apply(&scene.plan).unwrap(), Applied::default());
        scene.assert_holds(&scene.to);
    }
    scene.apply(&scene.reverse()).unwrap();
    scene.assert_holds(&scene.from);
}

#[test]
fn after_a_crash_at_any_point_the_same_plan_completes_it() {
    let trees = rich();
    for at in 1.. {
        let scene = Scene::new(&trees);
        let ended = crashed(at, || scene.apply(&scene.plan));
        assert_eq!(scene.apply(&scene.plan).unwrap(), Applied::default(), "crash at {at}");
        scene.assert_holds(&scene.to);
        if ended.is_some() {
            assert!(at > 100, "the rich case has many points, not {at}");
            break;
        }
    }
}

#[test]
fn after_a_crash_at_any_point_the_reverse_plan_undoes_it() {
    let trees = rich();
    for at in 1.. {
        let scene = Scene::new(&trees);
        let ended = crashed(at, || scene.apply(&scene.plan));
        assert_eq!(scene.apply(&scene.reverse()).unwrap(), Applied::default(), "crash at {at}");
        scene.assert_holds(&scene.from);
        if ended.is_some() {
            break;
        }
    }
}

#[test]
fn an_edit_at_any_point_is_kept_in_the_folder_and_reported() {
    let trees = small();
    for edited in ["SKILL.md", "deleted", "run.sh", "added/inner", "folder/inner", "folder/note", "link"] {
        for at in 1.. {
            let scene = Scene::new(&trees);
            let (target, happened) = (scene.live().join(edited), Rc::new(Cell::new(false)));
            let seen = happened.clone();
            let (result, came) =
                interrupted(at, move || seen.set(edit(&target)), || scene.apply(&scene.plan));
            assert_kept(&scene, edited, at, happened.get(), result);
            if !came {
                break;
            }
        }
    }
}

/// Writes in place, like an editor. Returns false if the folder is missing.
fn edit(target: &Path) -> bool {
    if target.is_symlink() {
        fs::remove_file(target).unwrap();
    }
    fs::write(target, "a person's").is_ok()
}

#[track_caller]
fn assert_kept(scene: &Scene, edited: &str, at: u64, happened: bool, result: Result<Applied, ReplaceError>) {
    match result {
        Err(ReplaceError::Edited { .. }) => assert!(happened, "{edited} at {at}"),
        Err(error) => panic!("{edited} at {at}: {error}"),
        Ok(_) => {
            let differing = verify(&scene.live(), &scene.to).unwrap();
            assert_eq!(differing.contains(&path(edited)), happened, "{edited} at {at}");
        }
    }
    assert_eq!(some_file_holds(&scene.live(), b"a person's"), happened, "{edited} at {at}");
}

#[test]
fn a_folder_swapped_for_a_link_at_any_point_leads_nowhere() {
    let trees = small();
    for at in 1.. {
        let scene = Scene::new(&trees);
        let outside = scene.place.build("outside", &children_of(&[("inner", file("x"))]));
        let (before, live, target) = (scanned(&outside), scene.live(), outside.clone());
        let swap = move || {
            for name in ["folder", "added"] {
                let _ = fs::rename(live.join(name), live.join(format!("{name}-moved")));
                let _ = symlink(&target, live.join(name));
            }
        };
        let (_, came) = interrupted(at, swap, || scene.apply(&scene.plan));
        assert_eq!(scanned(&outside), before, "swap at {at}");
        if !came {
            break;
        }
    }
}

#[test]
fn unknown_bytes_set_aside_by_a_crash_are_stored_before_they_leave() {
    let scene = Scene::new(&rich());
    let ours = Temporaries::of(&scene.live());
    let aside = ours.aside(1);
    fs::write(scene.live().join(&aside), "a person's").unwrap();
    fs::write(scene.live().join(ours.draft(1)), "cut sho").unwrap();
    fs::write(scene.live().join(ours.aside(2)), "old").unwrap();
    let Applied { rescued } = scene.apply(&scene.plan).unwrap();
    let [Rescued { path: rescued, blob }] = &rescued[..] else { panic!("one rescued file: {rescued:?}") };
    assert_eq!(rescued, &path(aside.to_str().unwrap()));
    assert_eq!(scene.place.objects.read(*blob).unwrap(), b"a person's");
    scene.assert_holds(&scene.to);
}

#[test]
fn a_file_of_a_persons_own_is_theirs_whatever_its_name() {
    let scene = Scene::new(&rich());
    let names = [".skilltune-tmp-notes", ".skilltune-tmp-draft-1", ".skilltune-tmp-0123456789ab-aside-1-1"];
    for name in names {
        fs::write(scene.live().join(name), "mine").unwrap();
    }
    let Applied { rescued } = scene.apply(&scene.plan).unwrap();
    assert_eq!(rescued, []);
    let seen = scanned(&scene.live());
    for name in names {
        assert_eq!(fs::read(scene.live().join(name)).unwrap(), b"mine");
        assert!(seen.get(&path(name)).is_some(), "{name} is part of the folder");
    }
}

/// If a file cannot be replaced, the prepared new file is removed.
#[test]
fn a_replacement_that_is_refused_leaves_no_temporary_file() {
    let scene = Scene::new(&rich());
    let page = scene.live().join("SKILL.md");
    let flags = |flags: rustix::fs::IFlags| {
        let file = fs::File::open(&page).unwrap();
        rustix::fs::ioctl_setflags(&file, flags)
    };
    // Only root may do this, and not on every file system; CI's tests as root cover it.
    if flags(rustix::fs::IFlags::IMMUTABLE).is_err() {
        return;
    }
    let refused = scene.apply(&scene.plan);
    flags(rustix::fs::IFlags::empty()).unwrap();
    assert!(matches!(refused, Err(ReplaceError::Disk(_))), "{refused:?}");
    assert_eq!(leftovers(&scene.live()), 0);
    assert_eq!(fs::read(&page).unwrap(), b"old");
}

#[test]
fn a_store_that_lacks_a_file_stops_a_replacement_before_it_begins() {
    let scene = Scene::new(&rich());
    let empty = Objects::at(scene.place.path("empty-store"));
    let result = scene.plan.apply(&empty, &scene.live());
    assert!(matches!(result, Err(ReplaceError::Object(ObjectError::Missing(_)))));
    scene.assert_holds(&scene.from);
}

#[test]
fn large_files_are_exchanged_whole() {
    let big = |byte, size| children_of(&[("big", Tree::File(vec![byte; size], 0o644))]);
    let scene = Scene::new(&(big(1, (5 << 20) + 7), big(2, (1 << 20) + 7)));
    scene.apply(&scene.plan).unwrap();
    scene.assert_holds(&scene.to);
    scene.apply(&scene.reverse()).unwrap();
    scene.assert_holds(&scene.from);
}

#[test]
fn what_is_reserved_is_neither_captured_nor_touched() {
    let scene = Scene::new(&rich());
    fs::create_dir(scene.live().join(".git")).unwrap();
    fs::write(scene.live().join(".git/HEAD"), "ref").unwrap();
    scene.apply(&scene.plan).unwrap();
    scene.assert_holds(&scene.to);
    assert_eq!(fs::read(scene.live().join(".git/HEAD")).unwrap(), b"ref");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_becomes_any_other_exactly_and_a_placed_copy_is_the_same(
        from in random_children(), to in random_children(),
    ) {
        let scene = Scene::new(&(from, to));
        scene.apply(&scene.plan).unwrap();
        scene.assert_holds(&scene.to);
        let copy = scene.place.path("copy");
        place(&scene.place.objects, &scene.to, &copy, |_| {}).unwrap();
        prop_assert_eq!(scanned(&copy), scene.to.copied());
    }

    #[test]
    fn a_crash_in_the_recovery_from_a_crash_still_ends_exactly(
        from in random_children(), to in random_children(), first in 1_u64..60, second in 1_u64..60, undo: bool,
    ) {
        let scene = Scene::new(&(from, to));
        crashed(first, || scene.apply(&scene.plan));
        let (plan, end) = if undo { (scene.reverse(), &scene.from) } else { (scene.plan.clone(), &scene.to) };
        crashed(second, || scene.apply(&plan));
        prop_assert_eq!(scene.apply(&plan).unwrap(), Applied::default());
        scene.assert_holds(end);
    }
}
