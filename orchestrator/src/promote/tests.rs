//! A promotion interrupted at each of its durable points, by a crash and by an edit of the user.

use std::fs;

use jiff::Timestamp;
use skilltune_phases::base::id::{BlobId, Digest};
use tempfile::TempDir;

use super::*;
use crate::crash::rehearsal;

/// Two skills, each with an old and a new version.
struct Scene {
    folder: TempDir,
    locks: Locks,
    objects: Objects,
    indexes: Indexes,
    moves: Vec<Move>,
}

impl Scene {
    fn set() -> Self {
        let folder = TempDir::new().unwrap();
        let objects = Objects::at(folder.path().join("objects"));
        let indexes = Indexes::at(&folder.path().join("indexes"));
        let moves = ["one", "two"].map(|name| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.join("references")).unwrap();
            fs::write(path.join("SKILL.md"), format!("new {name}")).unwrap();
            fs::write(path.join("added.md"), "added").unwrap();
            let to = found(&objects, &indexes, [unknown(&path)]).unwrap()[0];
            fs::write(path.join("SKILL.md"), format!("old {name}")).unwrap();
            fs::write(path.join("references/gone.md"), "gone").unwrap();
            fs::remove_file(path.join("added.md")).unwrap();
            let from = found(&objects, &indexes, [unknown(&path)]).unwrap()[0];
            Move { path, from, to }
        });
        let locks = Locks::at(&folder.path().join("state"));
        Self { folder, locks, objects, indexes, moves: moves.into() }
    }

    fn lock(&self) -> TargetLock {
        let targets: Vec<_> = self.moves.iter().map(|one| one.path.clone()).collect();
        self.locks.acquire(&targets, &holder()).unwrap()
    }

    fn promote(&self) -> Result<Promotion, PromoteError> {
        promote(&self.locks, &self.lock(), &self.objects, &self.indexes, "run", &self.moves)
    }

    fn recover(&self) -> Result<Vec<Repair>, PromoteError> {
        // Locking one of the two is enough: the intent names the other.
        self.recover_at(&self.moves[1].path)
    }

    fn recover_at(&self, target: &Path) -> Result<Vec<Repair>, PromoteError> {
        let mut lock = self.locks.acquire(&[target.to_owned()], &holder()).unwrap();
        recover(&self.locks, &mut lock, &holder(), &self.indexes)
    }

    fn now(&self) -> Vec<TreeId> {
        found(&self.objects, &self.indexes, self.moves.iter().map(Move::expected)).unwrap()
    }

    fn all(&self, side: fn(&Move) -> TreeId) -> Vec<TreeId> {
        self.moves.iter().map(side).collect()
    }
}

fn unknown(path: &Path) -> Expected<'_> {
    Expected { path, versions: Vec::new() }
}

fn holder() -> Holder {
    Holder { pid: 1, host: "here".into(), since: Timestamp::UNIX_EPOCH, doing: "a test".into() }
}

