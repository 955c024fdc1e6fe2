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

use super::call::{Call, Ended, How};
use super::cancel::{Cancel, Ear};
use super::error::ProcessError;
use super::orphans;
use super::wire::{End, Reply, Request};

/// How much later than it promised a guardian may answer before it is given up.
const BELT: Duration = Duration::from_secs(5);

/// A guardian that is running: our own binary, started again.
///
/// Dropping it closes the socket, upon which it ends whatever it runs, and itself.
#[derive(Debug)]
pub struct Guardian {
    end: End,
    process: Child,
    /// A call has not come to its end; whatever was the matter, it takes no other.
    lost: bool,
}

impl Guardian {
    /// Starts a guardian: `exe` must come to `guardian_main` when given `hidden_arg`. The mark, a variable in its
    /// environment and in no child's, is how a later command finds it.
    pub fn start(exe: &Path, hidden_arg: &str, mark: (&str, &str)) -> Result<Self, ProcessError> {
        let (ours, theirs) = UnixStream::pair().map_err(ProcessError::Channel)?;
        ours.set_write_timeout(Some(BELT)).map_err(ProcessError::Channel)?;
        let mut command = Command::new(exe);
        command.arg(hidden_arg).env(mark.0, mark.1);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        // Held until the pid is in it: a sweep for orphans must not take a newborn guardian for one.
        let mut known = orphans::guardians();
        let process =
            command.spawn().map_err(|source| ProcessError::Start { exe: exe.to_owned(), source })?;
        known.insert(process.id());
        Ok(Self { end: End::of(ours), process, lost: false })
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Whether it will never take another call.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Runs one call to its end, or to an earlier one when it is cancelled.
    ///
    /// `GuardianDied` means that nothing of the call is left, and that its record tells whether it had answered.
    pub fn run(&mut self, call: &Call, ear: &Ear) -> Result<Ended, ProcessError> {
        if self.lost {
            return Err(ProcessError::GuardianDied);
        }
        if ear.heard().is_some() {
            return Ok(Ended::without_running(How::Cancelled));
        }
        self.lost = true;
        let Ok(reply) = self.converse(call, ear) else {
            self.put_down();
            return Err(ProcessError::GuardianDied);
        };
        self.lost = false;
        match reply {
            Reply::Ended(ended) => Ok(ended),
            Reply::Failed { why } => Err(ProcessError::Guardian { why }),
        }
    }

    /// Sends the call and waits for its answer; an error means that none will come.
    fn converse(&mut self, call: &Call, ear: &Ear) -> io::Result<Reply> {
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
    fn wait(&self, ear: &Ear, said: Option<Cancel>, until: Option<Instant>) -> io::Result<Came> {
        let mut watched = vec![PollFd::new(self.end.socket(), PollFlags::IN)];
        watched.extend(ear.after(said).map(|word| PollFd::from_borrowed_fd(word, PollFlags::IN)));
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut watched, timeout.as_ref()) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let ready = |nth: usize| watched.get(nth).is_some_and(|one: &PollFd<'_>| !one.revents().is_empty());
        Ok(Came { answer: ready(0), word: ready(1) })
    }

    /// Kills the guardian and what it left.
    fn put_down(&mut self) {
        let _ = self.process.kill(); // It may be dead already.
        let _ = self.process.wait();
        orphans::sweep(self.pid());
        orphans::guardians().remove(&self.pid());
    }

    /// Lets the guardian go: it ends what it runs, then itself; nobody kills it.
    pub fn close(mut self) {
        let _ = self.end.socket().shutdown(Shutdown::Both); // Fails when it is dead.
        let _ = self.process.wait();
        orphans::guardians().remove(&self.pid());
    }
}

/// What a wait has ended with.
struct Came {
    answer: bool,
    word: bool,
}
