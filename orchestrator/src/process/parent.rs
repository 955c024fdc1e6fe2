//! The guardian's end of the socket to its parent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::call::Call;
use super::wire::{End, GuardianRequest, Reply};

/// The parent, at the other end.
pub(super) struct Parent(End);

/// The result of receiving from the parent.
pub(super) enum Received {
    Nothing,
    Request(GuardianRequest<Box<Call>>),
    Gone,
}

impl Parent {
    pub(super) fn on_stdin() -> io::Result<Self> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self(End::of(socket.into())))
    }

    /// Waits for the next request; `None` if the parent is gone.
    pub(super) fn next(&mut self) -> io::Result<Option<GuardianRequest<Box<Call>>>> {
        loop {
            match self.0.take() {
                Some(request) => return Ok(Some(request?)),
                None if self.0.is_closed() => return Ok(None),
                None => self.0.read(),
            }
        }
    }

    /// Takes the received requests: reads at most once, and only if `readable` says that it will not block.
    pub(super) fn receive(&mut self, readable: bool) -> Received {
        if readable {
            self.0.read();
        }
        match self.0.take() {
            Some(Ok(request)) => Received::Request(request),
            Some(Err(_)) => {
                self.0.give_up();
                Received::Gone
            }
            None if self.0.is_closed() => Received::Gone,
            None => Received::Nothing,
        }
    }

    /// Returns the socket to watch while a call is running, unless it has closed.
    pub(super) fn socket(&self) -> Option<BorrowedFd<'_>> {
        (!self.0.is_closed()).then(|| self.0.socket().as_fd())
    }

    pub(super) fn tell(&mut self, reply: &Reply) -> io::Result<()> {
        self.0.send(reply)
    }
}
