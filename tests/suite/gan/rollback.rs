//! Tests `rollback` of runs whose result was put into a folder.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{ALL, WORKS, build, building, page, passed};
use crate::scene::{Scene, listing};

/// Runs `rollback`, and returns what it says.
fn rolled_back(scene: &Scene, arguments: &[&str]) -> String {
    let ran = scene.run(&[&["rollback"][..], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    scene.normalized(&ran.stderr)
}

/// Returns a scene whose first build passed, in a folder that had files before.
fn passed_in_a_full_folder() -> Scene {
    let scene = building(&[&ALL]);
    let site = scene.path("project/site");
    fs::create_dir_all(site.join("old")).unwrap();
    fs::write(site.join("index.html"), "mine\n").unwrap();
    fs::write(site.join("old/page.html"), "older\n").unwrap();
    assert_eq!(build(&scene, &["--yes"]).code, Some(0));
    scene
}

#[test]
fn a_folder_that_the_run_filled_is_empty_again_and_the_result_is_kept() {
    let scene = passed();
    let built = page(&scene).unwrap();
    let id = scene.run_id();
    let status = scene.run(&["status"]).stdout;
    assert!(status.contains(&format!("skilltune rollback {id}   (undo it)")), "{status}");
    insta::assert_snapshot!(rolled_back(&scene, &[]), @r"
    /project/site restored to its state before the run
    the replaced version is kept; `skilltune export RUN champion DIR` copies it
    ");
    assert!(listing(&scene.path("project/site")).is_empty());
    let again = rolled_back(&scene, &[&id]);
    insta::assert_snapshot!(again, @"/project/site is already in its state before run RUN");
    let status = scene.run(&["status", "--format", "json"]).json();
    assert_eq!((&status["rolled_back"], &status["next"]), (&json!(true), &json!([])));
    assert!(scene.run(&["history"]).stdout.contains("rolled back: the folder is as it was before the run"));
    let report = scene.run(&["report"]).stdout;
    assert!(report.contains("site was restored to its state before the run"), "{report}");
    let clean = scene.run(&["clean", "--dry-run"]).stderr;
    assert!(clean.contains("only this run has the result"), "{clean}");
    assert_eq!(scene.run(&["export", &id, "champion", "again"]).code, Some(0));
    assert_eq!(fs::read_to_string(scene.path("project/again/index.html")).unwrap(), built);
}

#[test]
fn a_folder_with_files_gets_back_what_the_run_found_there() {
    let scene = passed_in_a_full_folder();
    let site = scene.path("project/site");
    assert!(page(&scene).unwrap().contains("Version 1"));
    rolled_back(&scene, &[]);
    assert_eq!(fs::read_to_string(site.join("index.html")).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(site.join("old/page.html")).unwrap(), "older\n");
    assert_eq!(listing(&site).len(), 3, "two files and a folder");
}

#[test]
fn edits_made_after_the_run_stay_unless_a_person_gives_them_up_and_then_they_are_kept() {
    let scene = passed_in_a_full_folder();
    let edited = scene.path("project/site/index.html");
    fs::write(&edited, "edited\n").unwrap();
    let ran = scene.run(&["rollback"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stderr), @r"
    error: /project/site changed since run RUN
    caused by: nothing was replaced; the edited version is kept as HASH
    hint: to replace it anyway, run `skilltune rollback RUN --force`
    hint: to look at the version before the run, run `skilltune export RUN start DIR`
    ");
    assert_eq!(fs::read_to_string(&edited).unwrap(), "edited\n");
    let said = scene.run(&["rollback", "--force"]).stderr;
    assert_eq!(fs::read_to_string(&edited).unwrap(), "mine\n");
    let command = said.split("skilltune ").nth(1).unwrap().replace("DIR", "mine").replace('`', " ");
    let words: Vec<&str> = command.split_whitespace().take(4).collect();
    assert_eq!(scene.run(&words).code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(scene.path("project/mine/index.html")).unwrap(), "edited\n");
}

#[test]
fn a_folder_that_is_gone_or_behind_a_symlink_is_not_written() {
    let scene = passed_in_a_full_folder();
    let (site, elsewhere) = (scene.path("project/site"), scene.path("elsewhere"));
    fs::rename(&site, &elsewhere).unwrap();
    let before = listing(&elsewhere);
    let said = scene.refusal(&["rollback"]);
    assert!(said.contains("error: cannot restore: /project/site does not exist"), "{said}");
    assert!(said.contains("`skilltune export RUN start /project/site`"), "{said}");
    symlink(&elsewhere, &site).unwrap();
    let said = scene.refusal(&["rollback", "--force"]);
    assert!(said.contains("is not a folder"), "{said}");
    assert_eq!(listing(&elsewhere), before);
    let new = passed();
    fs::remove_dir_all(new.path("project/site")).unwrap();
    assert!(rolled_back(&new, &[]).contains("does not exist, as before the run"));
}

#[test]
fn a_folder_that_cannot_be_looked_at_is_not_called_missing() {
    let scene = building(&[&ALL]);
    let out = scene.path("project/out");
    let build = ["gan", "brief.md", "--profile", "plain.yaml", "--into", "out/site", "--no-browser", "--yes"];
    assert_eq!(scene.run(&build).code, Some(0));
    fs::remove_dir_all(&out).unwrap();
    fs::write(&out, "a file").unwrap();
    let said = scene.refusal(&["rollback"]);
    assert!(said.contains("error: cannot restore: /project/out/site cannot be read"), "{said}");
    assert!(said.contains("caused by: Not a directory"), "{said}");
}

#[test]
fn a_run_that_put_nothing_into_a_folder_is_refused() {
    let scene = building(&[&[WORKS]]);
    assert_eq!(build(&scene, &["--yes", "--max-rounds", "1"]).code, Some(3));
    let id = scene.run_id();
    let said = scene.refusal(&["rollback", &id]);
    assert!(said.contains("put nothing into a folder"), "{said}");
    let said = scene.refusal(&["apply", &id]);
    assert!(said.contains("it built files; `skilltune export RUN champion DIR`"), "{said}");
    insta::assert_snapshot!(scene.refusal(&["rollback"]), @r"
    error: no run in /project/.skilltune has replaced a skill or a folder
    hint: list runs with `skilltune list`
    ");
    insta::assert_snapshot!(scene.refusal(&["apply"]), @r"
    error: no runs of tune in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or pass --project DIR
    ");
}

#[test]
fn without_a_name_the_newest_run_that_replaced_something_is_meant() {
    let script = json!({ "improve": { "writer": { "40": 90 } }, "gan": { "builds": [ALL] } });
    let scene = super::lay(Scene::new(&[("writer", 40)], &script));
    assert_eq!(scene.tune("writer", &[]).code, Some(0));
    let ran = build(&scene, &["--yes"]);
    let gan = ran.json()["run_id"].as_str().unwrap().to_owned();
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
    rolled_back(&scene, &[]);
    assert_eq!((page(&scene), scene.quality("writer")), (None, 90));
    assert_eq!(scene.run(&["clean", &gan, "--yes"]).code, Some(0));
    rolled_back(&scene, &[]);
    assert_eq!(scene.quality("writer"), 40);
}
