//! Guardians that live long: reused, given up, replaced and closed.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use skilltune_orchestrator::process::{Cancel, GuardianPool, How, ProcessError};
use tokio::sync::watch;

use crate::stage::{PROGRAM, Stage, guardian};

fn mark() -> (String, String) {
    ("GUARDS".to_owned(), "a test".to_owned())
}

#[tokio::test]
async fn calls_one_after_the_other_share_one_guardian() {
    let stage = Stage::new();
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 4);
    let (_nobody, mut cancel) = watch::channel(None::<Cancel>);
    let mut guardians = Vec::new();
    for code in ["1", "2", "3"] {
        let mut slot = pool.acquire().await.unwrap();
        let ended = slot.run(&stage.call(&["plain", code]), &mut cancel).await.unwrap();
        assert_eq!(ended.how, How::Exited(code.parse().unwrap()));
        guardians.push(slot.guardian().unwrap());
    }
    guardians.dedup();
    assert_eq!(guardians.len(), 1);
    pool.close().await;
    assert!(!is_there(guardians[0]), "a closed pool leaves no zombie");
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_ends_and_its_slot_serves_again() {
    let mut stage = Stage::new();
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 1);
    let (_nobody, mut cancel) = watch::channel(None::<Cancel>);
    let call = stage.call(&["setsid", "stay"]);
    let mut slot = pool.acquire().await.unwrap();
    let up = tokio::task::spawn_blocking(move || {
        stage.await_trouble();
        stage
    });
    let stage = tokio::select! {
        ended = slot.run(&call, &mut cancel) => panic!("it was to stay: {ended:?}"),
        stage = up => stage.unwrap(),
    };
    drop(slot);
    let record = stage.path("record");
    stage.assert_nothing_is_left();
    assert!(!record.exists());
    let stage = Stage::new();
    let mut slot = pool.acquire().await.unwrap();
    let ended = slot.run(&stage.call(&["plain", "0"]), &mut cancel).await.unwrap();
    assert_eq!(ended.how, How::Exited(0));
    drop(slot);
    pool.close().await;
}

#[tokio::test]
async fn a_lost_guardian_is_told_once_and_then_replaced() {
    let stage = Stage::new();
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 1);
    let (_nobody, mut cancel) = watch::channel(None::<Cancel>);
    let mut slot = pool.acquire().await.unwrap();
    slot.run(&stage.call(&["plain", "0"]), &mut cancel).await.unwrap();
    let pid = rustix::process::Pid::from_raw(slot.guardian().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let lost = slot.run(&stage.call(&["plain", "0"]), &mut cancel).await;
    assert!(matches!(lost, Err(ProcessError::GuardianDied)), "{lost:?}");
    let ended = slot.run(&stage.call(&["plain", "0"]), &mut cancel).await.unwrap();
    assert_eq!(ended.how, How::Exited(0));
    drop(slot);
    pool.close().await;
}

#[tokio::test]
async fn a_guardian_that_cannot_be_started_is_named() {
    let stage = Stage::new();
    let pool = GuardianPool::new("/no/such/program", "guardian", mark(), 1);
    let (_nobody, mut cancel) = watch::channel(None::<Cancel>);
    let mut slot = pool.acquire().await.unwrap();
    let error = slot.run(&stage.call(&["plain", "0"]), &mut cancel).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot start a guardian from /no/such/program");
}

#[tokio::test]
async fn a_guardian_leads_a_session_of_its_own() {
    let stage = Stage::new();
    let mut guardian = guardian();
    let (_nobody, mut cancel) = watch::channel(None::<Cancel>);
    guardian.run(&stage.call(&["plain", "0"]), &mut cancel).await.unwrap();
    let pid = rustix::process::Pid::from_raw(guardian.pid().cast_signed()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a leader is in its own session, wherever that began")]
    let session = rustix::process::getsid(Some(pid)).unwrap();
    assert_eq!(session, pid);
    guardian.close().await;
}

#[test]
fn a_cancel_that_comes_too_late_does_not_hit_the_next_call() {
    let stage = Stage::new();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut command = Command::new(PROGRAM);
    let mut guardian = command.arg("guardian").stdin(OwnedFd::from(theirs)).spawn().unwrap();
    drop(command);
    let run = serde_json::json!({ "run": stage.call(&["plain", "5"]) });
    ours.write_all(format!("{{\"cancel\":\"now\"}}\n{run}\n").as_bytes()).unwrap();
    let mut reply = String::new();
    BufReader::new(&ours).read_line(&mut reply).unwrap();
    assert!(reply.starts_with(r#"{"ended":{"how":{"exited":5}"#), "{reply}");
    drop(ours);
    assert!(guardian.wait().unwrap().success());
}

fn is_there(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}
