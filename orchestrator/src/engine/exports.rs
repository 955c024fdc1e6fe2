//! Calls that another scheduler makes: each is written into a folder, and its reply is taken from there.
//!
//! The folder may come from anywhere, so a reply in it is read like that of a worker.

use std::path::PathBuf;

use rustix::fs::Mode;
use skilltune_phases::base::id::CallKey;
use skilltune_phases::base::role::ByRole;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::runs::plan::Fingerprint;

use super::call::{Job, Made};
use super::call_dir::CallDir;
use super::exported_call::ExportedCall;
use super::reply::Reply;
use super::worker_call::{Unmade, machine};
use super::{EngineError, LoopEngine, Services};
use crate::disk::atomic::Draft;
use crate::disk::{Folder, SafePath};
use crate::workers::{Frame, Link, Lost, json_line, parts, shown};

/// The ending of a reply's name.
const REPLY: &str = "reply";

const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// A folder of calls and their replies.
#[derive(Clone, Debug)]
pub struct Exports {
    pub folder: PathBuf,
    /// Whether calls without a reply are written there; otherwise they are made as usual.
    pub writes: bool,
    /// The agents of a run on this machine, as any other machine can compare them.
    pub agents: ByRole<Fingerprint>,
}

impl Services {
    /// Returns whether calls without a reply are written for another scheduler.
    pub(super) fn exports_calls(&self) -> bool {
        self.exports.as_ref().is_some_and(|exports| exports.writes)
    }
}

impl<L: LoopEngine> Job<L> {
    /// Takes the reply to this call from the folder of exports, if it is there.
    pub(super) fn taken(&self, key: CallKey, dir: &CallDir) -> Result<Option<Made<L>>, EngineError> {
        let Some(exports) = &self.services.exports else { return Ok(None) };
        let place = SafePath::below(&exports.folder, format!("{}.{REPLY}", key.short()));
        if !place.exists() {
            return Ok(None);
        }
        dir.note(None)?;
        let file = match place.open() {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            // Somebody else may have made it.
            Err(error) => return Ok(Some(Made::of(unusable(key, &error.to_string())))),
        };
        let reply = match self.read_reply(Link::of_file(file), key, dir) {
            Ok(reply) => reply,
            Err(Unmade::Ours(error)) => return Err(error),
            Err(Unmade::Lost(lost)) => unusable(key, &lost.to_string()),
            Err(Unmade::Refused { why, .. }) => unusable(key, &why),
        };
        Ok(Some(Made::of(reply)))
    }

    fn read_reply(&self, mut link: Link, key: CallKey, dir: &CallDir) -> Result<Reply<L>, Unmade> {
        let hello = link.hello(None, &self.cancel_token)?;
        if let Some(why) = hello.refusal() {
            return Err(Lost::Broken(why).into());
        }
        let agent = match link.next(&self.cancel_token)? {
            Frame::Accepted { agent, .. } => agent,
            Frame::Refused { why } => return Err(Lost::Gone(shown(&why)).into()),
            other => return Err(Lost::unexpected(&other).into()),
        };
        match link.next(&self.cancel_token)? {
            Frame::Began => {}
            other => return Err(Lost::unexpected(&other).into()),
        }
        let machine = machine("exported", &hello, agent.as_deref());
        let reply = self.received(&mut link, key, dir, machine)?;
        self.examined(reply)
    }

    /// Writes the call with every part of its trees, because a file cannot ask for missing ones.
    pub(super) fn export(&self, key: CallKey) -> Result<(), EngineError> {
        let Some(exports) = &self.services.exports else { return Ok(()) };
        let place = SafePath::below(&exports.folder, key.short());
        if place.exists() {
            return Ok(());
        }
        let (call, objects) = (ExportedCall::of(self), &self.services.objects);
        let (json, trees) = (call.json(), call.trees());
        // It holds what a person brought, and what the suite keeps from agents.
        let folder = Folder::open(&exports.folder)?;
        let mut draft = Draft::new(&folder, PRIVATE)?;
        draft.write(&json_line(&Frame::Call { key, kind: L::KIND, bytes: json.len() as u64 }))?;
        draft.write(&json)?;
        for part in parts::all(objects, &trees)? {
            draft.write(&json_line(&Frame::Object(part)))?;
            draft.write(&objects.read(part.blob())?)?;
        }
        draft.write(&json_line(&Frame::Sent))?;
        draft.publish(&folder, key.short().as_ref())?;
        Ok(())
    }
}

fn unusable<L: LoopEngine>(key: CallKey, why: &str) -> Reply<L> {
    let why = format!("the reply in {}.{REPLY} cannot be used: {why}", key.short());
    Reply::failed(key, Failure::new(FailureKind::WorkerLost, why))
}
