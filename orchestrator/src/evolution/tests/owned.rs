//! Tests of the files' owner, and of what a run writes and reads.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn what_is_written_is_there() {
    let scene = Scene::new();
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    writer.write(Part::Run, named(RUN).as_bytes()).unwrap();
    writer.write(Part::History, b"one\n").unwrap();
    writer.write(Part::History, b"one\ntwo\n").unwrap();
    writer.place_artifact(b"# It\n", |_| false).unwrap();
    assert!(writer.point(pointer(RUN).as_bytes()).unwrap());
    let found = Evolution::open(scene.project.path(), &Scene::usual()).unwrap().unwrap();
    assert_eq!(found.artifact(&task()).unwrap().unwrap(), b"# It\n");
    let expected = [("artifact.md", "# It\n"), ("history.jsonl", "one\ntwo\n"), ("run.json", &named(RUN))];
    assert_eq!(scene.files(), expected.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
    assert_eq!(fs::read_to_string(scene.path(CURRENT)).unwrap(), pointer(RUN));
    assert_eq!(fs::read_dir(scene.path("")).unwrap().count(), 2);
}

#[test]
fn looking_makes_nothing() {
    let scene = Scene::new();
    assert!(Evolution::open(scene.project.path(), &Scene::usual()).unwrap().is_none());
    assert_eq!(fs::read_dir(scene.project.path()).unwrap().count(), 0);
    let evolution = scene.evolution();
    assert_eq!(evolution.artifact(&task()).unwrap(), None);
    evolution.writer(&task(), RUN).check().unwrap();
    assert_eq!(fs::read_dir(scene.path("")).unwrap().count(), 0);
}

#[test]
fn others_may_use_the_files_as_the_user_lets_them() {
    let scene = Scene::new();
    scene.evolution().writer(&task(), RUN).write(Part::Run, b"{}").unwrap();
    scene.put("usual/file", "");
    let mode = |path: &str| fs::metadata(scene.path(path)).unwrap().permissions().mode();
    assert_eq!(mode("courses-api/run.json"), mode("usual/file"));
    assert_eq!(mode("courses-api"), mode("usual"));
}

#[test]
fn the_files_of_another_run_are_not_written_over() {
    for name in ["run.json", "history.jsonl"] {
        let scene = Scene::new();
        let held = named(OTHER).replace('{', "{\"event\": \"run_started\", ");
        scene.put(&format!("courses-api/{name}"), &held);
        let evolution = scene.evolution();
        let writer = evolution.writer(&task(), RUN);
        let results = [
            writer.check(),
            writer.write(Part::Run, b"{}"),
            writer.place_artifact(b"new", |_| true).map(drop),
            writer.point(pointer(RUN).as_bytes()).map(drop),
        ];
        for result in results {
            let Err(EvolutionError::Taken { path, run: owner }) = result else {
                panic!("{name}: {result:?}")
            };
            assert_eq!((path, owner.as_deref()), (scene.of_task(""), Some(OTHER)), "{name}");
        }
        assert!(!writer.remove(|_| true).unwrap());
        assert_eq!(scene.files(), BTreeMap::from([(name.to_owned(), held)]));
        assert!(!scene.path(CURRENT).exists());
    }
}

#[test]
fn a_folder_with_an_artifact_alone_is_no_new_runs_and_is_written_again_by_its_own() {
    let scene = Scene::new();
    scene.put("courses-api/artifact.md", "mine");
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    assert!(matches!(writer.check(), Err(EvolutionError::Taken { run: None, .. })), "a new run is refused");
    let run = named(RUN);
    let parts = [(Part::Run, run.as_bytes()), (Part::History, b"one\n".as_slice())];
    assert!(!writer.is_written(parts, true).unwrap());
    for (part, bytes) in parts {
        writer.write(part, bytes).unwrap();
    }
    assert!(writer.is_written(parts, true).unwrap());
    assert!(writer.place_artifact(b"new", |_| false).unwrap().is_beside(), "what nobody knows stays");
    assert_eq!(scene.files()["artifact.md"], "mine");
}

#[test]
fn a_damaged_run_file_does_not_disown_the_run_that_the_history_names() {
    let scene = Scene::new();
    scene.put("courses-api/run.json", "{\"run_id\": \"cour");
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    assert!(matches!(writer.check(), Err(EvolutionError::Taken { run: None, .. })));
    scene.put("courses-api/history.jsonl", named(RUN).replace('{', "{\"event\": \"run_started\", "));
    writer.write(Part::Run, named(RUN).as_bytes()).unwrap();
    assert_eq!(scene.files()["run.json"], named(RUN));
}

