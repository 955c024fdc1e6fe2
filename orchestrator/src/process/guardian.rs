//! The parent's side of one guardian.
//!
//! Blocking, as the guardian's own side is: each call under way has a thread of its own, that waits in one poll.

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
use super::wire::{End, Reply, Request};

/// How much later than it promised a guardian may answer before it is given up: longer than it sweeps.
const BELT: Duration = Duration::from_secs(8);
/// How long a guardian may take until it takes calls, on a machine with other things to do.
const START: Duration = Duration::from_secs(30);

/// What makes sure that nothing of a call outlives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Containment {
    /// The kernel: the call runs in a namespace of its guardian's own.
    Namespace,
    /// The guardian and its parent: they look for what descends from the call. A program that kills them both can
    /// escape. `why` there is no namespace.
    Search { why: String },
}

/// A guardian that is running: our own binary, started again.
///
/// Dropping it closes the socket, upon which it ends whatever it runs, and itself.
#[derive(Debug)]
pub struct Guardian {
    end: End,
    process: Child,
    containment: Containment,
    /// A call has not come to its end; whatever was the matter, it takes no other.
    lost: bool,
}

impl Guardian {
    /// Starts a guardian, in a namespace if the kernel grants one: `exe` must come to `guardian_main` when given
    /// `hidden_arg`. The mark, the one variable in its environment, and in no child's, is how a later command finds it.
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

    /// `why` it is in no namespace.
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
        // Held until the pid is in it: a sweep for orphans must not take a newborn guardian for one.
        let mut known = orphans::guardians();
        let process =
            command.spawn().map_err(|source| ProcessError::Start { exe: exe.to_owned(), source })?;
        known.insert(process.id());
        Ok(Self { end: End::of(ours), process, containment, lost: false })
    }

    /// Waits until the guardian takes calls; why it never will, otherwise.
    fn greet(&mut self) -> Result<(), String> {
        let until = Instant::now().checked_add(START);
        loop {
            let reply = self.answer(until).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => "it ended before it took any call".to_owned(),
                _ => error.to_string(),
            })?;
            match reply {
                Reply::Ready => return Ok(()),
                Reply::Entered => {
                    let mapped = namespace::map_ids(self.pid());
                    mapped.map_err(|error| format!("cannot map users and groups: {error}"))?;
                    self.end.send(&Request::<&Call>::Mapped).map_err(|error| error.to_string())?;
                }
                Reply::Failed { why } => return Err(why),
                Reply::Ended(_) => return Err("it told the end of a call".to_owned()),
            }
        }
    }

    /// Waits for one answer while no call is under way.
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

    /// The pid of the process that was started; in a namespace, killing it ends the guardian.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn containment(&self) -> &Containment {
        &self.containment
    }

    /// Whether it will never take another call: it was lost, or somebody has ended it meanwhile.
    pub fn is_lost(&self) -> bool {
        // One without a call has nothing to say: only its end makes the socket readable.
        let mut idle = [PollFd::new(self.end.socket(), PollFlags::IN)];
        self.lost || poll(&mut idle, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(0)
    }

    /// Runs one call to its end, or to an earlier one when it is cancelled. A guardian that does not come to it is the
    /// call's failure; nothing of the call is left then, and it takes no other.
    pub fn run(&mut self, call: &Call, ear: &CancelToken) -> Result<Ended, ProcessError> {
        if ear.heard().is_some() {
            return Ok(Ended::without_running(How::Cancelled));
        }
        let began = Instant::now();
        self.lost = true;
        let why = match self.converse(call, ear) {
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
        // It may have answered all the same.
        if let Some(ended) = Ended::recorded(&call.record)? {
            return Ok(ended);
        }
        Ok(Ended::lost(began, why))
    }

    /// Sends the call and waits for its answer; an error means that none will come.
    fn converse(&mut self, call: &Call, ear: &CancelToken) -> io::Result<Reply> {
        let until = Instant::now().checked_add(call.longest().saturating_add(BELT));
        self.end.send(&Request::Run(call))?;
        let mut said = None;
        loop {
            let came = self.wait(ear, said, until)?;
            if came.answer {
                self.end.read();
                match self.end.take() {
                    Some(reply) => return Ok(reply?),
                    None if self.end.is_closed() => return Err(io::ErrorKind::UnexpectedEof.into()),
                    None => {}
                }
            }
            if came.word
                && let Some(how) = ear.heard()
            {
                self.end.send(&Request::<&Call>::Cancel(how))?;
                said = Some(how);
            }
        }
    }

    /// Waits for the guardian, or for a word that is more urgent than the last; no longer than it may take.
    fn wait(&self, ear: &CancelToken, said: Option<Cancel>, until: Option<Instant>) -> io::Result<Came> {
        let mut watched = vec![PollFd::new(self.end.socket(), PollFlags::IN)];
        watched.extend(ear.after(said).map(|word| PollFd::from_borrowed_fd(word, PollFlags::IN)));
        wait(&mut watched, until)?;
        let ready = |nth: usize| watched.get(nth).is_some_and(|one: &PollFd<'_>| !one.revents().is_empty());
        Ok(Came { answer: ready(0), word: ready(1) })
    }

    /// Kills the guardian and what it left.
    fn put_down(&mut self) {
        let _ = self.process.kill(); // It may be dead already.
        self.bury();
    }

    /// Lets the guardian go: it ends what it runs, then itself. One that does not is killed.
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

/// Waits for one of them to be ready; an error when none is in time.
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

/// What a wait has ended with.
struct Came {
    answer: bool,
    word: bool,
}
