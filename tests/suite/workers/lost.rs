//! Workers and coordinators that are killed while an agent of a worker is at work.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::*;

use crate::background::{Background, Gate};

/// Far longer than anything takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Passes on what a worker says, and once stands still in the middle of a large payload: a slow connection.
const SLOW: &str = r"
import os, subprocess, sys, time
once, command = sys.argv[1], sys.argv[2:]
worker = subprocess.Popen(command, stdout=subprocess.PIPE)
passed = 0
while piece := os.read(worker.stdout.fileno(), 1000):
    os.write(1, piece)
    passed += len(piece)
    if passed > 50_000 and not os.path.exists(once):
        open(once, 'w').close()
        time.sleep(10)
";

/// All processes of a run besides its coordinator: workers, their guardians and agents.
struct Others {
    pids: Vec<Pid>,
    exits: Vec<OwnedFd>,
}

impl Others {
    fn of(scene: &Scene, run: &Background<'_>) -> Self {
        let others = scene.alive().into_iter().filter(|pid| *pid != run.pid());
        let pids: Vec<Pid> = others.filter_map(|pid| Pid::from_raw(pid.cast_signed())).collect();
        let exits = pids.iter().filter_map(|pid| pidfd_open(*pid, PidfdFlags::empty()).ok()).collect();
        Self { pids, exits }
    }

    /// Returns the programs that make a call.
    fn steps(&self) -> Vec<Pid> {
        let makes_call = |pid: &&Pid| {
            let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == b"--take")
        };
        self.pids.iter().filter(makes_call).copied().collect()
    }

    /// Waits until all have ended.
    fn see_off(self) {
        let limit = Timespec::try_from(PATIENCE).unwrap();
        for exit in self.exits {
            let ended = poll(&mut [PollFd::new(&exit, PollFlags::IN)], Some(&limit)).unwrap();
            assert!(ended > 0, "a process of a worker does not end");
        }
    }
}

/// Returns the ends of calls that had been lost.
fn lost(scene: &Scene) -> Vec<Value> {
    calls(scene).into_iter().filter(|call| call["machine"]["lost"].is_u64()).collect()
}

/// Returns how many calls have begun more than once.
fn begun_again(scene: &Scene) -> usize {
    scene.calls().values().filter(|(begun, _)| *begun > 1).count()
}

#[test]
fn a_call_whose_worker_is_killed_is_made_by_another_one_and_its_agent_ends() {
    let scene = scene(&rising(), &["attic", "den"]);
    let gate = Gate::before("executor", &scene, rising());
    let run = Background::start(&scene, &[&TUNE[..], &["attic,den"]].concat());
    run.until_begun(1);
    let others = Others::of(&scene, &run);
    let steps = others.steps();
    assert_eq!(steps.len(), 1, "one call is due");
    assert!(others.pids.len() > 2, "it has a guardian and an agent");
    kill_process(steps[0], Signal::KILL).unwrap();
    // The gate is still closed: nothing ended by itself.
    others.see_off();
    gate.open();
    let ran = run.wait();
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    let lost = lost(&scene);
    assert_eq!(lost.len(), 1, "{lost:?}");
    let machine = &lost[0]["machine"];
    assert_eq!((&machine["worker"], &machine["lost"]), (&json!("den"), &json!(1)), "{machine}");
    let why = machine["why"].as_str().unwrap();
    assert!(why.starts_with("attic: its command ended") && why.contains('9'), "{why}");
    let calls = calls(&scene);
    let keys: BTreeSet<&str> = calls.iter().map(|call| call["call"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), calls.len(), "each call is recorded once");
    assert_eq!((begun_again(&scene), repeated(&scene)), (1, 0));
    assert_tidy(&scene, "a killed worker");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("Calls were lost with their worker 1 time;"), "{report}");
}

