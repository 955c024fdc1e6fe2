//! The parent's side of one guardian.

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::call::{Call, Cancel, Ended, How};
use super::error::ProcessError;
use super::orphans;
use super::wire::{self, Inbox, Reply, Request};

/// How much later than it promised a guardian may answer before it is given up.
const BELT: Duration = Duration::from_secs(5);

/// A guardian that is running: our own binary, started again.
///
/// Dropping it closes the socket, upon which it ends whatever it runs, and itself.
#[derive(Debug)]
pub struct Guardian {
    socket: UnixStream,
    inbox: Inbox,
    process: Child,
    pid: u32,
    /// A call is under way, or was when its future was dropped or the guardian lost.
    busy: bool,
}

impl Guardian {
    /// Starts a guardian: `exe` must come to `guardian_main` when given `hidden_arg`. The mark, a variable in its
    /// environment and in no child's, is how a later command finds it.
    pub fn start(exe: &Path, hidden_arg: &str, mark: (&str, &str)) -> Result<Self, ProcessError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(ProcessError::Channel)?;
        ours.set_nonblocking(true).map_err(ProcessError::Channel)?;
        let socket = UnixStream::from_std(ours).map_err(ProcessError::Channel)?;
        let mut command = Command::new(exe);
        command.arg(hidden_arg).env(mark.0, mark.1);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        // Held until the pid is in it: a sweep for orphans must not take a newborn guardian for one.
        let mut known = orphans::guardians();
        let process =
            command.spawn().map_err(|source| ProcessError::Start { exe: exe.to_owned(), source })?;
        let pid = process.id().expect("a child that was not waited for has a pid");
        known.insert(pid);
        Ok(Self { socket, inbox: Inbox::default(), process, pid, busy: false })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it can take a call; one that was lost, or given up in the middle of a call, never will.
    pub fn is_free(&self) -> bool {
        !self.busy
    }

    /// Runs one call to its end, or to an earlier one once `cancel` holds a word.
    ///
    /// Dropping the future ends the call at once, and the guardian with it. `GuardianDied` means that nothing
    /// of the call is left, and that its record tells whether it had answered.
    pub async fn run(
        &mut self,
        call: &Call,
        cancel: &mut watch::Receiver<Option<Cancel>>,
    ) -> Result<Ended, ProcessError> {
        if self.busy {
            self.put_down().await;
            return Err(ProcessError::GuardianDied);
        }
        if cancel.borrow_and_update().is_some() {
            return Ok(Ended::without_running(How::Cancelled));
        }
        let under_way = UnderWay::begin(self);
        let Ok(reply) = under_way.guardian.converse(call, cancel).await else {
            drop(under_way);
            self.put_down().await;
            return Err(ProcessError::GuardianDied);
        };
        under_way.end();
        match reply {
            Reply::Ended(ended) => Ok(ended),
            Reply::Failed { why } => Err(ProcessError::Guardian { why }),
        }
    }

    /// Sends the call and waits for its answer; an error means that none will come.
    async fn converse(
        &mut self,
        call: &Call,
        cancel: &mut watch::Receiver<Option<Cancel>>,
    ) -> io::Result<Reply> {
        self.socket.write_all(&wire::line(&Request::Run(call))).await?;
        let belt = tokio::time::sleep(call.longest().saturating_add(BELT));
        tokio::pin!(belt);
        loop {
            tokio::select! {
                biased;
                read = self.socket.read_buf(&mut self.inbox.bytes) => match (read?, self.inbox.take()) {
                    (_, Some(reply)) => return Ok(reply?),
                    (0, None) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    (_, None) => {}
                },
                how = asked(cancel) => {
                    self.socket.write_all(&wire::line(&Request::<&Call>::Cancel(how))).await?;
                }
                () = &mut belt => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Kills the guardian and what it left.
    async fn put_down(&mut self) {
        let _ = self.process.start_kill(); // It may be dead already.
        let _ = self.process.wait().await;
        let pid = self.pid;
        // Off the runtime: a sweep looks through all processes and waits for the killed.
        let _ = tokio::task::spawn_blocking(move || orphans::sweep(pid)).await;
        orphans::guardians().remove(&self.pid);
    }

    /// Lets the guardian go: it ends what it runs, then itself; nobody kills it.
    pub async fn close(mut self) {
        self.hang_up();
        let _ = self.process.wait().await;
        orphans::guardians().remove(&self.pid);
    }

    fn hang_up(&self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both); // Fails when it is dead.
    }
}

/// Hangs up when the call's future is dropped: the guardian must not go on with what nobody waits for.
struct UnderWay<'a> {
    guardian: &'a mut Guardian,
}

impl<'a> UnderWay<'a> {
    fn begin(guardian: &'a mut Guardian) -> Self {
        guardian.busy = true;
        Self { guardian }
    }

    fn end(self) {
        self.guardian.busy = false;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.guardian.busy {
            self.guardian.hang_up();
        }
    }
}

/// The next word of whoever may cancel; never, when nobody can any more.
async fn asked(cancel: &mut watch::Receiver<Option<Cancel>>) -> Cancel {
    loop {
        if cancel.changed().await.is_err() {
            pending::<()>().await;
        }
        if let Some(how) = *cancel.borrow_and_update() {
            return how;
        }
    }
}
