//! The coordinator's side of one worker: its command, and the frames that go through its stdin and stdout.
//!
//! The command belongs to the user and may leave something behind on purpose, such as a master connection of ssh. So no
//! guardian ends it: it ends when its stdin ends.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process_group};

use super::frame::{Frame, Hello, shown};
use super::inbox::{Heard, Inbox, wait};
use super::sender::Sender;
use super::{BEAT, COORDINATORS_PATIENCE};
use crate::process::{CancelToken, ends_by};

/// A command may take this long to clean up after a call, such as to delete a pod.
const CLEANING: Duration = Duration::from_secs(30);
/// How long a command that failed may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// The end of what a command prints as errors is kept.
const KEPT: usize = 4 << 10;
const SHOWN: usize = 200;

/// The command that starts a worker.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The complete environment.
    pub env: Vec<(String, String)>,
}

/// A worker that was started.
#[derive(Debug)]
pub struct Link {
    /// None for the reply in a file.
    child: Option<Child>,
    /// Closed to end the worker.
    to: Option<Sender<Patient>>,
    from: Inbox<File>,
    errors: Option<ChildStderr>,
    /// The end of what the command printed as errors.
    said: Vec<u8>,
    heard_at: Instant,
    /// When its call must have ended.
    until: Option<Instant>,
    is_over: bool,
}

/// Why a worker gave no reply.
#[derive(Debug)]
pub enum Lost {
    /// We ended it.
    Cancelled,
    /// It could not be started, it ended, or it fell silent.
    Gone(String),
    /// It did not keep to the protocol.
    Broken(String),
}

impl Lost {
    pub fn unexpected(frame: &Frame) -> Self {
        let text = serde_json::to_string(frame).unwrap_or_default();
        Self::Broken(format!("it sent a frame at the wrong time: {}", shown(&text)))
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("it was ended"),
            Self::Gone(why) | Self::Broken(why) => f.write_str(why),
        }
    }
}

impl Link {
    pub fn start(launch: &Launch) -> Result<Self, Lost> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .env_clear()
            .envs(launch.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let cannot =
            |error: io::Error| Lost::Gone(format!("cannot start {}: {error}", launch.program.display()));
        let mut child = command.spawn().map_err(cannot)?;
        let (Some(to), Some(from), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("all three are pipes");
        };
        let link = Self {
            child: Some(child),
            to: Some(Sender::of(Patient::of(to).map_err(cannot)?)),
            from: Inbox::of(File::from(OwnedFd::from(from))),
            errors: Some(errors),
            said: Vec::new(),
            heard_at: Instant::now(),
            until: None,
            is_over: false,
        };
        Ok(link)
    }

    /// Opens the reply that a worker wrote into a file.
    pub fn of_file(file: File) -> Self {
        let (from, said, heard_at) = (Inbox::of(file), Vec::new(), Instant::now());
        Self { child: None, to: None, from, errors: None, said, heard_at, until: None, is_over: true }
    }

    /// Returns whether it is a file, which asks for nothing.
    pub fn is_file(&self) -> bool {
        self.child.is_none()
    }

    /// Waits for the worker's first line. A scheduler may take hours to place it, so there is a limit only if the caller
    /// sets one.
    pub fn hello(&mut self, within: Option<Duration>, cancel_token: &CancelToken) -> Result<Hello, Lost> {
        let (mut noise, since) = (0, Instant::now());
        loop {
            if cancel_token.heard().is_some() {
                return Err(Lost::Cancelled);
            }
            let most = within.map_or(BEAT, |within| within.saturating_sub(since.elapsed()).min(BEAT));
            if most.is_zero() {
                return Err(self.late(since.elapsed()));
            }
            let others = others(cancel_token, self.errors.as_ref());
            let heard = self.from.hello(most, &others, &mut noise);
            match heard {
                Ok(Ok(hello)) => {
                    self.heard_at = Instant::now();
                    return Ok(hello);
                }
                Ok(Err(Heard::Frame(_))) => {
                    return Err(Lost::Broken("it sent a frame before its first line".into()));
                }
                Ok(Err(Heard::Quiet { .. })) => {}
                Ok(Err(Heard::Other)) => _ = self.read_errors(),
                Ok(Err(Heard::Closed)) => return Err(self.ended()),
                Err(error) => return Err(self.failed(&error)),
            }
        }
    }

    pub fn send(&mut self, frame: &Frame, payload: &[u8]) -> Result<(), Lost> {
        match &mut self.to {
            Some(to) => {
                to.send_with(frame, payload).map_err(|error| self.failed(&error))?;
                // What was sent may be on its way for a while, and only then the other side has something to say.
                if !payload.is_empty() {
                    self.heard_at = Instant::now();
                }
                Ok(())
            }
            None if self.child.is_none() => Ok(()),
            None => Err(Lost::Cancelled),
        }
    }