/// Creates the minimum that git accepts as a repository.
fn make_repository(at: &Path) {
    fs::create_dir_all(at.join(".git/objects")).unwrap();
    fs::create_dir(at.join(".git/refs")).unwrap();
    fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

#[test]
fn both_members_are_replaced_exactly_and_a_second_time_nothing_is_left_to_do() {
    let scene = Scene::set();
    assert_eq!(scene.promote().unwrap(), Promotion::Done);
    assert_eq!(scene.now(), scene.all(|one| one.to));
    assert_eq!(scene.promote().unwrap(), Promotion::Done);
    assert_eq!(scene.recover().unwrap(), []);
}

#[test]
fn a_crash_at_any_point_leaves_both_members_old_or_is_completed_by_the_next_command() {
    let mut points = 0;
    for at in 1.. {
        let scene = Scene::set();
        if rehearsal::crashed(at, || scene.promote()).is_some() {
            break;
        }
        points = at;
        let repairs = scene.recover().unwrap();
        let now = scene.now();
        if repairs.is_empty() {
            assert!(
                now == scene.all(|one| one.from) || now == scene.all(|one| one.to),
                "point {at}: {now:?}"
            );
        } else {
            assert_eq!(now, scene.all(|one| one.to), "point {at}");
        }
        assert_eq!(scene.recover().unwrap(), [], "point {at}: a repair is made once");
    }
    assert!(points > 20, "only {points} points");
}

#[test]
fn whoever_locks_the_folder_around_completes_what_a_crash_left_inside_it() {
    let mut completed = 0;
    for at in 1.. {
        let scene = Scene::set();
        if rehearsal::crashed(at, || scene.promote()).is_some() {
            break;
        }
        let beside = scene.folder.path().join("beside");
        fs::create_dir(&beside).unwrap();
        assert_eq!(scene.recover_at(&beside).unwrap(), [], "point {at}");
        let repairs = scene.recover_at(scene.folder.path()).unwrap();
        assert!(repairs.is_empty() || scene.now() == scene.all(|one| one.to), "point {at}");
        assert_eq!(scene.recover().unwrap(), [], "point {at}: nothing is left to repair");
        completed += repairs.len();
    }
    assert!(completed > 10, "completed {completed} times");
}

#[test]
fn a_target_that_a_person_has_edited_is_left_alone_and_what_stands_there_is_kept() {
    let scene = Scene::set();
    fs::write(scene.moves[1].path.join("SKILL.md"), "mine").unwrap();
    let before = scene.now();
    assert_eq!(scene.promote().unwrap(), Promotion::Conflict { found: before.clone() });
    assert_eq!(scene.now(), before);
}

#[test]
fn an_edit_at_any_point_of_a_promotion_survives_it() {
    for at in 1.. {
        let scene = Scene::set();
        let mine = scene.moves[1].path.join("SKILL.md");
        let edit = mine.clone();
        let (promoted, ended) =
            rehearsal::interrupted(at, move || fs::write(&edit, "my own words").unwrap(), || scene.promote());
        if !ended {
            break;
        }
        promoted.unwrap();
        assert_eq!(fs::read_to_string(&mine).unwrap(), "my own words", "point {at}");
    }
}

#[test]
fn an_edit_after_a_crash_is_kept_and_the_rest_goes_back_to_what_it_was() {
    let mut kept = 0;
    for at in 1.. {
        let scene = Scene::set();
        if rehearsal::crashed(at, || scene.promote()).is_some() {
            break;
        }
        let mine = scene.moves[0].path.join("SKILL.md");
        fs::write(&mine, "my own words").unwrap();
        let repairs = scene.recover().unwrap();
        assert_eq!(fs::read_to_string(&mine).unwrap(), "my own words", "point {at}");
        if let [Repair { result: Promotion::Conflict { .. }, .. }] = repairs.as_slice() {
            kept += 1;
            assert_eq!(scene.now()[1], scene.moves[1].from, "point {at}");
        }
    }
    assert!(kept > 10, "only {kept} points came to a conflict");
}

/// Writes ignored files beside those of a version: among them, in a folder that the new version lacks, and under its
/// names.
fn ignore_some(scene: &Scene) -> Vec<PathBuf> {
    let mut ignored = Vec::new();
    for one in &scene.moves {
        for name in [".env", "node_modules/pkg/index", "references/cache/page"] {
            let path = one.path.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "a person's, ignored").unwrap();
            ignored.push(path);
        }
    }
    fs::write(scene.moves[0].path.parent().unwrap().join(".gitignore"), ".env\nnode_modules/\ncache/\n")
        .unwrap();
    make_repository(scene.moves[0].path.parent().unwrap());
    ignored
}

#[track_caller]
fn assert_stay(ignored: &[PathBuf]) {
    for path in ignored {
        assert_eq!(fs::read_to_string(path).unwrap(), "a person's, ignored", "{path:?}");
    }
}

#[test]
fn ignored_files_stay_where_they_are_at_a_promotion_and_back() {
    let scene = Scene::set();
    let ignored = ignore_some(&scene);
    assert_eq!(scene.promote().unwrap(), Promotion::Done);
    assert_eq!(
        scene.now(),
        scene.all(|one| one.to),
        "a folder that only holds ignored files is no difference"
    );
    assert_stay(&ignored);
    assert!(!scene.moves[0].path.join("references/gone.md").exists());
    let stored = Digest::of(b"a person's, ignored");
    assert!(!scene.objects.contains(BlobId(stored)), "nothing ignored is read into the store");
    let back: Vec<Move> =
        scene.moves.iter().map(|one| Move { path: one.path.clone(), from: one.to, to: one.from }).collect();
    let promoted = promote(&scene.locks, &scene.lock(), &scene.objects, &scene.indexes, "run", &back);
    assert_eq!(promoted.unwrap(), Promotion::Done);
    assert_eq!(fs::read_to_string(scene.moves[0].path.join("references/gone.md")).unwrap(), "gone");
    assert_stay(&ignored);
}

