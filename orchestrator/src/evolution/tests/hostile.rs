//! Tests with a folder that came with a repository.

use std::fs::File;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

const FILES: [&str; 4] =
    ["courses-api/run.json", "courses-api/history.jsonl", "courses-api/artifact.md", CURRENT];

/// Writes in every way, in the order of the files.
fn write_all(evolution: &Evolution) -> [Result<(), EvolutionError>; 4] {
    let writer = evolution.writer(&task(), RUN);
    [
        writer.write(Part::Run, named(RUN).as_bytes()),
        writer.write(Part::History, b"{}\n"),
        writer.place_artifact(b"new", |_| true).map(drop),
        writer.point(pointer(RUN).as_bytes()).map(drop),
    ]
}

/// Returns a folder that is ours, without the file at that place.
fn without(place: usize) -> Scene {
    let scene = Scene::new();
    scene.put("courses-api/run.json", named(RUN));
    if place == 0 {
        scene.put("courses-api/history.jsonl", named(RUN));
        fs::remove_file(scene.of_task("run.json")).unwrap();
    }
    scene
}

fn is_no_folder(result: Result<Evolution, EvolutionError>, path: &Path, what: EntryKind) -> bool {
    matches!(result, Err(EvolutionError::NoFolder { path: at, kind }) if at == path && kind == what)
}

#[test]
fn a_folder_that_is_a_link_is_not_gone_through() {
    for level in [".ai-factory", Evolution::USUAL] {
        for target in ["", "gone"] {
            let scene = Scene::new();
            let link = scene.project.path().join(level);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(scene.elsewhere.path().join(target), &link).unwrap();
            let (project, usual) = (scene.project.path(), Scene::usual());
            assert!(
                is_no_folder(Evolution::open_or_make(project, &usual), &link, EntryKind::Link),
                "{level}"
            );
            let opened = Evolution::open(project, &usual).transpose().unwrap();
            assert!(is_no_folder(opened, &link, EntryKind::Link), "{level}");
            scene.assert_nothing_happened_elsewhere();
        }
    }
}

#[test]
fn the_folder_of_a_task_that_is_a_link_is_neither_read_nor_written() {
    let scene = Scene::new();
    let evolution = scene.evolution();
    fs::write(scene.elsewhere.path().join("run.json"), named(RUN)).unwrap();
    symlink(scene.elsewhere.path(), scene.path("courses-api")).unwrap();
    let is_refused =
        |error: &EvolutionError| matches!(error, EvolutionError::NoFolder { kind: EntryKind::Link, .. });
    assert!(is_refused(&evolution.artifact(&task()).unwrap_err()));
    assert!(write_all(&evolution).iter().all(|written| is_refused(written.as_ref().unwrap_err())));
    assert!(evolution.writer(&task(), RUN).check().is_err());
    assert!(evolution.writer(&task(), RUN).remove(|_| true).is_err());
    fs::remove_file(scene.elsewhere.path().join("run.json")).unwrap();
    scene.assert_nothing_happened_elsewhere();
}

#[test]
fn a_file_that_is_a_link_is_neither_read_nor_written() {
    for (place, name) in FILES.into_iter().enumerate() {
        let scene = without(place);
        symlink(scene.elsewhere.path().join("precious"), scene.path(name)).unwrap();
        let is_refused = |error: &EvolutionError| matches!(error, EvolutionError::NoFile { path, kind: EntryKind::Link } if *path == scene.path(name));
        assert!(place != 2 || is_refused(&scene.evolution().artifact(&task()).unwrap_err()));
        assert!(is_refused(write_all(&scene.evolution())[place].as_ref().unwrap_err()), "{name}");
        assert!(scene.path(name).is_symlink());
        scene.assert_nothing_happened_elsewhere();
    }
}

#[test]
fn a_pipe_or_a_folder_in_the_place_of_a_file_is_told_and_not_waited_for() {
    let make = |path: &Path, kind| match kind {
        EntryKind::Folder => fs::create_dir(path).unwrap(),
        _ => mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
    };
    for expected in [EntryKind::Special, EntryKind::Folder] {
        for (place, name) in FILES.into_iter().enumerate() {
            let scene = without(place);
            make(&scene.path(name), expected);
            let is_reported = |error: &EvolutionError| matches!(error, EvolutionError::NoFile { kind, .. } if *kind == expected);
            assert!(place != 2 || is_reported(&scene.evolution().artifact(&task()).unwrap_err()));
            assert!(is_reported(write_all(&scene.evolution())[place].as_ref().unwrap_err()), "{name}");
        }
    }
}

