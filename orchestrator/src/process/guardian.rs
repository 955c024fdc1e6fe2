//! The parent's side of one guardian.
//!
//! Blocking, like the guardian's own side: each running call has its own thread, which waits in one poll.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use super::call::Call;
use super::cancel::{Cancel, CancelToken};
use super::ended::{Ended, How};
use super::error::ProcessError;
use super::namespace;
use super::orphans;
use super::start;
use super::wire::{End, GuardianRequest, Reply};

/// How late a guardian may answer before it is given up; longer than its sweep.
const BELT: Duration = Duration::from_secs(8);
/// The time limit for a guardian to become ready, on a busy machine.
const START: Duration = Duration::from_secs(30);

/// The mechanism that ensures that nothing of a call outlives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Containment {
    /// The kernel: the call runs in its guardian's own namespace.
    Namespace,
    /// The guardian and its parent search for the call's descendants. A program that kills both can escape. `why` is
    /// the reason that there is no namespace.
    Search { why: String },
}

/// A running guardian: our own binary, started again.
///
/// Dropping it closes the socket. The guardian then ends what it runs, and itself.
#[derive(Debug)]
pub struct Guardian {
    end: End,
    process: Child,
    containment: Containment,
    /// A call did not end. The guardian takes no other call, whatever the cause.
    lost: bool,
}

impl Guardian {
    /// Starts a guardian, in a namespace if the kernel allows one. `exe` must call `guardian_main` when it gets
    /// `hidden_arg`. A later command finds the guardian by the mark, the only variable in its environment, which no
    /// child gets.
    pub fn start(exe: &Path, hidden_arg: &str, mark: (&str, &str)) -> Result<Self, ProcessError> {
        match Self::in_namespace(exe, hidden_arg, mark) {
            Err(ProcessError::Namespace { why }) => Self::plain(exe, hidden_arg, mark, why),
            started => started,
        }
    }

    pub(super) fn in_namespace(
        exe: &Path,
        hidden_arg: &str,
        mark: (&str, &str),
    ) -> Result<Self, ProcessError> {
        let mut guardian = Self::spawn(exe, &[hidden_arg], mark, Containment::Namespace)?;
        match guardian.greet() {
            Ok(()) => Ok(guardian),
            Err(why) => {
                guardian.put_down();
                Err(ProcessError::Namespace { why })
            }
        }
    }

    /// `why` is the reason that it is not in a namespace.
    pub(super) fn plain(
        exe: &Path,
        hidden_arg: &str,
        mark: (&str, &str),
        why: String,
    ) -> Result<Self, ProcessError> {
        let mut guardian =
            Self::spawn(exe, &[hidden_arg, namespace::PLAIN], mark, Containment::Search { why })?;
        match guardian.greet() {
            Ok(()) => Ok(guardian),
            Err(why) => {
                guardian.put_down();
                Err(ProcessError::Start { exe: exe.to_owned(), source: io::Error::other(why) })
            }
        }
    }

    fn spawn(
        exe: &Path,
        words: &[&str],
        mark: (&str, &str),
        containment: Containment,
    ) -> Result<Self, ProcessError> {
        let (ours, theirs) = UnixStream::pair().map_err(ProcessError::Channel)?;
        ours.set_write_timeout(Some(BELT)).map_err(ProcessError::Channel)?;
        let mut command = Command::new(exe);
        command.args(words).env_clear().env(mark.0, mark.1);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        // Held until it contains the pid: a sweep for orphans must not mistake a new guardian for one.
        let mut known = orphans::guardians();
        let process =
            command.spawn().map_err(|source| ProcessError::Start { exe: exe.to_owned(), source })?;
        known.insert(process.id());
        Ok(Self { end: End::of(ours), process, containment, lost: false })
    }

