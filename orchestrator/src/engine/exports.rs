//! Calls that another scheduler makes: each is written into a folder, and its reply is taken from there.
//!
//! The folder may come from anywhere, so a reply in it is read like that of a worker.

use std::path::PathBuf;

use rustix::fs::Mode;
use skilltune_phases::base::id::CallKey;
use skilltune_phases::base::role::ByRole;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::runs::plan::Fingerprint;

use super::call::Job;
use super::call_dir::CallDir;
use super::exported_call::ExportedCall;
use super::reply::Reply;
use super::worker_call::Unmade;
use super::{EngineError, LoopEngine, Services};
use crate::disk::atomic::Draft;
use crate::disk::{Folder, SafePath};
use crate::workers::{Frame, Link, Lost, framed, parts};

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
    pub(super) fn taken(&self, key: CallKey, dir: &CallDir) -> Result<Option<Reply<L>>, EngineError> {
        let Some(exports) = &self.services.exports else { return Ok(None) };
        let name = format!("{}.reply", key.short());
        let asked = match SafePath::below(&exports.folder, &name).open() {
            Ok(None) => return Ok(None),
            Ok(Some(file)) => {
                dir.note(None)?;
                self.ask(Link::of_file(file, &self.cancel_token), "exported", key, dir, &mut false)
            }
            // Somebody else may have made it.
            Err(error) => Err(Lost::Gone(error.to_string()).into()),
        };
        let why = match asked {
            Ok(reply) => return Ok(Some(reply)),
            Err(Unmade::Ours(error)) => return Err(error),
            Err(Unmade::Lost(Lost::Cancelled)) => return Ok(None),
            Err(Unmade::Lost(lost)) => lost.to_string(),
            Err(Unmade::Unfit(why) | Unmade::Refused(why)) => why,
        };
        let why = format!("the reply in {name} cannot be used: {why}");
        let failed = Reply::failed(key, Failure::new(FailureKind::WorkerLost, why));
        Ok(Some(failed.without_keys(&self.services.keys)))
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
        let mut write = |frame: &Frame, payload: &[u8]| {
            framed(frame, payload).iter().try_for_each(|piece| draft.write(piece))
        };
        write(&Frame::Call { key, kind: L::KIND, bytes: json.len() as u64 }, &json)?;
        for part in parts::all(objects, &trees)? {
            write(&Frame::Object(part), &objects.read(part.blob())?)?;
        }
        write(&Frame::Sent, &[])?;
        draft.publish(&folder, key.short().as_ref())?;
        Ok(())
    }
}
