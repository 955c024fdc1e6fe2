//! A promotion interrupted at each of its durable points, by a crash and by a person.

use std::fs;

use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::crash::rehearsal;

/// Two skills, each with a version to come from and one to go to.
struct Scene {
    _folder: TempDir,
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
            let to = found(&objects, &indexes, [&path]).unwrap()[0];
            fs::write(path.join("SKILL.md"), format!("old {name}")).unwrap();
            fs::write(path.join("references/gone.md"), "gone").unwrap();
            fs::remove_file(path.join("added.md")).unwrap();
            let from = found(&objects, &indexes, [&path]).unwrap()[0];
            Move { path, from, to }
        });
        let locks = Locks::at(&folder.path().join("state"));
        Self { _folder: folder, locks, objects, indexes, moves: moves.into() }
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
        let mut lock = self.locks.acquire(&[self.moves[1].path.clone()], &holder()).unwrap();
        recover(&self.locks, &mut lock, &holder(), &self.indexes)
    }

    fn now(&self) -> Vec<TreeId> {
        found(&self.objects, &self.indexes, self.moves.iter().map(|one| &one.path)).unwrap()
    }

    fn all(&self, side: fn(&Move) -> TreeId) -> Vec<TreeId> {
        self.moves.iter().map(side).collect()
    }
}

fn holder() -> Holder {
    Holder { pid: 1, host: "here".into(), since: Timestamp::UNIX_EPOCH, doing: "a test".into() }
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
