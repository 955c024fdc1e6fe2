//! A `.skilltune` from a repository: it can be read, and makes skilltune write nowhere.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::finished::{copy, unapplied};
use crate::scene::{Scene, listing};

#[test]
fn a_run_that_was_not_begun_here_can_be_looked_at_and_not_acted_on() {
    let theirs = unapplied();
    let ours = Scene::new(&[("writer", 40)], &json!({}));
    copy(&theirs.path("project/.skilltune"), &ours.path("project"));
    let (target, skill) = (listing(&theirs.skill("writer")), listing(&ours.skill("writer")));
    for command in [&["status"][..], &["report"], &["history"], &["diff"]] {
        assert_eq!(ours.run(command).code, Some(0), "{command:?}");
    }
    for command in [&["apply"][..], &["apply", "--force"], &["rollback", "--force"]] {
        let ran = ours.run(command);
        assert!(matches!(ran.code, Some(0 | 2)), "{ran:?}");
        assert!(!ran.stderr.contains("done"), "{ran:?}");
    }
    assert!(ours.run(&["apply"]).stderr.contains("was not started by you on this machine"));
    assert_eq!(listing(&theirs.skill("writer")), target, "their path is in the journal, and was not touched");
    assert_eq!(listing(&ours.skill("writer")), skill);
}

/// The journal names another user's private folder.
#[test]
fn a_run_of_reflex_that_was_not_begun_here_looks_into_no_other_folder() {
    let script = json!({ "reflex": { "produced": { "1": ["a.correctness.accuracy"] } } });
    let [theirs, ours] = [(), ()].map(|()| Scene::new(&[], &script));
    let ran =
        theirs.run(&["reflex", "Write about the pump", "--alias", "pump", "--template", "docs", "--yes"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    copy(&theirs.path("project/.skilltune"), &ours.path("project"));
    fs::write(theirs.path("project/.ai-factory/evolution/pump/artifact.md"), "private").unwrap();
    assert!(theirs.run(&["status"]).stdout.contains("stale: "), "the owner is told");
    for command in [&["status", "pump"][..], &["show", "pump"], &["list", "--format", "json"]] {
        let ran = ours.run(command);
        assert!(ran.code == Some(0) && ran.stdout.contains("evaluated"), "{command:?}: {ran:?}");
        assert!(!ran.stdout.contains("stale"), "{command:?}: {ran:?}");
    }
    let (before, mine) = (listing(&theirs.path("project")), ours.run(&["clean", "pump", "--yes"]));
    assert_eq!((mine.code, listing(&theirs.path("project"))), (Some(0), before), "{mine:?}");
}

#[test]
fn a_state_folder_that_is_a_link_is_refused_before_anything_is_written() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    fs::create_dir(scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), scene.path("project/.skilltune")).unwrap();
    let ran = scene.tune("writer", &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains(".skilltune was not created by skilltune: it is a symlink"), "{ran:?}");
    assert_eq!(fs::read_dir(scene.path("elsewhere")).unwrap().count(), 0);
}

/// The bug that this guards against deleted everything below the user's documents.
#[test]
fn clean_deletes_nothing_that_a_link_of_a_repository_leads_to() {
    for linked in ["cache", "objects", "runs"] {
        let scene = unapplied();
        fs::create_dir_all(scene.path("home/Documents/letters")).unwrap();
        fs::write(scene.path("home/Documents/letters/dear"), "precious").unwrap();
        let link = scene.path("project/.skilltune").join(linked);
        fs::rename(&link, scene.path("project/kept")).unwrap();
        symlink("../../home/Documents", &link).unwrap();
        let home = listing(&scene.path("home"));
        let ran = scene.run(&["clean", "--yes"]);
        assert_eq!(listing(&scene.path("home")), home, "{linked}");
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let shown = scene.normalized(&ran.stderr);
        assert!(
            shown.contains(&format!("/project/.skilltune/{linked} was not created by skilltune")),
            "{shown}"
        );
    }
}

#[test]
fn clean_names_what_is_not_ours_and_deletes_nothing() {
    let scene = unapplied();
    let photos = scene.path("project/.skilltune/objects/photos");
    fs::create_dir(&photos).unwrap();
    fs::write(photos.join("sea.jpg"), "precious").unwrap();
    let before = scene.everything();
    let ran = scene.run(&["clean", "--yes"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("objects/photos"), "{ran:?}");
    assert_eq!(scene.everything(), before);
}

/// An answer decides what a run does next, so cached answers from a repository must not be used.
#[test]
fn answers_that_this_user_did_not_store_are_not_believed() {
    let theirs = unapplied();
    let asked = theirs.answered();
    assert!(asked > 0);
    let begin = |scene: &Scene| scene.tune("writer", &["--apply", "never", "--seed", "7"]);
    // The same user finds all answers again; another user, in the same place and with the same call keys, finds none.
    begin(&theirs);
    assert_eq!(theirs.answered(), asked, "the cache is used");
    fs::rename(theirs.path("state"), theirs.path("the state of another user")).unwrap();
    begin(&theirs);
    assert_eq!(theirs.answered(), 2 * asked, "nothing of the cache is believed");
}
