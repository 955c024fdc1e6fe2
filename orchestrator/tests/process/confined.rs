//! What a confined child can and cannot do; it is watched and ended like any other child.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use skilltune_orchestrator::process::{Call, Confinement, How, can_confine};

use crate::stage::{Stage, run};

/// Returns whether this system can confine. Reports if not, and fails if the kernel claims to have Landlock.
fn is_possible() -> bool {
    if can_confine() {
        return true;
    }
    // Bypasses the harness, which hides the output of a test that passes.
    let _ = writeln!(io::stderr(), "SKIPPED: this kernel has no Landlock that holds every write");
    let modules = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
    let must = std::env::var_os("CI").is_some() && modules.split(',').any(|name| name.trim() == "landlock");
    assert!(!must, "the kernel says that it has Landlock, and cannot confine");
    false
}

/// Creates a folder with one file in it.
fn folder(stage: &Stage, name: &str) -> String {
    let place = stage.path(name);
    fs::create_dir(&place).unwrap();
    fs::write(place.join("file"), "as it was").unwrap();
    place.into_os_string().into_string().unwrap()
}

fn confined(mut call: Call, writes: &[&str]) -> Call {
    call.confinement = Some(Confinement { writes: writes.iter().map(Into::into).collect() });
    call
}

fn stdout(stage: &Stage) -> String {
    fs::read_to_string(stage.path("stdout")).unwrap_or_default()
}

fn names(place: &str) -> Vec<String> {
    let entries = fs::read_dir(place).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn within_its_places_a_confined_child_may_do_all_that_any_may() {
    if !is_possible() {
        return;
    }
    let stage = Stage::new();
    let place = folder(&stage, "mine");
    let ended = run(&confined(stage.call(&["meddle", &place]), &[&place])).unwrap();
    assert_eq!(ended.how, How::Exited(0), "{ended:?}");
    assert!(stdout(&stage).lines().all(|line| line.ends_with(" done")), "{}", stdout(&stage));
    assert_eq!(names(&place), ["folder", "link", "new"]);
}

#[test]
fn outside_of_them_neither_it_nor_a_child_of_it_can_change_anything() {
    if !is_possible() {
        return;
    }
    for kind in ["meddle", "let-meddle"] {
        let stage = Stage::new();
        let (mine, theirs) = (folder(&stage, "mine"), folder(&stage, "theirs"));
        let ended = run(&confined(stage.call(&[kind, &theirs]), &[&mine])).unwrap();
        assert_eq!(ended.how, How::Exited(0), "{ended:?}");
        let text = stdout(&stage);
        assert_eq!(text.lines().count(), 7, "{text}");
        assert!(text.lines().all(|line| line.ends_with(" PermissionDenied")), "{kind}: {text}");
        assert_eq!(names(&theirs), ["file"]);
        assert_eq!(fs::read_to_string(Path::new(&theirs).join("file")).unwrap(), "as it was");
    }
}

#[test]
fn a_file_may_be_a_place_and_a_place_that_is_missing_is_none() {
    if !is_possible() {
        return;
    }
    let stage = Stage::new();
    let place = folder(&stage, "mine");
    let (file, missing) = (format!("{place}/file"), format!("{place}/no-such-folder"));
    run(&confined(stage.call(&["meddle", &place]), &[&missing, &file])).unwrap();
    let text = stdout(&stage);
    let done: Vec<_> = text.lines().filter(|line| line.ends_with(" done")).collect();
    assert_eq!(done, ["append done", "cut done"], "{text}");
}

#[test]
fn a_confined_child_finds_its_input_its_environment_and_its_folder_as_it_would_else() {
    if !is_possible() {
        return;
    }
    let stage = Stage::new();
    let mut free = stage.call(&["report"]);
    fs::write(stage.path("stdin"), "a prompt").unwrap();
    free.stdin = Some(stage.path("stdin"));
    run(&free).unwrap();
    let report = fs::read(stage.path("stdout")).unwrap();
    run(&confined(free, &[])).unwrap();
    assert_eq!(fs::read(stage.path("stdout")).unwrap(), report);
    assert!(!report.is_empty());
}

#[test]
fn a_confined_child_that_does_not_end_is_ended_with_all_that_it_started() {
    if !is_possible() {
        return;
    }
    for kind in ["plain", "setsid", "daemon"] {
        let stage = Stage::new();
        let mut call = confined(stage.call(&[kind, "stay"]), &[stage.folder.path().to_str().unwrap()]);
        call.deadline = Duration::from_millis(200);
        let ended = run(&call).unwrap();
        assert_eq!(ended.how, How::TimedOut, "{kind}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_program_that_is_not_there_was_not_started_and_an_exit_code_stays_one() {
    if !is_possible() {
        return;
    }
    let stage = Stage::new();
    let mut missing = stage.call(&[]);
    missing.argv = vec![stage.path("no-such-program").into()];
    let ended = run(&confined(missing, &[])).unwrap();
    assert!(matches!(&ended.how, How::NotStarted { why } if why.contains("no-such-program")), "{ended:?}");
    assert_eq!(stage.record(), Some(ended));
    let place = stage.folder.path().to_str().unwrap().to_owned();
    let ended = run(&confined(stage.call(&["plain", "126"]), &[&place])).unwrap();
    assert_eq!(ended.how, How::Exited(126));
}