#[test]
fn a_draft_that_is_a_link_is_removed_and_not_written_through() {
    let scene = Scene::new();
    scene.put("courses-api/run.json", named(RUN));
    for name in ["run.json", "history.jsonl", "artifact.md", CURRENT] {
        let draft = scene.of_task(&format!(".skilltune-tmp-draft-{name}"));
        symlink(scene.elsewhere.path().join("precious"), draft).unwrap();
    }
    for written in write_all(&scene.evolution()) {
        written.unwrap();
    }
    scene.assert_nothing_happened_elsewhere();
    assert!(scene.files().keys().all(|name| !name.starts_with(".skilltune")));
}

#[test]
fn what_is_larger_than_any_run_writes_is_not_read_and_nobody_overwrites_it() {
    for (place, name) in FILES.into_iter().enumerate() {
        let scene = without(place);
        scene.put(name, "");
        File::options().write(true).open(scene.path(name)).unwrap().set_len((8 << 20) + 1).unwrap();
        let is_refused = |error: &EvolutionError| matches!(error, EvolutionError::TooLarge(path) if *path == scene.path(name));
        // An artifact of that size is a person's, and a history of that size is replaced if run.json is ours.
        if place == 0 || place == 3 {
            assert!(is_refused(write_all(&scene.evolution())[place].as_ref().unwrap_err()), "{name}");
        }
        assert!(place != 2 || is_refused(&scene.evolution().artifact(&task()).unwrap_err()));
    }
}

#[test]
fn a_file_that_is_deep_or_odd_names_no_run() {
    let (deep, deep_object) = ("[".repeat(1 << 20), r#"{"a":"#.repeat(1 << 20));
    let named = format!(r#"{{"a": {}1{}, "run_id": "{OTHER}"}}"#, "[".repeat(100), "]".repeat(100));
    for (held, run) in [
        (deep.as_str(), None),
        (&deep_object, None),
        ("[]", None),
        ("{\"run_id\": 7}", None),
        ("\u{feff}{}", None),
        (&named, Some(OTHER)),
    ] {
        let scene = Scene::new();
        scene.put("courses-api/run.json", held);
        let taken = scene.evolution().writer(&task(), RUN).check().unwrap_err();
        assert!(
            matches!(&taken, EvolutionError::Taken { run: owner, .. } if owner.as_deref() == run),
            "{taken:?}"
        );
    }
}

#[test]
fn a_file_that_may_not_be_read_is_an_error_that_names_it() {
    let scene = Scene::new();
    scene.put("courses-api/run.json", named(RUN));
    let path = scene.of_task("run.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&path).is_ok() {
        // Root can read everything.
        return;
    }
    let error = scene.evolution().writer(&task(), RUN).check().unwrap_err();
    assert_eq!(error.to_string(), format!("could not open {}", path.display()));
}

#[test]
fn the_errors_say_what_to_do() {
    let path = || PathBuf::from("/p/run.json");
    let errors = [
        EvolutionError::NoFolder { path: path(), kind: EntryKind::Link },
        EvolutionError::NoFile { path: path(), kind: EntryKind::Special },
        EvolutionError::TooLarge(path()),
        EvolutionError::Taken { path: path(), run: Some("x\u{1b}[2J".to_owned()) },
        EvolutionError::Taken { path: path(), run: None },
    ];
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let expected = [
        "/p/run.json is a symlink, but the loop needs a folder there; move it away, or choose another folder",
        "/p/run.json is neither file nor folder, but the loop needs a file there; move it away",
        "/p/run.json is larger than 8388608 bytes; move it away",
        r"/p/run.json belongs to run x\u{1b}[2J; choose another alias, or move the folder away",
        "/p/run.json belongs to an unknown run; choose another alias, or move the folder away",
    ];
    assert_eq!(messages, expected);
}