    /// Waits for the next frame other than a beat, and sends beats meanwhile. A worker that has failed is lost.
    pub fn next(&mut self, cancel_token: &CancelToken) -> Result<Frame, Lost> {
        let mut beat_at = Instant::now();
        loop {
            if cancel_token.heard().is_some() {
                return Err(Lost::Cancelled);
            }
            if self.until.is_some_and(|until| until < Instant::now()) {
                return Err(Lost::Gone("it did not end at the deadline of its call".to_owned()));
            }
            if beat_at.elapsed() >= BEAT {
                self.send(&Frame::Beat, &[])?;
                beat_at = Instant::now();
            }
            let others = others(cancel_token, self.errors.as_ref());
            let heard = self.from.next(BEAT.saturating_sub(beat_at.elapsed()), &others);
            match heard {
                Ok(Heard::Frame(Frame::Beat) | Heard::Quiet { bytes: 1.. }) => self.heard_at = Instant::now(),
                Ok(Heard::Frame(Frame::Failed { why })) => return Err(Lost::Gone(shown(&why))),
                Ok(Heard::Frame(frame)) => {
                    self.heard_at = Instant::now();
                    return Ok(frame);
                }
                Ok(Heard::Quiet { bytes: 0 }) if self.heard_at.elapsed() > COORDINATORS_PATIENCE => {
                    let seconds = COORDINATORS_PATIENCE.as_secs();
                    return Err(Lost::Gone(format!("it said nothing for {seconds} s")));
                }
                Ok(Heard::Quiet { bytes: 0 }) => {}
                Ok(Heard::Other) => _ = self.read_errors(),
                Ok(Heard::Closed) => return Err(self.ended()),
                Err(error) => return Err(self.failed(&error)),
            }
        }
    }

    /// Sets how long the worker may take from now on.
    pub fn allow(&mut self, time: Duration) {
        self.until = Instant::now().checked_add(time);
    }

    /// Returns the payload of the last frame.
    pub fn payload(&mut self, bytes: u64) -> impl Read {
        self.from.payload(bytes, COORDINATORS_PATIENCE)
    }

    /// Reads a payload of at most `most` bytes.
    pub fn bytes(&mut self, bytes: u64, most: u64) -> Result<Vec<u8>, Lost> {
        self.from.bytes(bytes, most, COORDINATORS_PATIENCE).map_err(|error| self.failed(&error))
    }

    /// Ends a worker that has replied, and lets its command clean up.
    pub fn close(mut self) {
        self.is_over = true;
    }

    /// Returns why the worker is lost after an error.
    pub fn failed(&mut self, error: &io::Error) -> Lost {
        match error.kind() {
            ErrorKind::InvalidData => Lost::Broken(error.to_string()),
            ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => self.ended(),
            _ => Lost::Gone(error.to_string()),
        }
    }

    /// Reads what the command has printed as errors. Returns false if there is nothing more now.
    fn read_errors(&mut self) -> bool {
        let Some(errors) = &mut self.errors else { return false };
        if wait(&mut [PollFd::new(errors, PollFlags::IN)], Duration::ZERO).is_ok_and(|ready| ready == 0) {
            return false;
        }
        let mut piece = [0; KEPT];
        match errors.read(&mut piece) {
            Ok(count @ 1..) => {
                self.said.extend_from_slice(&piece[..count]);
                self.said.drain(..self.said.len().saturating_sub(KEPT));
            }
            Ok(0) | Err(_) => self.errors = None,
        }
        true
    }

    /// Says how a command ended that gave no reply: with its last words.
    fn ended(&mut self) -> Lost {
        self.to = None;
        let Some(child) = &mut self.child else { return Lost::Broken("it ends early".to_owned()) };
        let has_ended = ends_by(Pid::from_child(child), Instant::now() + GRACE);
        let code = has_ended.then(|| child.try_wait().ok().flatten()).flatten();
        Lost::Gone(match (self.last_words(), code) {
            (Some(said), Some(code)) => format!("its command ended: {said} ({code})"),
            (Some(said), None) => format!("its command ended: {said}"),
            (None, Some(code)) => format!("its command ended ({code})"),
            (None, None) => "its command closed its output".to_owned(),
        })
    }

    fn late(&mut self, waited: Duration) -> Lost {
        let said = self.last_words().map_or(String::new(), |said| format!(": {said}"));
        Lost::Gone(format!("it did not start within {} s{said}", waited.as_secs()))
    }

    /// Returns the last line that the command printed as an error.
    fn last_words(&mut self) -> Option<String> {
        while self.read_errors() {}
        let said = String::from_utf8_lossy(&self.said);
        let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().filter(|one| !one.is_control()).take(SHOWN).collect())
    }
}

/// Returns what a wait for a frame also watches: requests to stop, and what the command prints as errors.
fn others<'a>(cancel_token: &'a CancelToken, errors: Option<&'a ChildStderr>) -> Vec<BorrowedFd<'a>> {
    [Some(cancel_token.pipe()), errors.map(AsFd::as_fd)].into_iter().flatten().collect()
}

impl Drop for Link {
    fn drop(&mut self) {
        self.to = None;
        let Some(child) = &mut self.child else { return };
        if let Ok(Some(_)) = child.try_wait() {
            return;
        }
        // A worker that has replied is not waited for longer than its command needs to clean up.
        let first = if self.is_over { CLEANING } else { GRACE };
        let pid = Pid::from_child(child);
        // A command of a scheduler cleans up when it is asked to end.
        for (limit, signal) in [(first, Signal::TERM), (GRACE, Signal::KILL)] {
            if ends_by(pid, Instant::now() + limit) {
                break;
            }
            let _ = kill_process_group(pid, signal);
        }
        let _ = child.wait();
    }
}

/// A pipe that does not block for ever: a connection that was cut takes nothing more.
#[derive(Debug)]
struct Patient(ChildStdin);

impl Patient {
    fn of(to: ChildStdin) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&to)?;
        rustix::fs::fcntl_setfl(&to, flags | OFlags::NONBLOCK)?;
        Ok(Self(to))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if wait(&mut [PollFd::new(&self.0, PollFlags::OUT)], COORDINATORS_PATIENCE)? == 0 {
                        let seconds = COORDINATORS_PATIENCE.as_secs();
                        return Err(io::Error::new(
                            ErrorKind::TimedOut,
                            format!("it took nothing for {seconds} s"),
                        ));
                    }
                }
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
