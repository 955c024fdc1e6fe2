//! The files of a run: during the run, after a person's edits, and files that are never written.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::tidy::{assert_is_told, assert_tidy, replayed};
use super::*;
use crate::scene::listing;

#[test]
fn the_files_tell_of_the_run_while_it_goes_on_and_the_pointer_goes_with_it() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "critique", &[]);
    let current = fs::read(scene.path("project/.ai-factory/evolution/current.json")).unwrap();
    let current: Value = serde_json::from_slice(&current).unwrap();
    assert_eq!(
        (&current["active_run_id"], &current["task_alias"], &current["status"]),
        (&json!(scene.run_id()), &json!(ALIAS), &json!("running"))
    );
    let state = run_json(&scene);
    assert_eq!(
        (&state["status"], &state["phase"], &state["iteration"]),
        (&json!("running"), &json!("B"), &json!(1))
    );
    assert!(meets(&artifact(&scene), &PASSES_A));
    let status = scene.run(&["reflex", "status"]);
    assert!(status.stdout.contains(&format!("running (process {})", run.pid())), "{status:?}");
    gate.open();
    let ran = run.wait();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_tidy(&scene, "over");
}

#[test]
fn the_result_is_written_where_it_was_asked_for_and_replaces_nothing() {
    let scene = scene(&rising());
    let out = scene.path("project/manual.md");
    let ran = new(&scene, &["--out", "manual.md"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(&out).unwrap(), artifact(&scene));
    let said = scene.refusal(&["reflex", "new", TASK, "--template", "docs", "--yes", "--out", "manual.md"]);
    assert!(said.contains("already exists"), "{said}");
    for other in ["manual.md/page.md", "no/../manual.md"] {
        let said = scene.refusal(&["reflex", "new", TASK, "--template", "docs", "--yes", "--out", other]);
        assert!(said.contains("cannot write /project/"), "{said}");
    }
}

#[test]
fn a_failed_run_saves_no_text_that_was_not_judged_and_keeps_it() {
    let failing = |phase: &str| {
        let mut play = rising();
        play["odd"] = json!({ phase: "rubbish" });
        let scene = scene(&play);
        let ran = new(&scene, &["--out", "manual.md"]);
        assert_eq!((ran.code, &ran.json()["status"]), (Some(4), &json!("failed")), "{ran:?}");
        (scene, ran)
    };
    let (scene, ran) = failing("evaluate");
    assert_eq!(ran.json()["artifact"]["status"], "unevaluated", "{ran:?}");
    let id = scene.run_id();
    let said = format!("failed before its text was judged; `skilltune show {id} head` prints the text");
    assert!(ran.stderr.contains(&said), "{ran:?}");
    assert!(!scene.path("project/manual.md").exists(), "{ran:?}");
    assert!(meets(&scene.run(&["show", &id, "head"]).stdout, &PASSES_A));
    let kept = scene.run(&["clean", "--yes"]);
    assert!(kept.stderr.contains("its text is only in"), "{kept:?}");
    assert_eq!(scene.run_folders().len(), 1);
    // The best text of this one was judged before the run failed.
    let (scene, ran) = failing("critique");
    assert_eq!(ran.json()["artifact"]["status"], "evaluated", "{ran:?}");
    assert_eq!(fs::read_to_string(scene.path("project/manual.md")).unwrap(), artifact(&scene));
}

#[test]
fn the_folders_of_the_result_are_made_once_there_is_one() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "refine", &["--out", "docs/new/manual.md"]);
    assert!(!scene.path("project/docs").exists(), "there is nothing to put into it yet");
    gate.open();
    let ran = run.wait();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let written = fs::read_to_string(scene.path("project/docs/new/manual.md")).unwrap();
    assert_eq!(written, artifact(&scene));
}

#[test]
fn a_file_that_came_to_stand_there_meanwhile_stays() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "refine", &["--out", "manual.md"]);
    let out = scene.path("project/manual.md");
    fs::write(&out, "my own words\n").unwrap();
    gate.open();
    let ran = run.wait();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("was not replaced"), "{ran:?}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "my own words\n");
    assert_tidy(&scene, "the run itself is over");
}

#[test]
fn an_artifact_that_somebody_has_edited_stays_and_is_told_as_stale() {
    let scene = written();
    let file = place(&scene).join("artifact.md");
    let judged = artifact(&scene);
    fs::write(&file, "my own words\n").unwrap();
    let status = scene.run(&["reflex", "status", ALIAS]);
    let mine = hash("my own words\n");
    let (judged, mine) = (hash(&judged), short(&mine));
    let message = format!("stale: {} was judged, but the file contains {mine}", short(&judged));
    assert!(status.stdout.contains(&message), "{}", status.stdout);
    assert!(!status.stdout.contains("score"), "of what was not judged no score is told: {}", status.stdout);
    // Reporting it again and cleaning up leave it unchanged.
    scene.run(&RESUME);
    assert_eq!(fs::read_to_string(&file).unwrap(), "my own words\n");
    let ran = scene.run(&["reflex", "clean", ALIAS, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "my own words\n", "{ran:?}");
}

#[test]
fn an_artifact_edited_during_the_run_stays_and_ours_gets_a_name_beside_it() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "refine", &[]);
    fs::write(place(&scene).join("artifact.md"), "my own words\n").unwrap();
    gate.open();
    let ran = run.wait();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(artifact(&scene), "my own words\n");
    let texts: Vec<_> = listing(&place(&scene)).into_iter().map(|(_, _, bytes)| bytes).collect();
    let ours = replayed(&scene).result().unwrap().hash.clone();
    assert!(texts.iter().any(|text| hash(&String::from_utf8_lossy(text)) == ours), "the result is there too");
}

