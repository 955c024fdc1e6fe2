//! The words between a guardian and its parent: one JSON value a line.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};

use super::cancel::Cancel;
use super::ended::Ended;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request<C> {
    /// There are users and groups in the namespace that the guardian has entered.
    Mapped,
    Run(C),
    Cancel(Cancel),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The guardian has entered a namespace, in which there are no users yet.
    Entered,
    /// It takes calls.
    Ready,
    Ended(Ended),
    Failed {
        why: String,
    },
}

/// A message and its line end in one piece, so that sending it is one write.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("text, numbers and lists always have a JSON form");
    line.push(b'\n');
    line
}

/// One end of the socket between a guardian and its parent.
#[derive(Debug)]
pub(super) struct End {
    socket: UnixStream,
    /// What has come and is not yet a whole message.
    inbox: Vec<u8>,
    closed: bool,
}

impl End {
    pub(super) fn of(socket: UnixStream) -> Self {
        Self { socket, inbox: Vec::new(), closed: false }
    }

    /// An error where the other side is dead: the Rust runtime ignores SIGPIPE.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.socket.write_all(&line(message))
    }

    /// Takes what has come, once; waits for it when nothing has.
    pub(super) fn read(&mut self) {
        let mut piece = [0; 8 * 1024];
        match self.socket.read(&mut piece) {
            Ok(0) => self.closed = true,
            Ok(count) => self.inbox.extend_from_slice(&piece[..count]),
            Err(error) => self.closed = error.kind() != io::ErrorKind::Interrupted,
        }
    }

    /// The next whole message of those that were read, if there is one.
    pub(super) fn take<M: for<'a> Deserialize<'a>>(&mut self) -> Option<serde_json::Result<M>> {
        let end = self.inbox.iter().position(|byte| *byte == b'\n')?;
        let message = serde_json::from_slice(&self.inbox[..end]);
        self.inbox.drain(..=end);
        Some(message)
    }

    /// Takes a message of the other side for its end: one that talks nonsense is as good as dead.
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
