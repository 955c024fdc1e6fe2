//! The scene of a test: a folder, a call, and a lifeline that ends when the last process of the call ends.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::process::Pid;
use skilltune_orchestrator::process::{
    Call, Canceller, Containment, Ended, Guardian, ProcessError, sweep_marked,
};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_orchestrator-test-program");

pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) marker: String,
    lifeline: File,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("lifeline");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let lifeline = OpenOptions::new().read(true).custom_flags(flags).open(fifo).unwrap();
        let marker = format!("SKILLTUNE_RUN={}", folder.path().display());
        Self { folder, marker, lifeline }
    }

    /// Makes a pipe that ends when the main program ends, and adds its path to the call.
    pub(crate) fn tell_of_the_end(&self, call: &mut Call) -> PathBuf {
        let alive = self.path("alive");
        rustix::fs::mknodat(CWD, &alive, FileType::Fifo, Mode::RWXU, 0).unwrap();
        call.env.push(("ALIVE".to_owned(), alive.to_str().unwrap().to_owned()));
        alive
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a call of the test program with a long deadline.
    pub(crate) fn call(&self, words: &[&str]) -> Call {
        let (name, value) = self.marker.split_once('=').unwrap();
        let lifeline = self.path("lifeline").into_os_string().into_string().unwrap();
        Call {
            argv: std::iter::once(PROGRAM).chain(words.iter().copied()).map(OsString::from).collect(),
            env: vec![(name.to_owned(), value.to_owned()), ("LIFELINE".to_owned(), lifeline)],
            cwd: self.folder.path().to_owned(),
            confinement: None,
            hidden: None,
            stdin: None,
            stdout: self.path("stdout"),
            stderr: self.path("stderr"),
            writes_itself: false,
            keep_bytes: 1 << 20,
            deadline: Duration::from_secs(60),
            grace: Duration::from_secs(20),
            record: self.path("record"),
        }
    }

    /// Returns a call of the test program by a shell that makes it ignore TERM, INT and HUP.
    pub(crate) fn deaf_call(&self, words: &[&str]) -> Call {
        let mut call = self.call(words);
        let shell = ["/bin/sh", "-c", "trap '' TERM INT HUP; exec \"$0\" \"$@\""];
        call.argv.splice(0..0, shell.map(OsString::from));
        call
    }

    pub(crate) fn record(&self) -> Option<Ended> {
        Ended::recorded(&self.path("record")).unwrap()
    }

    /// Waits until the child reports that its trouble is made.
    pub(crate) fn await_trouble(&mut self) {
        assert_eq!(self.read_lifeline(1), b"r");
    }

    /// Fails if a process of the call stays alive. Waits a little, because a kill is not awaited by its sender.
    pub(crate) fn assert_nothing_is_left(mut self) {
        self.read_lifeline(usize::MAX);
        assert_eq!(sweep_marked(&self.marker), 0, "a survivor without the lifeline");
    }

    fn read_lifeline(&mut self, most: usize) -> Vec<u8> {
        let mut heard = Vec::new();
        let patience = Timespec::try_from(Duration::from_secs(20)).unwrap();
        while heard.len() < most {
            let mut watched = [PollFd::new(&self.lifeline, PollFlags::IN)];
            assert_eq!(poll(&mut watched, Some(&patience)).unwrap(), 1, "something lives on, or never began");
            let mut piece = [0; 64];
            let room = piece.len().min(most - heard.len());
            match self.lifeline.read(&mut piece[..room]).unwrap() {
                0 => break,
                count => heard.extend_from_slice(&piece[..count]),
            }
        }
        heard
    }
}

/// Returns the guardian process that takes the calls. In a namespace it is a child of the one that was started.
pub(crate) fn serving(guardian: u32) -> Pid {
    let children = std::fs::read_to_string(format!("/proc/{guardian}/task/{guardian}/children")).unwrap();
    let is_first = |pid: &&str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("NSpid:") && line.ends_with("\t1"))
    };
    let inner = children.split_whitespace().find(is_first).map(|pid| pid.parse().unwrap());
    Pid::from_raw(inner.unwrap_or(guardian.cast_signed())).unwrap()
}

/// Returns whether the kernel grants a namespace here.
pub(crate) fn is_contained() -> bool {
    let guardian = guardian();
    let contained = *guardian.containment() == Containment::Namespace;
    guardian.close();
    contained
}

pub(crate) fn guardian() -> Guardian {
    Guardian::start(Path::new(PROGRAM), "guardian", ("GUARDS", "a test")).unwrap()
}

/// Runs a call that is never cancelled, with a guardian of its own.
pub(crate) fn run(call: &Call) -> Result<Ended, ProcessError> {
    let mut guardian = guardian();
    let canceller = Canceller::new().unwrap();
    let ended = guardian.run(call, &canceller.cancel_token());
    guardian.close();
    ended
}