    /// Waits until the guardian takes calls. Otherwise returns the reason why it never will.
    fn greet(&mut self) -> Result<(), String> {
        let until = Instant::now().checked_add(START);
        loop {
            let reply = self.answer(until).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => "it exited before it accepted a call".to_owned(),
                _ => error.to_string(),
            })?;
            match reply {
                Reply::Ready => return Ok(()),
                Reply::Entered => {
                    let mapped = namespace::map_ids(self.pid());
                    mapped.map_err(|error| format!("cannot map users and groups: {error}"))?;
                    self.end.send(&GuardianRequest::<&Call>::Mapped).map_err(|error| error.to_string())?;
                }
                Reply::Failed { why } => return Err(why),
                Reply::Ended(_) => return Err("it reported the end of a call too early".to_owned()),
            }
        }
    }

    /// Waits for one answer while no call is running.
    fn answer(&mut self, until: Option<Instant>) -> io::Result<Reply> {
        loop {
            match self.end.take() {
                Some(reply) => return Ok(reply?),
                None if self.end.is_closed() => return Err(io::ErrorKind::UnexpectedEof.into()),
                None => wait(&mut [PollFd::new(self.end.socket(), PollFlags::IN)], until)?,
            }
            self.end.read();
        }
    }

    /// Returns the pid of the started process. In a namespace, killing it ends the guardian.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn containment(&self) -> &Containment {
        &self.containment
    }

    /// Returns true if it will never take another call: it was lost or has been ended meanwhile.
    pub fn is_lost(&self) -> bool {
        // Without a call it sends nothing, so the socket becomes readable only at its end. While another thread starts a
        // program, that one may hold the other side of the socket for a moment, so the process is asked too.
        let mut idle = [PollFd::new(self.end.socket(), PollFlags::IN)];
        self.lost
            || poll(&mut idle, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(0)
            || start::ends_by(Pid::from_child(&self.process), Instant::now())
    }

    /// Runs one call to its end, or until it is cancelled. If the guardian dies, the call has failed; then nothing of
    /// the call is left, and the guardian takes no other.
    pub fn run(&mut self, call: &Call, cancel_token: &CancelToken) -> Result<Ended, ProcessError> {
        if cancel_token.heard().is_some() {
            return Ok(Ended::without_running(How::Cancelled));
        }
        let began = Instant::now();
        self.lost = true;
        let why = match self.converse(call, cancel_token) {
            Ok(Reply::Ended(ended)) => {
                self.lost = matches!(ended.how, How::Lost { .. });
                if self.lost {
                    self.put_down();
                }
                return Ok(ended);
            }
            Ok(Reply::Failed { why }) => {
                self.lost = false;
                return Err(ProcessError::Guardian { why });
            }
            Ok(Reply::Entered | Reply::Ready) => "its guardian sent an invalid message",
            Err(error) if error.kind() == io::ErrorKind::TimedOut => "its guardian was stopped or hangs",
            Err(_) => "its guardian was killed",
        };
        self.put_down();
        // It may have answered nevertheless.
        if let Some(ended) = Ended::recorded(&call.record)? {
            return Ok(ended);
        }
        Ok(Ended::lost(began, why))
    }

    /// Sends the call and waits for its answer. An error means that there will be none.
    fn converse(&mut self, call: &Call, cancel_token: &CancelToken) -> io::Result<Reply> {
        let until = Instant::now().checked_add(call.longest().saturating_add(BELT));
        self.end.send(&GuardianRequest::Run(call))?;
        let mut said = None;
        loop {
            let came = self.wait(cancel_token, said, until)?;
            if came.answer {
                self.end.read();
                match self.end.take() {
                    Some(reply) => return Ok(reply?),
                    None if self.end.is_closed() => return Err(io::ErrorKind::UnexpectedEof.into()),
                    None => {}
                }
            }
            if came.word
                && let Some(how) = cancel_token.heard()
            {
                self.end.send(&GuardianRequest::<&Call>::Cancel(how))?;
                said = Some(how);
            }
        }
    }

    /// Waits for the guardian or a more urgent cancellation, up to the time limit.
    fn wait(
        &self,
        cancel_token: &CancelToken,
        said: Option<Cancel>,
        until: Option<Instant>,
    ) -> io::Result<Came> {
        let mut watched = vec![PollFd::new(self.end.socket(), PollFlags::IN)];
        watched.extend(cancel_token.after(said).map(|word| PollFd::from_borrowed_fd(word, PollFlags::IN)));
        wait(&mut watched, until)?;
        let ready = |nth: usize| watched.get(nth).is_some_and(|one: &PollFd<'_>| !one.revents().is_empty());
        Ok(Came { answer: ready(0), word: ready(1) })
    }

    /// Kills the guardian and its leftovers.
    fn put_down(&mut self) {
        let _ = self.process.kill(); // It may be dead already.
        self.bury();
    }

    /// Closes the guardian: it ends what it runs, then itself. It is killed if it does not.
    pub fn close(mut self) {
        let _ = self.end.socket().shutdown(Shutdown::Both); // Fails when it is dead.
        if !start::ends_by(Pid::from_child(&self.process), Instant::now() + BELT) {
            let _ = self.process.kill();
        }
        self.bury();
    }

    fn bury(&mut self) {
        if !self.process.wait().is_ok_and(|status| status.success()) {
            orphans::sweep(self.pid());
        }
        orphans::guardians().remove(&self.pid());
    }
}

/// Waits for one of them to be ready; fails after the time limit.
fn wait(watched: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<()> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(watched, timeout.as_ref()) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The result of a wait.
struct Came {
    answer: bool,
    word: bool,
}
