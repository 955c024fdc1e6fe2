//! A run of `reflex` and one of `tune` in one project: the same commands accept both.

use serde_json::json;

use super::*;
use crate::finished::Finished;
use crate::readme::steady;
use crate::scene::{without_moments, without_padding};

/// Tunes a skill, and then writes a text.
fn both() -> Scene {
    static BOTH: Finished = Finished::new(|| {
        let scene = scene_of_both();
        assert_eq!(scene.tune("writer", &[]).code, Some(0));
        assert_eq!(new(&scene, &[]).code, Some(0));
        scene
    });
    BOTH.scene()
}

fn scene_of_both() -> Scene {
    Scene::new(&[("writer", 40)], &script())
}

fn script() -> Value {
    json!({ "reflex": rising(), "improve": { "writer": { "40": 60, "60": 90 } } })
}

/// Returns the id of the run of a loop.
fn id_of(scene: &Scene, kind: &str) -> String {
    let listed = scene.run(&["list", "--format", "json"]).json();
    let run = listed.as_array().unwrap().iter().find(|run| run["loop"] == kind).unwrap();
    run["run_id"].as_str().unwrap().to_owned()
}

fn data(scene: &Scene, arguments: &[&str]) -> String {
    let ran = scene.run(arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    ran.stdout
}

#[test]
fn every_command_that_looks_takes_a_run_of_either_loop_by_id_beginning_and_alias() {
    let scene = both();
    let (tuned, written) = (id_of(&scene, "tune"), id_of(&scene, "reflex"));
    let before = scene.everything();
    for command in ["status", "history", "show", "report", "diff"] {
        let whole = data(&scene, &[command, &written]);
        assert!(!whole.is_empty(), "{command}");
        for same in
            [&[command, "pump-2"][..], &[command, ALIAS], &["reflex", command, ALIAS], &["reflex", command]]
        {
            assert_eq!(data(&scene, same), whole, "{same:?}");
        }
        assert_eq!(data(&scene, &[command]), whole, "{command}: it is the newest");
        let other = data(&scene, &[command, &tuned]);
        assert!(!other.is_empty() && other != whole, "{command}");
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn a_list_has_the_runs_of_both_loops_and_with_a_filter_those_of_one() {
    let scene = both();
    let kinds = |arguments: &[&str]| -> Vec<Value> {
        let listed = scene.run(&[arguments, &["--format", "json"]].concat()).json();
        listed.as_array().unwrap().iter().map(|run| run["loop"].clone()).collect()
    };
    assert_eq!(kinds(&["list"]), ["reflex", "tune"], "the newest first");
    assert_eq!(kinds(&["reflex", "list"]), ["reflex"]);
    assert_eq!(kinds(&["list", "--loop", "tune"]), ["tune"]);
    assert_eq!(kinds(&["list", "--limit", "1"]), ["reflex"]);
    let shown = steady(&without_moments(&scene.normalized(&data(&scene, &["list"]))), &scene.path(""));
    insta::assert_snapshot!(without_padding(&shown), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  reflex  completed  iteration 2 of 4, TIME  100.0 at B  MOMENT  Write about the pump
    RUN  tune  completed  round 3 of 5  39.6 -> 89.6  MOMENT  writer
    ");
    let of_tune = data(&scene, &["list", "--loop", "tune"]);
    assert!(of_tune.lines().count() == 2 && of_tune.ends_with("  writer\n"), "{of_tune}");
    let newest = data(&scene, &["list", "--limit", "1"]);
    assert!(newest.lines().count() == 2 && newest.ends_with("  Write about the pump\n"), "{newest}");
    insta::assert_snapshot!(scene.refusal(&["reflex", "list", "--loop", "tune"]), @r"
    error: `skilltune reflex list` lists only runs of reflex
    hint: run `skilltune list --loop tune`
    ");
    assert!(scene.refusal(&["list", "--limit", "0"]).contains("0 is not in"));
}

#[test]
fn a_filter_takes_no_run_of_another_loop() {
    let scene = both();
    let tuned = id_of(&scene, "tune");
    for command in ["status", "history", "show", "report", "diff", "resume", "stop", "clean"] {
        let said = scene.refusal(&["reflex", command, &tuned]);
        assert!(said.starts_with("error: run RUN belongs to tune\n"), "{command}: {said}");
    }
}

#[test]
fn a_run_without_a_target_is_neither_applied_nor_rolled_back() {
    let scene = both();
    for arguments in [
        &["apply", ALIAS][..],
        &["rollback", ALIAS],
        &["apply", ALIAS, "start", "--force"],
        &["reflex", "apply"],
        &["reflex", "rollback"],
    ] {
        let said = scene.refusal(arguments);
        assert!(said.starts_with("error: run RUN has no target to replace: it wrote a text;"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let ran = scene.run(&["rollback"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 40), "the newest that has a target: {ran:?}");
}

#[test]
fn the_texts_of_a_run_are_shown_compared_and_written_elsewhere() {
    let scene = both();
    let last = artifact(&scene);
    let diff = data(&scene, &["diff", ALIAS]);
    assert!(diff.contains("+++ b/artifact.md") && diff.contains(&format!("+met: {STRUCTURE}")), "{diff}");
    let same = scene.run(&["diff", ALIAS, "start"]);
    assert_eq!((same.code, same.stdout.as_str()), (Some(0), ""));
    data(&scene, &["export", ALIAS, "champion", "out"]);
    assert_eq!(fs::read_to_string(scene.path("project/out/artifact.md")).unwrap(), last);
    scene.refusal(&["export", ALIAS, "champion", "out"]);
    assert_eq!(data(&scene, &["show", ALIAS, &hash(&last)]), last.trim_end().to_owned() + "\n");
    let iteration = data(&scene, &["show", ALIAS, "2"]);
    assert!(
        iteration.contains("iteration 2 of 4, level B: passed") && iteration.contains(STRUCTURE),
        "{iteration}"
    );
    let said = scene.refusal(&["show", ALIAS, "0badc0de"]);
    assert!(said.contains(short(&hash(&last))), "{said}");
    scene.refusal(&["show", ALIAS, "9"]);
}

#[test]
fn a_run_is_taken_up_and_stopped_without_the_name_of_its_loop() {
    let scene = scene_of_both();
    let (gate, run) = waiting_at(&scene, script(), "critique", &[]);
    let said = scene.run(&["resume", ALIAS, "--yes"]);
    assert!(said.code == Some(2) && said.stderr.contains("`skilltune stop pump-"), "{said:?}");
    run.kill_and_see_off();
    gate.remove();
    let wrong = scene.run(&["resume", ALIAS, "--answer", "apply"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("is not waiting for an answer"), "{wrong:?}");
    let ran = scene.run(&["resume", "--yes", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["alias"]), (Some(0), &json!(ALIAS)), "{ran:?}");
}

#[test]
fn a_stop_without_a_name_means_the_run_that_is_running() {
    let scene = scene_of_both();
    let (gate, run) = waiting_at(&scene, script(), "plan", &[]);
    assert_eq!(scene.tune("writer", &[]).code, Some(0), "it is newer, and has ended");
    let stop = std::thread::scope(|scope| {
        let stop = scope.spawn(|| scene.run(&["stop", "It is good enough."]));
        run.until_said("finishing current calls");
        gate.open();
        stop.join().unwrap()
    });
    assert!(stop.code == Some(0) && stop.stderr.contains("for good"), "{stop:?}");
    assert_eq!(run.wait().code, Some(3));
    assert_eq!(run_json(&scene)["stop"]["reason"], "user_stop");
    assert_eq!(run_json(&scene)["stop"]["message"], "It is good enough.");
}

#[test]
fn clean_keeps_a_text_that_is_nowhere_else_until_it_is_meant() {
    let scene = both();
    assert_eq!(scene.run(&["rollback"]).code, Some(0));
    let ran = scene.run(&["clean", "--yes"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("its text is only in"), "{ran:?}");
    assert_eq!((scene.run_folders().len(), place(&scene).exists()), (1, true), "{ran:?}");
    let ran = scene.run(&["clean", ALIAS, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!((scene.run_folders().len(), place(&scene).exists()), (0, false), "{ran:?}");
}

#[test]
fn a_run_of_reflex_is_found_from_another_folder_by_its_whole_id() {
    let scene = both();
    let written = id_of(&scene, "reflex");
    let elsewhere = |arguments: &[&str]| {
        Ran::of(scene.command(arguments).current_dir(scene.path("home")).output().unwrap())
    };
    for arguments in [&["status", &written][..], &["reflex", "status", &written], &["report", &written]] {
        let ran = elsewhere(arguments);
        assert_eq!((ran.code, ran.stdout), (Some(0), data(&scene, arguments)), "{arguments:?}");
    }
    assert_eq!(elsewhere(&["status", ALIAS]).code, Some(2));
}
