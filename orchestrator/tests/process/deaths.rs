//! Killing skilltune, the guardian or both: no process of the call survives, and no answer is lost.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use skilltune_orchestrator::process::{Call, How, sweep_marked};

use crate::stage::{PROGRAM, Stage, is_contained, run, serving};

const KINDS: [&str; 7] = ["plain", "grandchild", "setsid", "daemon", "fork-loop", "flood", "close-output"];

const LOST_BY_KILLING: &str = r#"Ok(Lost { why: "its guardian was killed" })"#;

/// A main program in the middle of a call.
struct Driver {
    process: Child,
    says: BufReader<ChildStdout>,
    guardian: Pid,
}

impl Driver {
    fn start(stage: &mut Stage, call: &Call) -> Self {
        Self::start_with(stage, call, &mut Command::new(PROGRAM))
    }

    fn start_with(stage: &mut Stage, call: &Call, program: &mut Command) -> Self {
        fs::write(stage.path("call.json"), serde_json::to_vec(call).unwrap()).unwrap();
        let call = stage.path("call.json");
        let mut process = program.arg("drive").arg(call).stdout(Stdio::piped()).spawn().unwrap();
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

    /// Returns how the call ended.
    fn last_words(&mut self) -> String {
        let mut said = String::new();
        self.says.read_to_string(&mut said).unwrap();
        self.process.wait().unwrap();
        said.trim_end().to_owned()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Kills it and waits until its guardian ends; until then an answer can still be recorded.
    fn kill_and_see_off(&mut self) {
        let guardian = pidfd_open(self.guardian, PidfdFlags::empty()).unwrap();
        self.kill();
        poll(&mut [PollFd::new(&guardian, PollFlags::IN)], None).unwrap();
    }
}

#[test]
fn nothing_survives_when_the_main_program_is_killed() {
    for kind in KINDS {
        let mut stage = Stage::new();
        let mut call = stage.call(&[kind, "stay"]);
        call.grace = Duration::from_millis(200);
        let mut driver = Driver::start(&mut stage, &call);
        driver.kill_and_see_off();
        // It may have answered, because it had a grace period to exit.
        let recorded = if kind == "close-output" { Some(How::OutputClosed) } else { None };
        assert_eq!(stage.record().map(|ended| ended.how), recorded, "{kind}");
        stage.assert_nothing_is_left();
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
        let mut call = stage.call(&[kind, "exit-when-orphaned"]);
        let alive = stage.tell_of_the_end(&mut call);
        let mut driver = Driver::start_with(&mut stage, &call, Command::new(PROGRAM).env("ALIVE", alive));
        driver.kill_and_see_off();
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
        assert_eq!(driver.last_words(), LOST_BY_KILLING, "{kind}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_guardian_that_hangs_is_given_up_with_all_it_ran() {
    let mut stage = Stage::new();
    let mut call = stage.call(&["setsid", "stay"]);
    (call.deadline, call.grace) = (Duration::from_secs(2), Duration::ZERO);
    let mut driver = Driver::start(&mut stage, &call);
    kill_process(serving(driver.guardian.as_raw_pid().cast_unsigned()), Signal::STOP).unwrap();
    assert_eq!(driver.last_words(), r#"Ok(Lost { why: "its guardian was stopped or hangs" })"#);
    stage.assert_nothing_is_left();
}

#[test]
fn a_call_that_kills_or_stops_its_guardian_fails_alone_and_nothing_of_it_survives() {
    let contained = is_contained();
    for (kind, why) in
        [("kill-guardian", "its guardian was killed"), ("stop-guardian", "its guardian was stopped or hangs")]
    {
        let stage = Stage::new();
        let mut call = stage.call(&[kind, "stay"]);
        (call.deadline, call.grace) = (Duration::from_millis(200), Duration::ZERO);
        let ended = run(&call).unwrap();
        // A call in a namespace cannot kill its guardian.
        assert_eq!(
            ended.how,
            if contained { How::TimedOut } else { How::Lost { why: why.to_owned() } },
            "{kind}"
        );
        assert!(ended.took_ms > 0, "{kind}: {ended:?}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_call_in_a_namespace_cannot_kill_guardian_and_main_program_to_let_a_child_survive() {
    if !is_contained() {
        return; // It can, and `doctor` reports that.
    }
    let mut stage = Stage::new();
    let call = stage.call(&["kill-both", "stay"]);
    let mut driver = Driver::start(&mut stage, &call);
    driver.kill();
    stage.assert_nothing_is_left();
}

#[test]
fn a_call_reads_nothing_of_our_environment() {
    let stage = Stage::new();
    fs::write(stage.path("call.json"), serde_json::to_vec(&stage.call(&["spy"])).unwrap()).unwrap();
    let mut driver = Command::new(PROGRAM);
    let said =
        driver.env("A_KEY", "of-ours").arg("drive").arg(stage.path("call.json")).output().unwrap().stdout;
    assert!(String::from_utf8(said).unwrap().ends_with("Ok(Exited(0))\n"));
    let seen = fs::read(stage.path("stdout")).unwrap();
    let has = |needle: &[u8]| seen.windows(needle.len()).any(|part| part == needle);
    assert!(has(b"LIFELINE="), "it reads its own");
    assert!(!has(b"A_KEY=of-ours"), "it reads ours");
}

#[test]
fn what_survives_the_killing_of_both_is_found_by_its_marker() {
    let contained = is_contained();
    for kind in ["plain", "grandchild", "setsid"] {
        let mut stage = Stage::new();
        let call = stage.deaf_call(&[kind, "stay"]);
        let mut driver = Driver::start(&mut stage, &call);
        kill_process(driver.pid(), Signal::STOP).unwrap();
        kill_process(driver.guardian, Signal::KILL).unwrap();
        driver.kill();
        // In a namespace nothing survives.
        assert!(contained || sweep_marked(&stage.marker) > 0, "{kind}");
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
