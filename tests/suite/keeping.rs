//! `clean` keeps the runs that can be resumed, and those that are needed to roll back a champion, and says so.

use std::fs;

use crate::commands::talk;
use crate::finished::{held, won};
use crate::scene::Scene;
use crate::terminal::{terminal, typed};

/// Returns the output of `clean` without the sizes, which vary.
fn said(scene: &Scene, flags: &[&str]) -> String {
    let ran = scene.run(&[&["clean"], flags].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let is_size = |word: &&str| word.parse::<u64>().is_err();
    let shown = scene.normalized(&ran.stderr);
    shown.lines().map(|line| line.split(' ').filter(is_size).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn a_run_whose_champion_is_in_the_skill_is_kept_unless_it_is_named() {
    let scene = won();
    let (skill, id) = (scene.quality("writer"), scene.run_id());
    insta::assert_snapshot!(said(&scene, &["--dry-run"]), @r"
    keeping RUN: its champion is applied to writer, and only this run can roll it back (`skilltune clean RUN` deletes it)
    nothing to clean
    ");
    said(&scene, &["--yes"]);
    assert_eq!(scene.run_folders().len(), 1, "kept");
    for named in [&["--all", "--dry-run"][..], &[id.as_str(), "--dry-run"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(said(&scene, named), @r"
            RUN  KiB  (its champion is applied to writer, and only this run can roll it back)
            would delete run and the stored files that only they need
            ");
        }
    }
    if let Ok(ends) = terminal() {
        let output = typed(scene.command(&["clean", "--all"]), ends, "\r");
        assert!(output.contains("1 run cannot be restored afterwards. Delete them?"), "{output}");
        assert_eq!(scene.run_folders().len(), 1, "enter is no");
    }
    talk(&scene, &scene.run(&["rollback"]));
    assert_ne!(scene.quality("writer"), skill);
    said(&scene, &["--yes"]);
    assert_eq!(scene.run_folders().len(), 0, "the way back has been gone");
}

#[test]
fn a_run_that_alone_holds_a_displaced_edit_is_kept() {
    let scene = won();
    let page = scene.skill("writer").join("SKILL.md");
    let edited = fs::read_to_string(&page).unwrap() + "Mine.\n";
    fs::write(&page, edited).unwrap();
    talk(&scene, &scene.run(&["rollback", "--force"]));
    insta::assert_snapshot!(said(&scene, &["--yes"]), @r"
    keeping RUN: only this run has a copy of an edit of writer that it replaced (`skilltune clean RUN` deletes it)
    nothing to clean
    ");
    assert_eq!(scene.run_folders().len(), 1);
}

#[test]
fn clean_deletes_a_run_that_can_be_taken_up_only_when_it_is_meant() {
    for named in [false, true] {
        let (scene, _) = held();
        let meant = if named { scene.run_id() } else { "--all".to_owned() };
        let plan = talk(&scene, &scene.run(&["clean", &meant, "--dry-run"]));
        assert!(plan.contains("(it can be resumed)"), "{plan}");
        if let Ok(ends) = terminal() {
            let output = typed(scene.command(&["clean", &meant]), ends, "\r");
            assert!(output.contains("1 run cannot be restored afterwards. Delete them?"), "{output}");
        }
        assert_eq!(scene.run_folders().len(), 1, "enter is no");
        talk(&scene, &scene.run(&["clean", &meant, "--yes"]));
        assert_eq!(scene.run_folders().len(), 0, "{meant}");
    }
}
