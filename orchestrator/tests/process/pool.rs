//! Long-lived guardians: reused, abandoned, replaced and closed.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use skilltune_orchestrator::process::{Canceller, GuardianPool, How, ProcessError};

use crate::stage::{PROGRAM, Stage, guardian, serving};

fn mark() -> (String, String) {
    ("GUARDS".to_owned(), "a test".to_owned())
}

#[test]
fn calls_one_after_the_other_share_one_guardian() {
    let stage = Stage::new();
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 4);
    let canceller = Canceller::new().unwrap();
    let mut guardians = Vec::new();
    for code in ["1", "2", "3"] {
        let mut slot = pool.acquire().unwrap();
        let ended = slot.run(&stage.call(&["plain", code]), &canceller.cancel_token()).unwrap();
        assert_eq!(ended.how, How::Exited(code.parse().unwrap()));
        guardians.push(slot.guardian().unwrap());
    }
    guardians.dedup();
    assert_eq!(guardians.len(), 1);
    pool.close();
    assert!(!is_there(guardians[0]), "a closed pool leaves no zombie");
}

#[test]
fn a_call_whose_canceller_is_gone_ends_and_its_slot_serves_again() {
    let mut stage = Stage::new();
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 1);
    let call = stage.call(&["setsid", "stay"]);
    let somebody = Canceller::new().unwrap();
    let cancel_token = somebody.cancel_token();
    let gone = std::thread::spawn(move || {
        stage.await_trouble();
        drop(somebody);
        stage
    });
    let ended = pool.acquire().unwrap().run(&call, &cancel_token).unwrap();
    assert_eq!(ended.how, How::Cancelled);
    let stage = gone.join().unwrap();
    assert_eq!(stage.record(), None);
    stage.assert_nothing_is_left();
    let stage = Stage::new();
    let canceller = Canceller::new().unwrap();
    let ended = pool.acquire().unwrap().run(&stage.call(&["plain", "0"]), &canceller.cancel_token()).unwrap();
    assert_eq!(ended.how, How::Exited(0));
    pool.close();
}

#[test]
fn who_waits_for_a_slot_gets_one_or_hears_that_the_pool_is_closed() {
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 1);
    let slot = pool.acquire().unwrap();
    let (waiting, closed) = (pool.clone(), pool.clone());
    let next = std::thread::spawn(move || waiting.acquire().map(drop));
    drop(slot);
    next.join().unwrap().unwrap();
    pool.close();
    assert!(matches!(closed.acquire(), Err(ProcessError::Closed)));
}

#[test]
fn a_guardian_that_is_killed_between_two_calls_costs_neither() {
    let stage = Stage::new();
    let pool = GuardianPool::new(PROGRAM, "guardian", mark(), 1);
    let canceller = Canceller::new().unwrap();
    let mut slot = pool.acquire().unwrap();
    slot.run(&stage.call(&["plain", "0"]), &canceller.cancel_token()).unwrap();
    let first = slot.guardian().unwrap();
    let served = pidfd_open(serving(first), PidfdFlags::empty()).unwrap();
    kill_process(Pid::from_raw(first.cast_signed()).unwrap(), Signal::KILL).unwrap();
    poll(&mut [PollFd::new(&served, PollFlags::IN)], None).unwrap();
    let ended = slot.run(&stage.call(&["plain", "0"]), &canceller.cancel_token()).unwrap();
    assert_eq!(ended.how, How::Exited(0));
    assert_ne!(slot.guardian(), Some(first));
    drop(slot);
    pool.close();
}

#[test]
fn a_guardian_that_cannot_be_started_is_named() {
    let stage = Stage::new();
    let pool = GuardianPool::new("/no/such/program", "guardian", mark(), 1);
    let canceller = Canceller::new().unwrap();
    let mut slot = pool.acquire().unwrap();
    let error = slot.run(&stage.call(&["plain", "0"]), &canceller.cancel_token()).unwrap_err();
    assert_eq!(error.to_string(), "cannot start a guardian from /no/such/program");
}

#[test]
fn a_guardian_leads_a_session_of_its_own() {
    let stage = Stage::new();
    let mut guardian = guardian();
    let canceller = Canceller::new().unwrap();
    guardian.run(&stage.call(&["plain", "0"]), &canceller.cancel_token()).unwrap();
    let pid = Pid::from_raw(guardian.pid().cast_signed()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "a leader is in its own session, wherever that began")]
    let session = rustix::process::getsid(Some(pid)).unwrap();
    assert_eq!(session, pid);
    guardian.close();
}

#[test]
fn a_cancel_that_comes_too_late_does_not_hit_the_next_call() {
    let stage = Stage::new();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    // A child of a shell: the sweep of another test stops each unknown guardian that is a child of ours.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "\"$0\" guardian plain; exit $?", PROGRAM]).stdin(OwnedFd::from(theirs));
    let mut guardian = command.spawn().unwrap();
    drop(command);
    let mut replies = BufReader::new(ours.try_clone().unwrap()).lines().map(Result::unwrap);
    assert_eq!(replies.next().unwrap(), r#""ready""#);
    let run = serde_json::json!({ "run": stage.call(&["plain", "5"]) });
    ours.write_all(format!("{{\"cancel\":\"now\"}}\n{run}\n").as_bytes()).unwrap();
    let reply = replies.next().unwrap();
    assert!(reply.starts_with(r#"{"ended":{"how":{"exited":5}"#), "{reply}");
    drop((ours, replies));
    assert!(guardian.wait().unwrap().success());
}

fn is_there(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

/// The sweep after a killed guardian inspects all our children and stops the unknown ones.
#[test]
fn guardians_that_start_while_another_is_swept_after_serve_their_calls() {
    const TIMES: usize = 40;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let stage = Stage::new();
            for _ in 0..TIMES {
                let mut lost = guardian();
                kill_process(Pid::from_raw(lost.pid().cast_signed()).unwrap(), Signal::KILL).unwrap();
                // The call may finish before the guardian dies.
                let _ = lost
                    .run(&stage.call(&["plain", "0"]), &Canceller::new().unwrap().cancel_token())
                    .unwrap();
                lost.close();
            }
        });
        let stage = Stage::new();
        for _ in 0..TIMES {
            let mut whole = guardian();
            let canceller = Canceller::new().unwrap();
            let ended = whole.run(&stage.call(&["plain", "7"]), &canceller.cancel_token()).unwrap();
            assert_eq!(ended.how, How::Exited(7));
            whole.close();
        }
    });
}
