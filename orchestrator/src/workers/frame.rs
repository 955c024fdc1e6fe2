//! The frames: one line of JSON each. Some are followed by a payload and a newline.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::{BlobId, CallKey, Digest, TreeId};
use skilltune_phases::runs::plan::LoopKind;

use super::inbox::invalid;
use crate::agent::{AgentFacts, Wanted};
use crate::process::json_line;

/// The version of the frames.
pub const PROTOCOL: u32 = 1;
/// The most bytes of a list of parts.
pub const LONGEST_LIST: u64 = 64 << 20;
/// A reply fits into a line of the journal.
pub const LARGEST_REPLY: u64 = 12 << 20;

/// The first line of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the frames.
    pub skilltune_worker: u32,
    /// The version of skilltune: a call has the form that this version gives it.
    pub program: String,
    pub machine: String,
    /// The bytes of memory that are free, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// A message between coordinator and worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "frame")]
pub enum Frame {
    /// Which agents the worker has.
    Describe { agents: Vec<Wanted> },
    /// The answers, in the order of the questions; a line that says why not, instead of an agent.
    Described { agents: Vec<Result<AgentFacts, String>> },
    /// A call, as JSON in the payload.
    Call {
        key: CallKey,
        #[serde(rename = "loop")]
        kind: LoopKind,
        bytes: u64,
    },
    /// The worker does not make this call; another one may.
    Refused { why: String },
    /// The worker makes the call. It tells the version of its agent, and which manifests it lacks.
    Accepted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        lacks: Vec<TreeId>,
    },
    /// A part of a tree, in the payload.
    Object(Part),
    /// Everything that the other side lacked was sent.
    Sent,
    /// The files that the worker lacks, as a list of parts in the payload.
    Needs { bytes: u64 },
    /// The worker has everything, and begins.
    Began,
    /// Either side is alive.
    Beat,
    /// A file beside the reply, for people: the transcript, or an output of the agent.
    File { name: String, bytes: u64 },
    /// The reply to a call, as JSON in the payload. The new parts of its trees come before it.
    Reply { key: CallKey, bytes: u64 },
    /// The worker failed, and not the agent: the call may be made again.
    Failed { why: String },
}

/// A blob or a manifest: its hash, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Part {
    pub digest: Digest,
    pub bytes: u64,
}

impl Part {
    pub fn blob(self) -> BlobId {
        BlobId(self.digest)
    }
}

impl Frame {
    /// Reads a line. An empty one follows a payload and is no frame.
    pub fn of(line: &[u8]) -> io::Result<Option<Self>> {
        if line == b"\n" {
            return Ok(None);
        }
        serde_json::from_slice(line).map_err(|error| invalid(&format!("it sent no frame: {error}")))
    }
}

impl Hello {
    /// Returns why this program has no calls for such a worker.
    pub fn refusal(&self) -> Option<String> {
        let ours = env!("CARGO_PKG_VERSION");
        let is_same = self.skilltune_worker == PROTOCOL && self.program == ours;
        (!is_same).then(|| {
            let (theirs, protocol) = (shown(&self.program), self.skilltune_worker);
            format!("it has skilltune {theirs} with protocol {protocol}, and this is {ours} with protocol {PROTOCOL}")
        })
    }
}

/// The most that is shown of a worker's own words.
const SHOWN: usize = 300;

/// Returns what a worker said, as a line for people.
pub fn shown(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { ' ' } else { one }).take(SHOWN).collect()
}

/// Returns a line, its payload, and what follows. A payload ends a line too: `srun` holds back what ends in the middle of
/// one.
pub fn framed<'a>(line: &impl Serialize, payload: &'a [u8]) -> [Cow<'a, [u8]>; 3] {
    let end: &[u8] = if payload.is_empty() { b"" } else { b"\n" };
    [json_line(line).into(), payload.into(), end.into()]
}

/// The stream to the other side. A line is a frame, or a worker's greeting.
#[derive(Debug)]
pub struct Sender<W>(W);

impl<W: Write> Sender<W> {
    pub fn of(to: W) -> Self {
        Self(to)
    }

    pub fn send(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.send_with(line, &[])
    }

    /// Sends a line and its payload.
    pub fn send_with(&mut self, line: &impl Serialize, payload: &[u8]) -> io::Result<()> {
        framed(line, payload).iter().try_for_each(|piece| self.0.write_all(piece))
    }
}
