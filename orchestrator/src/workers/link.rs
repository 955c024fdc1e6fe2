//! The coordinator's side of one worker: its command, and the frames that go through its stdin and stdout.
//!
//! The command belongs to the user and may leave something behind on purpose, such as a master connection of ssh. So no
//! guardian ends it: it ends when its stdin ends.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process_group};

use super::frame::{Frame, Hello, Sender, shown};
use super::inbox::{Inbox, Patience};
use super::{BEAT, COORDINATORS_PATIENCE};
use crate::process::{CancelToken, ends_by};

/// The first line of a worker begins with this.
const OPENING: &[u8] = b"{\"skilltune_worker\":";
/// The most bytes before the first line of a worker: a login script may print a page.
const MOST_NOISE: usize = 1 << 20;
/// A command may take this long to clean up after a call, such as to delete a pod.
const CLEANING: Duration = Duration::from_secs(30);
/// How long a command that failed may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// A worker may take this long from its first line until it begins a call or has described its agents.
const PREPARING: Duration = Duration::from_secs(3600);
/// The end of what a command prints as errors is kept.
const KEPT: usize = 4 << 10;
/// The most frames that are read from a worker that has ended, to find out why.
const LAST_FRAMES: usize = 16;
/// A pipe holds no more.
const PIPE: u64 = 64 << 10;

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
    from: Inbox<File>,
    /// The end of what the command printed as errors.
    said: Vec<u8>,
    /// When it must have done what it does now.
    until: Option<Instant>,
    cancel_token: CancelToken,
    /// Its command may take this long to end.
    grace: Duration,
}

/// Why a worker gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    #[error("it was ended")]
    Cancelled,
    /// It could not be started, it ended, it fell silent, or it did not keep to the protocol.
    #[error("{0}")]
    Gone(String),
}

impl Lost {
    pub fn unexpected(frame: &Frame) -> Self {
        let text = serde_json::to_string(frame).unwrap_or_default();
        Self::Gone(format!("it sent a frame at the wrong time: {}", shown(&text)))
    }
}

impl Link {
    pub fn start(launch: &Launch, cancel_token: &CancelToken) -> Result<Self, Lost> {
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).env_clear().envs(launch.env.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let cannot =
            |error: io::Error| Lost::Gone(format!("cannot start {}: {error}", launch.program.display()));
        let mut child = command.spawn().map_err(cannot)?;
        let (Some(to), Some(from), Some(errors)) = (&child.stdin, child.stdout.take(), &child.stderr) else {
            unreachable!("all three are pipes");
        };
        for pipe in [to.as_fd(), errors.as_fd()] {
            ioctl_fionbio(pipe, true).map_err(|error| cannot(error.into()))?;
        }
        let mut link = Self::of_file(OwnedFd::from(from).into(), cancel_token);
        link.child = Some(child);
        Ok(link)
    }

    /// Opens the reply that a worker wrote into a file.
    pub fn of_file(file: File, cancel_token: &CancelToken) -> Self {
        let (from, cancel_token) = (Inbox::of(file), cancel_token.clone());
        Self { child: None, from, said: Vec::new(), until: None, cancel_token, grace: GRACE }
    }

    /// Returns whether it is a file, which asks for nothing.
    pub fn is_file(&self) -> bool {
        self.child.is_none()
    }

    /// Waits for the worker's first line, and skips what its machine prints before it. A scheduler may take hours to place
    /// it, so there is a limit only if the caller sets one.
    pub fn hello(&mut self, within: Option<Duration>) -> Result<Hello, Lost> {
        let (mut noise, since) = (0, Instant::now());
        while noise <= MOST_NOISE {
            let left = within.map_or(BEAT, |within| within.saturating_sub(since.elapsed()).min(BEAT));
            if left.is_zero() {
                let (waited, said) = (since.elapsed().as_secs(), self.last_words());
                return Err(Lost::Gone(format!("it did not start within {waited} s{said}")));
            }
            let Some(line) = self.line(left)? else { continue };
            if let Some(at) = line.windows(OPENING.len()).position(|part| part == OPENING) {
                self.allow(PREPARING);
                return serde_json::from_slice(&line[at..])
                    .map_err(|error| Lost::Gone(format!("its first line is no greeting: {error}")));
            }
            noise += line.len();
        }
        Err(Lost::Gone("it printed more than 1 MiB before its first line".to_owned()))
    }