#[test]
fn workers_end_with_their_coordinator_and_the_resumed_run_goes_on_with_them() {
    let scene = scene(&rising(), &["attic", "den"]);
    let gate = Gate::before("executor", &scene, rising());
    let more = SEVEN_MORE;
    let run = Background::start(&scene, &[&TUNE[..], &["attic,den"], &more].concat());
    run.until_begun(2);
    let others = Others::of(&scene, &run);
    assert_eq!(others.steps().len(), 2);
    run.kill();
    // The gate is still closed: only the end of stdin can end them.
    others.see_off();
    assert_eq!(scene.alive(), [0; 0]);
    gate.remove();
    // No flag and no setting names the workers: the plan does.
    let ran = scene.run(&RESUME);
    assert_eq!(End::of(&scene, &ran), End::here(&more), "{ran:?}");
    assert_eq!(makers(&scene), BTreeSet::from(["attic".to_owned(), "den".to_owned()]));
    assert_eq!((lost(&scene), repeated(&scene), begun_again(&scene)), (Vec::new(), 0, 2));
    assert_tidy(&scene, "a killed coordinator");
    for worker in ["attic", "den"] {
        assert_cleared(&scene, worker);
    }
}

#[test]
fn a_worker_that_is_asked_to_stop_with_its_run_leaves_no_agent() {
    let scene = scene(&rising(), &["den"]);
    let gate = Gate::before("executor", &scene, rising());
    let run = Background::start(&scene, &[&TUNE[..], &["den"]].concat());
    run.until_begun(1);
    let others = Others::of(&scene, &run);
    run.signal(Signal::INT);
    run.until_said("finishing current calls");
    run.signal(Signal::INT);
    let left = run.wait();
    others.see_off();
    assert_eq!(left.code, Some(130), "{left:?}");
    assert_eq!((scene.alive(), calls(&scene)), (Vec::new(), Vec::new()));
    gate.remove();
    let ran = scene.run(&RESUME);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert_tidy(&scene, "a run that was stopped at once");
}

/// Both calls of a pair belong to one worker, but not to one that is gone.
#[test]
fn a_worker_that_is_gone_for_good_holds_up_no_call_and_no_pair() {
    let scene = scene(&rising(), &["attic", "den"]);
    let gone = format!("if {}; then\necho no route to attic >&2\nexit 255\nfi", has_begun(&scene));
    settle(&scene, &[("attic", shell(&gone, worker(&scene, "attic"))), ("den", worker(&scene, "den"))]);
    let ran = tune(&scene, "attic,den", &[]);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert_eq!((makers(&scene), failures(&scene)), (BTreeSet::from(["den".to_owned()]), Vec::new()));
    let lost = lost(&scene);
    assert!(!lost.is_empty(), "the first call is the first worker's");
    for call in &lost {
        let why = call["machine"]["why"].as_str().unwrap();
        assert!(why.starts_with("attic: its command ended: no route to attic"), "{call}");
    }
}

/// A worker that hears nothing for 8 seconds ends, but not while the coordinator is busy with its reply.
#[test]
fn a_reply_on_a_slow_connection_arrives() {
    let scene = scene(&rising(), &["attic"]);
    let (slow, once) = (scene.path("slow.py"), scene.path("once"));
    fs::write(&slow, SLOW).unwrap();
    if scene.command_of("python3", &["--version"], &[]).output().is_err() {
        eprintln!("SKIPPED: python3 is not installed here");
        return;
    }
    let large = "[ $1 = executor ] && head -c 500000 /dev/zero > large; exec \"$0\" \"$@\"";
    describe(&scene, "attic", &["/bin/sh", "-c", large, FAKE_AGENT], "");
    let launcher = ["python3", slow.to_str().unwrap(), once.to_str().unwrap()].map(str::to_owned);
    settle(&scene, &[("attic", launcher.into_iter().chain(worker(&scene, "attic")).collect())]);
    let ran = tune(&scene, "attic", &[]);
    assert_eq!((ran.code, once.exists()), (Some(0), true), "{ran:?}");
    assert!(calls(&scene).iter().all(|call| call["machine"]["lost"].is_null()), "{:?}", calls(&scene));
}
