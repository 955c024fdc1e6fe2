//! The words between a guardian and its parent: one JSON value a line.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::call::Ended;
use super::cancel::Cancel;

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

/// Text where it is text, bytes where it is not: paths and arguments need not be UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OsText {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<OsText> for OsString {
    fn from(text: OsText) -> Self {
        match text {
            OsText::Text(text) => text.into(),
            OsText::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}

/// Writes without a copy what `OsText` reads.
struct Borrowed<'a>(&'a OsStr);

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => to.serialize_str(text),
            None => self.0.as_bytes().serialize(to),
        }
    }
}

pub(super) mod os_text {
    use super::{Borrowed, Deserialize, Deserializer, OsString, OsText, Serialize, Serializer};
    use std::path::{Path, PathBuf};

    pub(in super::super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Borrowed(path.as_os_str()).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsText::deserialize(from).map(|text| OsString::from(text).into())
    }
}

pub(super) mod os_text_maybe {
    use super::{Borrowed, Deserialize, Deserializer, OsString, OsText, Serialize, Serializer};
    use std::path::PathBuf;

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(in super::super) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| Borrowed(path.as_os_str())).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let text = Option::<OsText>::deserialize(from)?;
        Ok(text.map(|text| OsString::from(text).into()))
    }
}

pub(super) mod os_text_list {
    use super::{Borrowed, Deserialize, Deserializer, OsString, OsText, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(list: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(|item| Borrowed(item)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let list = Vec::<OsText>::deserialize(from)?;
        Ok(list.into_iter().map(OsString::from).collect())
    }
}