#[test]
fn files_that_were_damaged_or_lost_are_written_again() {
    let scene = written();
    let whole = listing(&place(&scene));
    for name in ["run.json", "history.jsonl"] {
        for damage in [Some("{\"run_id\": \"pu"), Some(""), None] {
            let file = place(&scene).join(name);
            match damage {
                Some(damage) => fs::write(&file, damage).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            // Whatever damaged the files may have damaged our state file too; from that we see that they are outdated.
            fs::write(scene.run_folder().join("iteration-state.json"), "{").unwrap();
            let ran = scene.run(&RESUME);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert_eq!(listing(&place(&scene)), whole, "{name} {damage:?}");
        }
    }
    assert_is_told(&scene, &replayed(&scene), "written again");
}

#[test]
fn files_that_are_gone_are_written_again_from_the_journal() {
    for artifact_too in [false, true] {
        let gone = |scene: &Scene| {
            for name in ["run.json", "history.jsonl"].into_iter().chain(artifact_too.then_some("artifact.md"))
            {
                fs::remove_file(place(scene).join(name)).unwrap();
            }
        };
        // A resumed run writes them again as it continues, and an ended run restores them.
        let scene = scene(&rising());
        let (gate, run) = waiting_at(&scene, playing(&rising()), "critique", &[]);
        assert_eq!(run.interrupt(gate).code, Some(130));
        gone(&scene);
        let ran = scene.run(&RESUME);
        assert_eq!((ran.code, &ran.json()["reason"]), (Some(0), &json!("threshold_reached")), "{ran:?}");
        assert_is_told(&scene, &replayed(&scene), "written again");
        let (whole, calls) = (listing(&place(&scene)), scene.calls());
        gone(&scene);
        let ran = scene.run(&RESUME);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!((listing(&place(&scene)), scene.calls()), (whole, calls));
    }
}

#[test]
fn a_broken_state_without_a_history_is_written_again_from_the_journal() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "critique", &[]);
    assert_eq!(run.interrupt(gate).code, Some(130));
    let break_it = |scene: &Scene| {
        fs::write(place(scene).join("run.json"), "{\"run_id\": \"pu").unwrap();
        fs::remove_file(place(scene).join("history.jsonl")).unwrap();
    };
    break_it(&scene);
    let ran = scene.run(&RESUME);
    assert_eq!((ran.code, &ran.json()["reason"]), (Some(0), &json!("threshold_reached")), "{ran:?}");
    assert_tidy(&scene, "taken up");
    break_it(&scene);
    assert_eq!(scene.run(&RESUME).code, Some(0));
    assert_tidy(&scene, "reported again");
    // A new run on the same task does not take them for its own.
    break_it(&scene);
    fs::remove_dir_all(scene.run_folder()).unwrap();
    let said = scene.refusal(&NEW);
    assert!(said.contains("belongs to an unknown run"), "{said}");
}

#[test]
fn words_of_a_person_stay_where_the_files_beside_them_are_gone() {
    let scene = scene(&rising());
    let (gate, run) = waiting_at(&scene, playing(&rising()), "critique", &[]);
    assert_eq!(run.interrupt(gate).code, Some(130));
    fs::remove_file(place(&scene).join("run.json")).unwrap();
    fs::remove_file(place(&scene).join("history.jsonl")).unwrap();
    fs::write(place(&scene).join("artifact.md"), "my own words\n").unwrap();
    let ran = scene.run(&RESUME);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(artifact(&scene), "my own words\n");
    assert_eq!(run_json(&scene)["status"], "completed");
}

#[test]
fn two_runs_of_one_task_get_two_names() {
    let scene = scene(&rising());
    let began = |number: usize| {
        let ran = scene.run(&["reflex", "new", TASK, "--template", "docs", "--yes", "--format", "json"]);
        assert_eq!(ran.code, Some(0), "{number}: {ran:?}");
        ran.json()["alias"].as_str().unwrap().to_owned()
    };
    let names: Vec<_> = (0..3).map(began).collect();
    assert_eq!(names, ["write-about-the-pump", "write-about-the-pump-2", "write-about-the-pump-3"]);
    let listed = scene.run(&["reflex", "list"]);
    assert!(names.iter().all(|name| listed.stdout.contains(name.as_str())), "{listed:?}");
    let said = scene.refusal(&["reflex", "new", TASK, "--template", "docs", "--yes", "--alias", &names[0]]);
    assert!(said.contains(&names[0]), "{said}");
}

#[test]
fn nothing_of_the_originals_that_is_a_link_is_written_through() {
    for linked in [".ai-factory", ".ai-factory/evolution", ".ai-factory/evolution/pump"] {
        let scene = scene(&rising());
        let (elsewhere, link) = (scene.path("elsewhere"), scene.path("project").join(linked));
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let ran = new(&scene, &[]);
        assert_eq!(ran.code, Some(2), "{linked}: {ran:?}");
        assert!(ran.stderr.contains(linked), "{linked}: {ran:?}");
        assert_eq!(listing(&elsewhere), [], "{linked}");
        assert_eq!(scene.calls().len(), 0, "nothing is paid for first");
    }
}

#[test]
fn a_file_of_the_run_that_becomes_a_link_is_replaced_and_not_written_through() {
    for name in ["run.json", "history.jsonl", "artifact.md"] {
        let scene = scene(&rising());
        let (gate, run) = waiting_at(&scene, playing(&rising()), "refine", &[]);
        let (mine, file) = (scene.path("mine"), place(&scene).join(name));
        fs::write(&mine, "my own words\n").unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&mine, &file).unwrap();
        gate.open();
        let ran = run.wait();
        assert_eq!(fs::read_to_string(&mine).unwrap(), "my own words\n", "{name}: {ran:?}");
    }
}