#[test]
fn after_a_crash_at_any_point_ignored_files_are_where_they_were() {
    for at in 1.. {
        let scene = Scene::set();
        let ignored = ignore_some(&scene);
        if rehearsal::crashed(at, || scene.promote()).is_some() {
            break;
        }
        fs::write(scene.moves[0].path.join("node_modules/later"), "a person's, ignored").unwrap();
        let repairs = scene.recover().unwrap();
        assert!(repairs.iter().all(|repair| repair.result == Promotion::Done), "point {at}: {repairs:?}");
        if !repairs.is_empty() {
            assert_eq!(scene.now(), scene.all(|one| one.to), "point {at}");
        }
        assert_stay(&ignored);
    }
}

#[test]
fn an_ignored_file_under_a_name_of_the_new_version_is_a_conflict_and_stays() {
    let scene = Scene::set();
    let rules = scene.moves[0].path.parent().unwrap().join(".gitignore");
    make_repository(rules.parent().unwrap());
    fs::write(rules, "added.md\n").unwrap();
    let mine = scene.moves[1].path.join("added.md");
    fs::write(&mine, "mine").unwrap();
    assert!(matches!(scene.promote().unwrap(), Promotion::Conflict { .. }));
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    fs::remove_file(&mine).unwrap();
    assert_eq!(scene.promote().unwrap(), Promotion::Done, "a version may have what a rule names");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "added");
    assert_eq!(scene.now(), scene.all(|one| one.to));
}

#[test]
fn an_ignored_file_in_a_folder_that_becomes_a_file_is_a_conflict_and_stays() {
    let scene = Scene::set();
    let path = &scene.moves[0].path;
    make_repository(path.parent().unwrap());
    fs::write(path.parent().unwrap().join(".gitignore"), "cache/\n").unwrap();
    let to = scene.objects.manifest(scene.moves[0].to).unwrap();
    let blob = scene.objects.put(b"a file now").unwrap();
    let to = to.with_file("references", blob, 10);
    let to = scene.objects.put_manifest(&to).unwrap();
    fs::create_dir_all(path.join("references/cache")).unwrap();
    fs::write(path.join("references/cache/page"), "mine").unwrap();
    let moves = [Move { to, ..scene.moves[0].clone() }];
    let promoted = promote(&scene.locks, &scene.lock(), &scene.objects, &scene.indexes, "run", &moves);
    assert_eq!(promoted.unwrap(), Promotion::Conflict { found: vec![scene.moves[0].from] });
    assert_eq!(fs::read_to_string(path.join("references/cache/page")).unwrap(), "mine");
    assert_eq!(scene.now(), scene.all(|one| one.from), "all is as it was");
}

#[test]
fn a_new_version_that_no_longer_ignores_a_file_uncovers_nothing() {
    let scene = Scene::set();
    let path = &scene.moves[0].path;
    make_repository(path.parent().unwrap());
    let version = |rules: &str| {
        fs::write(path.join(".gitignore"), rules).unwrap();
        found(&scene.objects, &scene.indexes, [unknown(path)]).unwrap()[0]
    };
    let (to, from) = (version(""), version(".env\n"));
    fs::write(path.join(".env"), "a person's, ignored").unwrap();
    let moves = [Move { path: path.clone(), from, to }];
    let promoted = promote(&scene.locks, &scene.lock(), &scene.objects, &scene.indexes, "run", &moves);
    assert_eq!(promoted.unwrap(), Promotion::Done);
    let now = found(&scene.objects, &scene.indexes, [moves[0].expected()]).unwrap();
    assert_eq!(now, [to]);
    assert!(!scene.objects.contains(BlobId(Digest::of(b"a person's, ignored"))));
}
