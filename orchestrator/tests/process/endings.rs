//! The ways in which calls end, the time limits, and which calls are recorded.

use std::io::Write;
use std::time::{Duration, Instant};

use skilltune_orchestrator::process::{Cancel, Canceller, Ended, How};

use crate::stage::{Stage, guardian, run};

const SHORT: Duration = Duration::from_millis(200);

#[test]
fn an_exit_code_is_told_and_recorded() {
    let stage = Stage::new();
    let ended = run(&stage.call(&["plain", "7"])).unwrap();
    assert_eq!((&ended.how, ended.swept), (&How::Exited(7), 0));
    assert_eq!(stage.record(), Some(ended));
    stage.assert_nothing_is_left();
}

#[test]
fn a_crash_is_told_as_its_signal_and_is_no_answer() {
    let stage = Stage::new();
    let ended = run(&stage.call(&["plain", "crash"])).unwrap();
    assert_eq!(ended.how, How::Signalled(9));
    assert_eq!(stage.record(), None);
}

#[test]
fn what_cannot_be_started_is_an_outcome_that_says_why() {
    let stage = Stage::new();
    let mut no_program = stage.call(&[]);
    no_program.argv = vec![stage.path("no-such-program").into()];
    let mut no_folder = stage.call(&["plain", "0"]);
    no_folder.cwd = stage.path("no-such-folder");
    let mut no_prompt = stage.call(&["plain", "0"]);
    no_prompt.stdin = Some(stage.path("no-such-prompt"));
    let mut nothing = stage.call(&[]);
    nothing.argv.clear();
    for (call, part) in [
        (no_program, "no-such-program"),
        (no_folder, "No such file"),
        (no_prompt, "no-such-prompt"),
        (nothing, "no program"),
    ] {
        let ended = run(&call).unwrap();
        assert!(matches!(&ended.how, How::NotStarted { why } if why.contains(part)), "{ended:?}");
        assert_eq!(stage.record(), Some(ended));
    }
}

