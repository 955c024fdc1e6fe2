//! Runs our binary while the test watches. Tests wait for its output and for the log of its agents; they never sleep.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use serde_json::{Value, json};

use crate::scene::{Ran, SKILLTUNE, Scene};

/// Far longer than anything takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Background<'a> {
    scene: &'a Scene,
    child: Child,
    exit: OwnedFd,
    changes: OwnedFd,
}

impl<'a> Background<'a> {
    pub(crate) fn start(scene: &'a Scene, arguments: &[&str]) -> Self {
        Self::spawn(scene, scene.command(arguments))
    }

    /// Starts the command. Its output goes to files beside the log, so that one watch covers all.
    pub(crate) fn spawn(scene: &'a Scene, mut command: Command) -> Self {
        let changes = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        add_watch(&changes, scene.path(""), WatchFlags::MODIFY | WatchFlags::CREATE).unwrap();
        let file = |name| File::create(scene.path(name)).unwrap();
        let child = command.stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap();
        let exit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
        Self { scene, child, exit, changes }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the files beside the log are as wanted. Returns false if the program ended before.
    pub(crate) fn until(&self, wanted: impl Fn(&Scene) -> bool) -> bool {
        let limit = Instant::now() + PATIENCE;
        while !wanted(self.scene) {
            let left = Timespec::try_from(limit.saturating_duration_since(Instant::now())).unwrap();
            let mut watched =
                [PollFd::new(&self.exit, PollFlags::IN), PollFd::new(&self.changes, PollFlags::IN)];
            assert!(poll(&mut watched, Some(&left)).unwrap() > 0, "waited in vain: {}", self.said("stderr"));
            if !watched[0].revents().is_empty() {
                return false;
            }
            while rustix::io::read(&self.changes, &mut [0; 4096]).is_ok() {}
        }
        true
    }

    /// Waits until this many calls have begun.
    pub(crate) fn until_begun(&self, calls: usize) {
        let begun = |scene: &Scene| scene.calls().values().map(|(begun, _)| begun).sum::<usize>();
        assert!(self.until(|scene| begun(scene) >= calls), "it ended before: {}", self.said("stderr"));
    }

    pub(crate) fn until_said(&self, words: &str) {
        assert!(self.until(|scene| said(scene, "stderr").contains(words)), "{}", self.said("stderr"));
    }

    /// Returns whether the program ends within this time.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        let time = Timespec::try_from(time).unwrap();
        poll(&mut [PollFd::new(&self.exit, PollFlags::IN)], Some(&time)).unwrap() > 0
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Asks the program to finish, then opens the gate for the agents that it waits for.
    pub(crate) fn interrupt(self, gate: Gate) -> Ran {
        self.signal(Signal::INT);
        self.until_said("finishing current calls");
        gate.open();
        self.wait()
    }

    /// Stops the program, and checks that all its threads are stopped.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
        let stopped = waitpid(Some(Pid::from_child(&self.child)), WaitOptions::UNTRACED).unwrap();
        assert!(stopped.is_some_and(|(_, status)| status.stopped()));
    }

    /// Returns the guardians that work for the program.
    pub(crate) fn guardians(&self) -> Vec<Pid> {
        let of_ours = |pid: &u32| {
            let exe = fs::read_link(format!("/proc/{pid}/exe"));
            *pid != self.pid() && exe.is_ok_and(|exe| exe == PathBuf::from(SKILLTUNE).canonicalize().unwrap())
        };
        let pids = self.scene.alive().into_iter().filter(of_ours);
        pids.filter_map(|pid| Pid::from_raw(pid.cast_signed())).collect()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills the program and waits for its guardians to end: until then they may still record an answer.
    pub(crate) fn kill_and_see_off(self) {
        let guardians: Vec<OwnedFd> = self.guardians().into_iter().filter_map(handle).collect();
        self.kill();
        for guardian in guardians {
            let limit = Timespec::try_from(PATIENCE).unwrap();
            let ended = poll(&mut [PollFd::new(&guardian, PollFlags::IN)], Some(&limit)).unwrap();
            assert!(ended > 0, "a guardian does not end");
        }
    }

    pub(crate) fn wait(mut self) -> Ran {
        assert!(self.ends_within(PATIENCE), "it does not end: {}", self.said("stderr"));
        let status = self.child.wait().unwrap();
        Ran { code: status.code(), stdout: self.said("stdout"), stderr: self.said("stderr") }
    }

    fn said(&self, stream: &str) -> String {
        said(self.scene, stream)
    }
}

/// A failed test leaves no process behind.
impl Drop for Background<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns none if the process is already gone.
fn handle(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn said(scene: &Scene, stream: &str) -> String {
    fs::read_to_string(scene.path(stream)).unwrap_or_default()
}

/// A pipe that agents wait at until it is opened.
pub(crate) struct Gate(PathBuf);

impl Gate {
    /// Makes agents wait before they play this part; otherwise they follow the script.
    pub(crate) fn before(part: &str, scene: &Scene, mut script: Value) -> Self {
        script["gates"] = json!({ part: scene.path("gate") });
        scene.write_script(&script);
        Self::at(scene.path("gate"))
    }

    /// Makes agents that have answered and closed their output wait before they exit.
    pub(crate) fn before_exit(scene: &Scene) -> Self {
        Self::at(scene.path("linger"))
    }

    pub(crate) fn at(path: PathBuf) -> Self {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        Self(path)
    }

    /// Lets all waiting and all later agents through.
    pub(crate) fn open(self) {
        let open = File::options().read(true).write(true).open(&self.0).unwrap();
        fs::remove_file(&self.0).unwrap();
        drop(open);
    }

    /// Lets later agents through, but not the waiting ones.
    pub(crate) fn remove(self) {
        fs::remove_file(&self.0).unwrap();
    }
}
