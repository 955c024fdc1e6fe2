//! The guardian's own side: it takes calls from its parent until the parent is gone.
//!
//! Blocking and single-threaded on purpose: a guardian must not be able to hang for a reason of its own.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use super::call::Call;
use super::live;
use super::wire::{self, Inbox, Reply, Request};

const PIECE: usize = 64 * 1024;

/// Serves as a guardian over the socket that is standard input, until that closes.
pub fn guardian_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE, // The parent learns it from the closed socket; there is nobody else to tell.
    }
}

fn serve() -> io::Result<()> {
    // A session of its own: no signal of the terminal comes here, and no child of ours can ask there.
    rustix::process::setsid()?;
    adopt_orphans()?;
    let mut parent = Parent::on_stdin()?;
    let mut buffer = vec![0; PIECE];
    while let Some(request) = parent.next()? {
        match request {
            Request::Run(call) => {
                let reply = live::run(&call, &mut parent, &mut buffer);
                parent.tell(&reply)?;
            }
            Request::Cancel(_) => {} // It crossed our answer on the way.
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// The other end of the socket.
pub(super) struct Parent {
    socket: UnixStream,
    inbox: Inbox,
    gone: bool,
}

/// What the parent had to say, once its socket could be read.
pub(super) enum Heard {
    Nothing,
    Word(Request<Box<Call>>),
    Gone,
}

impl Parent {
    fn on_stdin() -> io::Result<Self> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self { socket: socket.into(), inbox: Inbox::default(), gone: false })
    }

    /// Waits for the next request; none when the parent is gone.
    fn next(&mut self) -> io::Result<Option<Request<Box<Call>>>> {
        loop {
            match self.inbox.take() {
                Some(request) => return Ok(Some(request?)),
                None if self.gone => return Ok(None),
                None => self.read(),
            }
        }
    }

    /// Takes what has come: reads at most once, and only when `readable` says that it will not wait.
    pub(super) fn hear(&mut self, readable: bool) -> Heard {
        if readable {
            self.read();
        }
        match self.inbox.take() {
            Some(Ok(request)) => Heard::Word(request),
            Some(Err(_)) => {
                self.gone = true; // A parent that talks nonsense is as good as dead.
                Heard::Gone
            }
            None if self.gone => Heard::Gone,
            None => Heard::Nothing,
        }
    }

    /// The socket to be watched while a call is under way, unless it has closed.
    pub(super) fn socket(&self) -> Option<BorrowedFd<'_>> {
        (!self.gone).then(|| self.socket.as_fd())
    }

    fn tell(&mut self, reply: &Reply) -> io::Result<()> {
        self.socket.write_all(&wire::line(reply)) // The Rust runtime ignores SIGPIPE: a dead parent is an error here.
    }

    fn read(&mut self) {
        let mut piece = [0; 8 * 1024];
        match self.socket.read(&mut piece) {
            Ok(0) => self.gone = true,
            Ok(count) => self.inbox.bytes.extend_from_slice(&piece[..count]),
            Err(error) => self.gone = error.kind() != io::ErrorKind::Interrupted,
        }
    }
}
