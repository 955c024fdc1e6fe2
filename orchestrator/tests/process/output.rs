//! The input of a child, and the part of its output that is kept.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use skilltune_orchestrator::process::{Canceller, How};

use crate::stage::{PROGRAM, Stage, guardian, run, serving};

#[test]
fn a_child_gets_the_named_environment_folder_and_prompt_and_nothing_else() {
    let stage = Stage::new();
    let mut call = stage.call(&["report"]);
    call.env = vec![("ONLY".to_owned(), "this".to_owned())];
    fs::write(stage.path("prompt"), "a prompt").unwrap();
    call.stdin = Some(stage.path("prompt"));
    let ended = run(&call).unwrap();
    let folder = fs::canonicalize(&call.cwd).unwrap();
    let mut expected = format!("ONLY=this\nin {}\n", folder.display()).into_bytes();
    expected.extend_from_slice(b"\xff\xfe not UTF-8\na prompt");
    assert_eq!(fs::read(&call.stdout).unwrap(), expected);
    assert_eq!(ended.stdout_bytes, expected.len() as u64);
    assert!(!call.stderr.exists(), "nothing was written to it");
}

#[test]
fn a_child_that_writes_its_file_itself_leaves_the_same() {
    let stage = Stage::new();
    let mut call = stage.call(&["report"]);
    let piped = run(&call).unwrap();
    let expected = fs::read(&call.stdout).unwrap();
    call.writes_itself = true;
    let itself = run(&call).unwrap();
    assert_eq!(fs::read(&call.stdout).unwrap(), expected);
    assert_eq!((itself.how, itself.stdout_bytes), (piped.how, piped.stdout_bytes));
    let mut silent = stage.call(&["plain", "0"]);
    silent.writes_itself = true;
    assert_eq!(run(&silent).unwrap().stdout_bytes, 0);
    assert!(!silent.stdout.exists(), "nothing was written to it");
}

#[test]
fn a_path_need_not_be_text() {
    let stage = Stage::new();
    let mut call = stage.call(&["report"]);
    call.stdout = stage.path("").join(std::ffi::OsString::from_vec(b"out-\xff".to_vec()));
    assert_eq!(run(&call).unwrap().how, How::Exited(0));
    assert!(call.stdout.exists());
}

#[test]
fn a_prompt_that_nobody_reads_keeps_nobody_waiting() {
    let stage = Stage::new();
    let mut call = stage.call(&["plain", "0"]);
    fs::write(stage.path("prompt"), vec![b'p'; 1 << 20]).unwrap();
    call.stdin = Some(stage.path("prompt"));
    assert_eq!(run(&call).unwrap().how, How::Exited(0));
}

#[test]
fn a_flood_is_counted_and_cut_and_fits_into_little_memory() {
    let stage = Stage::new();
    let mut call = stage.call(&["flood", "0"]);
    call.keep_bytes = 100_000;
    let mut guardian = guardian();
    let canceller = Canceller::new().unwrap();
    let ended = guardian.run(&call, &canceller.cancel_token()).unwrap();
    assert_eq!((&ended.how, ended.stdout_bytes, ended.stdout_truncated), (&How::Exited(0), 1 << 30, true));
    assert_eq!(fs::metadata(&call.stdout).unwrap().len(), 100_000);
    let status = fs::read_to_string(format!("/proc/{}/status", serving(guardian.pid()))).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 16 * 1024, "the guardian took {peak} kB");
    guardian.close();
}

#[test]
fn what_an_earlier_attempt_left_is_not_taken_for_an_answer() {
    let stage = Stage::new();
    let call = stage.call(&["plain", "0"]);
    for path in [&call.stdout, &call.stderr, &call.record] {
        fs::write(path, "old").unwrap();
    }
    run(&call).unwrap();
    assert!(!call.stdout.exists() && !call.stderr.exists());
    assert!(stage.record().is_some());
}

#[test]
fn a_link_in_the_place_of_an_output_is_replaced_and_not_followed() {
    let stage = Stage::new();
    let call = stage.call(&["report"]);
    fs::write(stage.path("precious"), "precious").unwrap();
    symlink(stage.path("precious"), &call.stdout).unwrap();
    run(&call).unwrap();
    assert_eq!(fs::read_to_string(stage.path("precious")).unwrap(), "precious");
    assert!(fs::symlink_metadata(&call.stdout).unwrap().is_file());
}

#[test]
fn an_output_that_the_disk_does_not_take_is_our_failure_and_ends_the_child() {
    let stage = Stage::new();
    let call = stage.call(&["flood", "stay"]);
    fs::write(stage.path("call.json"), serde_json::to_vec(&call).unwrap()).unwrap();
    let limited = ["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" drive \"$1\"", PROGRAM];
    let output = Command::new("/bin/sh").args(limited).arg(stage.path("call.json")).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("Err(Guardian { why: \"cannot write "), "{said}");
    assert_eq!(stage.record(), None);
    stage.assert_nothing_is_left();
}

#[test]
fn an_output_whose_place_was_taken_away_is_the_calls_failure_and_ends_the_child() {
    let stage = Stage::new();
    let mut call = stage.call(&["flood", "stay"]);
    call.stdout = stage.path("no-such-folder/stdout");
    let ended = run(&call).unwrap();
    assert!(matches!(&ended.how, How::Lost { why } if why.contains("no-such-folder")), "{ended:?}");
    assert_eq!(stage.record(), None);
    stage.assert_nothing_is_left();
}