    pub fn send(&mut self, frame: &Frame, payload: &[u8]) -> Result<(), Lost> {
        // A file takes nothing.
        let Some(to) = self.child.as_ref().and_then(|child| child.stdin.as_ref()) else { return Ok(()) };
        let patient = Patient { to, patience: patience(self.until, &self.cancel_token) };
        let sent = Sender::of(patient).send_with(frame, payload);
        sent.map_err(|error| self.failed(&error))?;
        // What was sent may be on its way for a while, and only then the other side has something to say.
        if !payload.is_empty() {
            self.from.note_life();
        }
        Ok(())
    }

    /// Waits for the next frame other than a beat, and sends beats meanwhile. A worker that has failed is lost.
    pub fn frame(&mut self) -> Result<Frame, Lost> {
        let mut beat_at = Instant::now();
        loop {
            if self.until.is_some_and(|until| until < Instant::now()) {
                return Err(Lost::Gone("it did not end at its deadline".to_owned()));
            }
            if let Some(line) = self.line(BEAT.saturating_sub(beat_at.elapsed()))? {
                match Frame::of(&line).map_err(|error| self.failed(&error))? {
                    None | Some(Frame::Beat) => {}
                    Some(Frame::Failed { why }) => return Err(Lost::Gone(shown(&why))),
                    Some(frame) => return Ok(frame),
                }
            }
            if self.from.silence() > COORDINATORS_PATIENCE {
                let seconds = COORDINATORS_PATIENCE.as_secs();
                return Err(Lost::Gone(format!("it said nothing for {seconds} s")));
            }
            if beat_at.elapsed() >= BEAT {
                self.send(&Frame::Beat, &[])?;
                beat_at = Instant::now();
            }
        }
    }

    /// Sets how long the worker may take from now on.
    pub fn allow(&mut self, time: Duration) {
        self.until = Instant::now().checked_add(time);
    }

    /// Returns the payload of the last frame.
    pub fn payload(&mut self, bytes: u64) -> impl Read {
        self.from.payload(bytes, patience(self.until, &self.cancel_token))
    }

    /// Reads a payload of at most `most` bytes.
    pub fn bytes(&mut self, bytes: u64, most: u64) -> Result<Vec<u8>, Lost> {
        let read = self.from.bytes(bytes, most, patience(self.until, &self.cancel_token));
        read.map_err(|error| self.failed(&error))
    }

    /// Ends a worker that has replied, and lets its command clean up.
    pub fn close(mut self) {
        self.grace = CLEANING;
    }

    /// Returns why the worker is lost after an error.
    pub fn failed(&mut self, error: &io::Error) -> Lost {
        match error.kind() {
            _ if self.cancel_token.heard().is_some() => Lost::Cancelled,
            ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => self.ended(),
            _ => Lost::Gone(error.to_string()),
        }
    }

    /// Waits for a line. Returns none if only a part of one arrives, or nothing.
    fn line(&mut self, within: Duration) -> Result<Option<Vec<u8>>, Lost> {
        let errors = self.child.as_ref().and_then(|child| child.stderr.as_ref());
        let others: Vec<BorrowedFd<'_>> =
            [self.cancel_token.pipe()].into_iter().chain(errors.map(AsFd::as_fd)).collect();
        let line = self.from.next(within, &others);
        if self.cancel_token.heard().is_some() {
            return Err(Lost::Cancelled);
        }
        // A command whose errors are not read is stuck, unless it still prints lines.
        if !matches!(line, Ok(Some(_))) {
            self.read_errors();
        }
        line.map_err(|error| self.failed(&error))
    }

