//! Somebody kills us, the guardian, or both: nothing of the call lives on, and an answer is not lost.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use skilltune_orchestrator::process::{Call, How, sweep_marked};

use crate::stage::{PROGRAM, Stage};

const KINDS: [&str; 7] = ["plain", "grandchild", "setsid", "daemon", "fork-loop", "flood", "close-output"];

/// A main program in the middle of a call.
struct Driver {
    process: Child,
    says: BufReader<ChildStdout>,
    guardian: Pid,
}

impl Driver {
    fn start(stage: &mut Stage, call: &Call) -> Self {
        fs::write(stage.path("call.json"), serde_json::to_vec(call).unwrap()).unwrap();
        let call = stage.path("call.json");
        let mut process =
            Command::new(PROGRAM).arg("drive").arg(call).stdout(Stdio::piped()).spawn().unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let mut guardian = String::new();
        says.read_line(&mut guardian).unwrap();
        let guardian = Pid::from_raw(guardian.trim().parse().unwrap()).unwrap();
        stage.await_trouble();
        Self { process, says, guardian }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn nothing_survives_when_the_main_program_is_killed() {
    for kind in KINDS {
        let mut stage = Stage::new();
        let call = stage.call(&[kind, "stay"]);
        Driver::start(&mut stage, &call).kill();
        let record = stage.path("record");
        stage.assert_nothing_is_left();
        assert!(!record.exists(), "{kind}");
    }
}

#[test]
fn not_even_the_deaf_survive_when_the_main_program_is_killed() {
    for kind in ["plain", "setsid", "daemon"] {
        let mut stage = Stage::new();
        let call = stage.deaf_call(&[kind, "stay"]);
        Driver::start(&mut stage, &call).kill();
        stage.assert_nothing_is_left();
    }
}

#[test]
fn an_answer_that_comes_just_when_the_main_program_is_killed_is_recorded() {
    for kind in ["plain", "close-output"] {
        let mut stage = Stage::new();
        let call = stage.call(&[kind, "exit-when-orphaned"]);
        let mut driver = Driver::start(&mut stage, &call);
        let guardian =
            rustix::process::pidfd_open(driver.guardian, rustix::process::PidfdFlags::empty()).unwrap();
        driver.kill();
        rustix::event::poll(&mut [rustix::event::PollFd::new(&guardian, rustix::event::PollFlags::IN)], None)
            .unwrap();
        assert_eq!(stage.record().map(|ended| ended.how), Some(How::Exited(0)), "{kind}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn nothing_survives_when_the_guardian_is_killed() {
    for kind in KINDS {
        let mut stage = Stage::new();
        let call = stage.call(&[kind, "stay"]);
        let mut driver = Driver::start(&mut stage, &call);
        kill_process(driver.guardian, Signal::KILL).unwrap();
        let mut said = String::new();
        driver.says.read_to_string(&mut said).unwrap();
        assert_eq!(said, "Err(GuardianDied)\n", "{kind}");
        driver.process.wait().unwrap();
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_guardian_that_hangs_is_given_up_with_all_it_ran() {
    let mut stage = Stage::new();
    let mut call = stage.call(&["setsid", "stay"]);
    (call.deadline, call.grace) = (Duration::from_secs(2), Duration::ZERO);
    let mut driver = Driver::start(&mut stage, &call);
    kill_process(driver.guardian, Signal::STOP).unwrap();
    let mut said = String::new();
    driver.says.read_to_string(&mut said).unwrap();
    assert_eq!(said, "Err(GuardianDied)\n");
    driver.process.wait().unwrap();
    stage.assert_nothing_is_left();
}

#[test]
fn what_survives_the_killing_of_both_is_found_by_its_marker() {
    for kind in ["plain", "grandchild", "setsid"] {
        let mut stage = Stage::new();
        let call = stage.deaf_call(&[kind, "stay"]);
        let mut driver = Driver::start(&mut stage, &call);
        kill_process(driver.pid(), Signal::STOP).unwrap();
        kill_process(driver.guardian, Signal::KILL).unwrap();
        driver.kill();
        assert!(sweep_marked(&stage.marker) > 0, "{kind}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_marker_that_is_only_the_beginning_of_another_kills_nobody() {
    let mut stage = Stage::new();
    let call = stage.call(&["plain", "stay"]);
    let mut driver = Driver::start(&mut stage, &call);
    let beginning = &stage.marker[..stage.marker.len() - 1];
    assert_eq!(sweep_marked(beginning), 0);
    driver.kill();
    stage.assert_nothing_is_left();
}