#[test]
fn a_deadline_is_kept_whatever_the_child_does() {
    for kind in ["plain", "grandchild", "setsid", "daemon", "fork-loop", "close-output"] {
        let stage = Stage::new();
        let mut call = stage.call(&[kind, "stay"]);
        call.deadline = SHORT;
        let ended = run(&call).unwrap();
        assert_eq!(ended.how, How::TimedOut, "{kind}");
        assert_eq!(stage.record(), Some(ended), "{kind}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_fork_storm_ends_with_its_deadline() {
    let stage = Stage::new();
    let mut call = stage.deaf_call(&["storm", "stay"]);
    (call.deadline, call.grace) = (SHORT, SHORT);
    let began = Instant::now();
    let ended = run(&call).unwrap();
    let took = began.elapsed();
    assert_eq!(ended.how, How::TimedOut);
    let _ =
        writeln!(std::io::stderr(), "storm: {took:?} with a deadline of {SHORT:?}, {} swept", ended.swept);
    stage.assert_nothing_is_left();
}

#[test]
fn a_child_deaf_to_being_asked_is_killed_after_its_grace() {
    for kind in ["plain", "grandchild", "setsid", "daemon"] {
        let stage = Stage::new();
        let mut call = stage.deaf_call(&[kind, "stay"]);
        (call.deadline, call.grace) = (SHORT * 2, SHORT);
        let began = Instant::now();
        let ended = run(&call).unwrap();
        assert_eq!(ended.how, How::TimedOut, "{kind}");
        // A slow machine only takes longer.
        assert!(began.elapsed() >= SHORT * 3, "{kind}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_cancelled_call_ends_soon_and_is_not_recorded() {
    for (kind, how) in [("plain", Cancel::Gently), ("setsid", Cancel::Gently), ("daemon", Cancel::Now)] {
        let (stage, ended) = cancelled(kind, how);
        assert_eq!(ended.how, How::Cancelled, "{kind}");
        assert_eq!(stage.record(), None, "{kind}");
        stage.assert_nothing_is_left();
    }
}

/// Cancels the call of a program that keeps running, once it has made its trouble.
fn cancelled(kind: &str, how: Cancel) -> (Stage, Ended) {
    let mut stage = Stage::new();
    let call = stage.call(&[kind, "stay"]);
    let mut cancel = Canceller::new().unwrap();
    let cancel_token = cancel.cancel_token();
    let mut guardian = guardian();
    let canceller = std::thread::spawn(move || {
        stage.await_trouble();
        cancel.say(how);
        (stage, cancel)
    });
    let ended = guardian.run(&call, &cancel_token).unwrap();
    guardian.close();
    (canceller.join().unwrap().0, ended)
}

#[test]
fn a_cancelled_call_that_has_closed_its_output_may_have_answered_and_is_recorded() {
    for how in [Cancel::Gently, Cancel::Now] {
        let (stage, ended) = cancelled("close-output", how);
        assert_eq!(ended.how, How::OutputClosed, "{how:?}");
        assert_eq!(stage.record(), Some(ended), "{how:?}");
        stage.assert_nothing_is_left();
    }
}

/// Cancels the call of a program that has written its answer and then exits by itself with this code.
fn leaving(code: &str) -> (Stage, Ended) {
    let mut stage = Stage::new();
    let gate = stage.path("gate");
    rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let mut call = stage.call(&[]);
    // The exit takes a while.
    let script = "printf whole; printf r > \"$LIFELINE\"; read _ < gate; for _ in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; exit $0";
    call.argv = ["/bin/sh", "-c", script, code].map(Into::into).to_vec();
    let mut cancel = Canceller::new().unwrap();
    let cancel_token = cancel.cancel_token();
    let mut guardian = guardian();
    let canceller = std::thread::spawn(move || {
        stage.await_trouble();
        cancel.say(Cancel::Gently);
        std::fs::write(gate, "go\n").unwrap();
        (stage, cancel)
    });
    let ended = guardian.run(&call, &cancel_token).unwrap();
    guardian.close();
    (canceller.join().unwrap().0, ended)
}

#[test]
fn a_child_that_has_just_answered_may_leave_by_itself_when_its_call_is_cancelled() {
    let (stage, ended) = leaving("0");
    assert_eq!(
        (&ended.how, std::fs::read_to_string(stage.path("stdout")).unwrap()),
        (&How::Exited(0), "whole".to_owned())
    );
    assert_eq!(stage.record(), Some(ended));
    stage.assert_nothing_is_left();
}

#[test]
fn a_child_that_fails_when_its_call_is_cancelled_has_not_failed_by_itself() {
    let (stage, ended) = leaving("143");
    assert_eq!((ended.how, stage.record()), (How::Cancelled, None));
    stage.assert_nothing_is_left();
}

#[test]
fn a_second_word_cuts_the_grace_of_the_first_short() {
    let mut stage = Stage::new();
    let mut call = stage.deaf_call(&["plain", "stay"]);
    // Without the second cancel this test would not end.
    call.grace = Duration::from_secs(3_600);
    let mut cancel = Canceller::new().unwrap();
    let cancel_token = cancel.cancel_token();
    let mut guardian = guardian();
    let canceller = std::thread::spawn(move || {
        stage.await_trouble();
        cancel.say(Cancel::Gently);
        cancel.say(Cancel::Now);
        stage
    });
    let ended = guardian.run(&call, &cancel_token).unwrap();
    assert_eq!(ended.how, How::Cancelled);
    guardian.close();
    canceller.join().unwrap().assert_nothing_is_left();
}

#[test]
fn a_call_cancelled_before_it_began_never_starts() {
    let stage = Stage::new();
    let mut cancel = Canceller::new().unwrap();
    cancel.say(Cancel::Gently);
    let ended = guardian().run(&stage.call(&["plain", "0"]), &cancel.cancel_token()).unwrap();
    assert_eq!((ended.how, stage.record()), (How::Cancelled, None));
}
