//! The messages between a guardian and its parent: one JSON value per line.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};

use super::cancel::Cancel;
use super::ended::Ended;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GuardianRequest<C> {
    /// The users and groups of the guardian's namespace are mapped.
    Mapped,
    Run(C),
    Cancel(Cancel),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The guardian has entered a namespace, in which no users are mapped yet.
    Entered,
    /// The guardian takes calls.
    Ready,
    Ended(Ended),
    Failed {
        why: String,
    },
}

/// Returns a message with its line end, so that sending it is one write.
pub(crate) fn json_line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("text, numbers and lists always have a JSON form");
    line.push(b'\n');
    line
}

/// One end of the socket between a guardian and its parent.
#[derive(Debug)]
pub(super) struct End {
    socket: UnixStream,
    /// Received bytes that are not yet a whole message.
    inbox: Vec<u8>,
    closed: bool,
}

impl End {
    pub(super) fn of(socket: UnixStream) -> Self {
        Self { socket, inbox: Vec::new(), closed: false }
    }

    /// Fails if the other side is dead: the Rust runtime ignores SIGPIPE.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.socket.write_all(&json_line(message))
    }

    /// Reads once; blocks if nothing has arrived.
    pub(super) fn read(&mut self) {
        let mut piece = [0; 8 * 1024];
        match self.socket.read(&mut piece) {
            Ok(0) => self.closed = true,
            Ok(count) => self.inbox.extend_from_slice(&piece[..count]),
            Err(error) => self.closed = error.kind() != io::ErrorKind::Interrupted,
        }
    }

    /// Returns the next whole message that was read, if any.
    pub(super) fn take<M: for<'a> Deserialize<'a>>(&mut self) -> Option<serde_json::Result<M>> {
        let end = self.inbox.iter().position(|byte| *byte == b'\n')?;
        let message = serde_json::from_slice(&self.inbox[..end]);
        self.inbox.drain(..=end);
        Some(message)
    }

    /// Treats the other side as dead, because it sent an invalid message.
    pub(super) fn give_up(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
    }
}