    /// Reads what the command has printed as errors, without waiting for more.
    fn read_errors(&mut self) {
        let Some(child) = &mut self.child else { return };
        let Some(errors) = &mut child.stderr else { return };
        let is_open = match errors.take(PIPE).read_to_end(&mut self.said) {
            Ok(read) => read as u64 == PIPE,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        self.said.drain(..self.said.len().saturating_sub(KEPT));
        if !is_open {
            child.stderr = None;
        }
    }

    /// Says how a command ended that gave no reply: with its last words.
    fn ended(&mut self) -> Lost {
        if let Some(why) = self.last_frame() {
            return Lost::Gone(why);
        }
        let Some(child) = &mut self.child else { return Lost::Gone("it ends early".to_owned()) };
        child.stdin = None;
        ends_by(Pid::from_child(child), Instant::now() + GRACE);
        let code = child.try_wait().ok().flatten();
        let said = self.last_words();
        Lost::Gone(match code {
            Some(code) => format!("its command ended{said} ({code})"),
            None if said.is_empty() => "its command closed its output".to_owned(),
            None => format!("its command ended{said}"),
        })
    }

    /// Returns why the worker failed, if it said so before it ended. It may have ended before it read what we sent last.
    fn last_frame(&mut self) -> Option<String> {
        for _ in 0..LAST_FRAMES {
            let line = self.from.next(GRACE, &[self.cancel_token.pipe()]).ok()??;
            if let Ok(Some(Frame::Failed { why })) = Frame::of(&line) {
                return Some(shown(&why));
            }
        }
        None
    }

    /// Returns a colon and the last line that the command printed as an error; nothing without one.
    fn last_words(&mut self) -> String {
        self.read_errors();
        let said = String::from_utf8_lossy(&self.said);
        let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
        line.map_or(String::new(), |line| format!(": {}", shown(line)))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else { return };
        child.stdin = None;
        if let Ok(Some(_)) = child.try_wait() {
            return;
        }
        let pid = Pid::from_child(child);
        // A command of a scheduler cleans up when it is asked to end.
        for (limit, signal) in [(self.grace, Signal::TERM), (GRACE, Signal::KILL)] {
            if ends_by(pid, Instant::now() + limit) {
                break;
            }
            let _ = kill_process_group(pid, signal);
        }
        let _ = child.wait();
    }
}

/// Returns how long the coordinator waits in the middle of a frame.
fn patience(until: Option<Instant>, cancel_token: &CancelToken) -> Patience<'_> {
    Patience { silence: COORDINATORS_PATIENCE, until, cancelled: Some(cancel_token.pipe()) }
}

/// The stdin of a command, which never blocks: a connection that was cut takes nothing more.
struct Patient<'a> {
    to: &'a ChildStdin,
    patience: Patience<'a>,
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.patience.wait(self.to.as_fd(), PollFlags::OUT)? {
            let seconds = COORDINATORS_PATIENCE.as_secs();
            return Err(io::Error::new(ErrorKind::TimedOut, format!("it took nothing for {seconds} s")));
        }
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Seek as _;

    use super::*;
    use crate::process::Canceller;

    #[test]
    fn what_a_login_script_prints_before_the_first_line_is_skipped_also_on_that_line() {
        let hello = "{\"skilltune_worker\":1,\"program\":\"0.1.0\",\"machine\":\"den\"}\n";
        let canceller = Canceller::new().unwrap();
        for noise in ["", "Welcome!\n\n{\"frame\":\"beat\"}\n", "Last login: today\n$ "] {
            let (from, mut to) = io::pipe().unwrap();
            to.write_all(format!("{noise}{hello}{{\"frame\":\"sent\"}}\n").as_bytes()).unwrap();
            let mut link = Link::of_file(OwnedFd::from(from).into(), &canceller.cancel_token());
            let found = link.hello(None).unwrap();
            assert_eq!((found.machine.as_str(), found.memory), ("den", None), "{noise:?}");
            assert!(matches!(link.frame().unwrap(), Frame::Sent));
        }
    }

    #[test]
    fn empty_lines_without_end_before_the_first_line_are_noise_too() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'\n'; MOST_NOISE + 1]).unwrap();
        file.rewind().unwrap();
        let canceller = Canceller::new().unwrap();
        let lost = Link::of_file(file, &canceller.cancel_token()).hello(None).unwrap_err();
        assert_eq!(lost.to_string(), "it printed more than 1 MiB before its first line");
    }
}