#[test]
fn damaged_files_that_name_no_run_are_refused_to_a_new_run_and_written_again_by_one_that_has_begun() {
    let damages = [("run.json", "{\"run_id\": \"cour"), ("run.json", ""), ("history.jsonl", "{\"torn")];
    for (name, damaged) in damages {
        let scene = Scene::new();
        scene.put(&format!("courses-api/{name}"), damaged);
        let evolution = scene.evolution();
        let writer = evolution.writer(&task(), RUN);
        assert!(matches!(writer.check(), Err(EvolutionError::Taken { run: None, .. })), "{name}");
        let run = named(RUN);
        let parts = [(Part::Run, run.as_bytes()), (Part::History, b"one\n".as_slice())];
        assert!(!writer.is_written(parts, false).unwrap(), "{name}");
        for (part, bytes) in parts {
            writer.write(part, bytes).unwrap();
        }
        assert!(writer.is_written(parts, false).unwrap(), "{name}");
    }
}

#[test]
fn a_history_that_another_run_has_written_on_in_is_no_longer_ours() {
    let scene = Scene::new();
    scene.put("courses-api/history.jsonl", named(RUN) + "no JSON\n");
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    writer.check().unwrap();
    scene.put("courses-api/history.jsonl", named(RUN) + &named(OTHER) + "{\"torn");
    assert!(matches!(writer.check(), Err(EvolutionError::Taken { run: Some(run), .. }) if run == OTHER));
}

#[test]
fn a_pointer_to_another_run_stays() {
    let scene = Scene::new();
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    for held in [pointer(OTHER), "rubbish".to_owned()] {
        scene.put(CURRENT, &held);
        assert!(!writer.point(pointer(RUN).as_bytes()).unwrap(), "it is written over: {held}");
        assert!(!writer.remove_current().unwrap());
        assert_eq!(fs::read_to_string(scene.path(CURRENT)).unwrap(), held);
    }
    fs::remove_file(scene.path(CURRENT)).unwrap();
    for _ in 0..2 {
        assert!(writer.point(pointer(RUN).as_bytes()).unwrap());
    }
    assert!(writer.remove_current().unwrap());
    assert!(!writer.remove_current().unwrap());
    assert!(!scene.path(CURRENT).exists());
}

#[test]
fn a_run_that_is_removed_takes_its_pointer_along_and_no_other() {
    for (held, stays) in [(pointer(RUN), false), (pointer(OTHER), true), ("rubbish".to_owned(), true)] {
        let scene = Scene::new();
        scene.put(CURRENT, &held);
        let evolution = scene.evolution();
        let writer = evolution.writer(&task(), RUN);
        // The folder may be gone already, or belong to another run.
        assert!(writer.remove(|_| true).unwrap());
        assert_eq!(scene.path(CURRENT).exists(), stays, "{held}");
        scene.put(CURRENT, &held);
        scene.put("courses-api/run.json", named(OTHER));
        assert!(!writer.remove(|_| true).unwrap());
        assert_eq!(scene.path(CURRENT).exists(), stays, "{held}");
    }
    let scene = Scene::new();
    fs::create_dir_all(scene.path(CURRENT)).unwrap();
    assert!(scene.evolution().writer(&task(), RUN).remove(|_| true).unwrap(), "something else has its name");
    assert!(scene.path(CURRENT).is_dir());
}

#[test]
fn a_folder_removed_meanwhile_is_made_again() {
    let scene = Scene::new();
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    writer.write(Part::Run, named(RUN).as_bytes()).unwrap();
    fs::remove_dir_all(scene.of_task("")).unwrap();
    writer.write(Part::History, b"one\n").unwrap();
    assert_eq!(scene.files().len(), 1);
}

#[test]
fn what_runs_have_left_is_removed_and_what_others_have_put_there_stays() {
    let scene = Scene::new();
    let evolution = scene.evolution();
    let writer = evolution.writer(&task(), RUN);
    let ours = |bytes: &[u8]| bytes == b"ours";
    writer.write(Part::Run, named(RUN).as_bytes()).unwrap();
    writer.place_artifact(b"ours", ours).unwrap();
    scene.put("courses-api/notes.txt", "mine");
    assert!(!writer.remove(ours).unwrap());
    assert_eq!(scene.files().into_keys().collect::<Vec<_>>(), ["notes.txt"]);
    fs::remove_file(scene.of_task("notes.txt")).unwrap();
    writer.write(Part::Run, named(RUN).as_bytes()).unwrap();
    scene.put("courses-api/artifact.md", "edited");
    assert!(!writer.remove(ours).unwrap());
    assert_eq!(scene.files().into_keys().collect::<Vec<_>>(), ["artifact.md"]);
    fs::remove_file(scene.of_task("artifact.md")).unwrap();
    assert!(writer.remove(|_| true).unwrap());
    assert!(!scene.of_task("").exists());
    assert!(writer.remove(ours).unwrap(), "nothing is there to stay");
}
