//! A call that a worker makes: what it lacks is sent, and its reply and the parts of its trees are taken in.
//!
//! A worker carries out the same code as this machine (`exported_call`), so its reply is read as if the call had been made here.
//! What it says of an edit is not believed: the edit is examined again. A worker that is lost is no failure of the
//! agent: another one makes the call.

use std::collections::BTreeSet;
use std::time::Duration;

use skilltune_phases::base::id::CallKey;
use skilltune_phases::runs::event::{Failure, FailureKind, Machine, Spent};

use super::call::{Job, KeyedCall, outcome};
use super::call_dir::CallDir;
use super::exported_call::{ExportedCall, FILES};
use super::reply::Reply;
use super::{EngineError, LoopEngine, ReadError};
use crate::disk::atomic::Durability;
use crate::snapshot::Limits;
use crate::workers::{Frame, LARGEST_REPLY, LONGEST_LIST, Link, Lost, Need, Part, Worker, parts, shown};

/// A call that was lost with so many workers is given up for now.
const MOST_LOST: u32 = 5;
/// The time for what comes before and after a call: copies, and the way of its result.
const SLACK: Duration = Duration::from_secs(900);
/// What a reply may bring besides artifacts: transcripts, evidence, manifests.
const BESIDES: u64 = 64 << 20;

/// Why a worker gave no reply that counts.
pub(super) enum Unmade {
    Lost(Lost),
    /// It makes no calls for this program.
    Unfit(String),
    /// It makes no calls with this need.
    Refused(String),
    Ours(EngineError),
}

impl From<Lost> for Unmade {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

impl<E> From<E> for Unmade
where
    EngineError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Ours(error.into())
    }
}

impl<L: LoopEngine> Job<L> {
    /// Has a worker make the call. Returns nothing if it was cancelled.
    pub(super) fn elsewhere(&self, call: &KeyedCall, dir: &CallDir) -> Result<Option<Reply<L>>, EngineError> {
        let (workers, keys, need) = (&self.services.workers, &self.services.keys, self.need());
        dir.note(call.input.as_deref())?;
        let (mut lost, mut why, mut avoid, mut has_begun) = (0, None, None, false);
        loop {
            let lease = match workers.lease(&need, L::pair(&self.step), avoid.as_deref(), &self.cancel_token)
            {
                Ok(Some(lease)) => lease,
                Ok(None) => return Ok(None),
                Err(no_worker) => {
                    let failure = Failure::new(FailureKind::NoWorker, no_worker.to_string());
                    return Ok(Some(Reply::failed(call.key, failure)));
                }
            };
            let Worker { name, launch, .. } = lease.worker();
            let link = Link::start(launch, &self.cancel_token).map_err(Unmade::from);
            match link.and_then(|link| self.ask(link, name, call.key, dir, &mut has_begun)) {
                Ok(reply) => {
                    lease.ended(false);
                    let machine = reply.machine.map(|machine| Machine { lost, why, ..machine });
                    return Ok(Some(Reply { machine, ..reply }));
                }
                Err(Unmade::Ours(error)) => return Err(error),
                Err(Unmade::Lost(Lost::Cancelled)) => return Ok(None),
                Err(Unmade::Unfit(why)) => lease.refuse(None, &keys.hide(&why)),
                Err(Unmade::Refused(why)) => lease.refuse(Some(&need), &keys.hide(&why)),
                Err(Unmade::Lost(how)) => {
                    lease.ended(true);
                    let how = format!("{name}: {how}");
                    avoid = Some(name.clone());
                    drop(lease);
                    lost += 1;
                    if lost == MOST_LOST {
                        return Ok(Some(self.given_up(call.key, &how, has_begun)));
                    }
                    why = Some(keys.hide(&how).into());
                    // The same machine may need a moment; another one is free at once.
                    if self.cancel_token.cancelled_within(workers.backoff * (lost - 1)) {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn need(&self) -> Need {
        let (asking, order) = (self.asking(), self.request.as_ref());
        let is_agent = order.command.is_none();
        let agent = is_agent.then(|| (asking.cast().agent.clone(), asking.cast().fingerprint.digest()));
        Need { agent, commands: !is_agent || order.setup.is_some() }
    }

    /// Returns the failure of a call that was lost too often. What an agent that had begun has cost is unknown.
    fn given_up(&self, key: CallKey, how: &str, has_begun: bool) -> Reply<L> {
        let why = format!("the call was lost {MOST_LOST} times, at last with {how}");
        let failed = Reply::failed(key, Failure::new(FailureKind::WorkerLost, why));
        let usd = failed.spent.usd.filter(|_| !has_begun);
        Reply { spent: Spent { usd, ..failed.spent }, ..failed }.without_keys(&self.services.keys)
    }

    /// Returns the reply of a worker, or the one in a file, without the keys of this machine.
    pub(super) fn ask(
        &self,
        mut link: Link,
        worker: &str,
        key: CallKey,
        dir: &CallDir,
        has_begun: &mut bool,
    ) -> Result<Reply<L>, Unmade> {
        let hello = link.hello(None)?;
        if let Some(why) = hello.refusal() {
            return Err(Unmade::Unfit(why));
        }
        let agent = self.hand_over(&mut link, key)?.map(|agent| shown(&agent).into());
        *has_begun = true;
        link.allow(self.longest());
        let reply = self.take_in(&mut link, key, dir)?;
        link.close();
        let host = shown(&hello.machine).into();
        let machine = Some(Machine { worker: worker.into(), host, agent, lost: 0, why: None });
        self.examined(Reply { machine, ..reply }.without_keys(&self.services.keys))
    }

    /// Returns how long a call may take, from the worker's word that it begins until its reply.
    fn longest(&self) -> Duration {
        let order = self.request.as_ref();
        let own = match &order.command {
            Some(command) => command.seconds,
            None => self.asking().cast().timeout_seconds,
        };
        let setup = order.setup.as_ref().map_or(0, |setup| setup.seconds);
        Duration::from_secs(own.saturating_add(setup)).saturating_add(SLACK)
    }

    /// Sends the call and what the worker lacks. Returns the version of the agent that begins. To a file nothing is sent.
    fn hand_over(&self, link: &mut Link, key: CallKey) -> Result<Option<String>, Unmade> {
        let objects = &self.services.objects;
        let call = ExportedCall::of(self);
        let (json, trees) = (call.json(), call.trees());
        link.send(&Frame::Call { key, kind: L::KIND, bytes: json.len() as u64 }, &json)?;
        let (agent, lacks) = match link.frame()? {
            Frame::Accepted { agent, lacks } => (agent, lacks),
            Frame::Refused { why } => return Err(Unmade::Refused(shown(&why))),
            other => return Err(Lost::unexpected(&other).into()),
        };
        let lacks = if link.is_file() { Vec::new() } else { lacks };
        for &tree in trees.iter().filter(|tree| lacks.contains(tree)) {
            self.send(link, parts::manifest(objects, tree)?)?;
        }
        link.send(&Frame::Sent, &[])?;
        loop {
            match link.frame()? {
                Frame::Began => return Ok(agent),
                Frame::Needs { bytes } if !link.is_file() => {
                    let list = link.bytes(bytes, LONGEST_LIST)?;
                    let needed: BTreeSet<Part> = serde_json::from_slice(&list)
                        .map_err(|error| broken(&format!("its list of parts cannot be read: {error}")))?;
                    for &part in parts::files(objects, &trees)?.intersection(&needed) {
                        self.send(link, part)?;
                    }
                    link.send(&Frame::Sent, &[])?;
                }
                other => return Err(Lost::unexpected(&other).into()),
            }
        }
    }

    fn send(&self, link: &mut Link, part: Part) -> Result<(), Unmade> {
        let bytes = self.services.objects.read(part.blob())?;
        Ok(link.send(&Frame::Object(part), &bytes)?)
    }

    /// Takes in the parts of the answer's trees, the files beside the reply, and the reply.
    fn take_in(&self, link: &mut Link, key: CallKey, dir: &CallDir) -> Result<Reply<L>, Unmade> {
        let mut room = self.room()?;
        loop {
            match link.frame()? {
                Frame::Object(part) => {
                    room = match (room.files.checked_sub(1), room.bytes.checked_sub(part.bytes)) {
                        (Some(files), Some(bytes)) => Limits { files, bytes },
                        (None, _) | (_, None) => return Err(broken("it sent more than a call may leave")),
                    };
                    let stored = parts::store(&self.services.objects, part, link.payload(part.bytes))?;
                    stored.map_err(|error| link.failed(&error))?;
                }
                Frame::File { name, bytes } => {
                    let text = link.bytes(bytes, self.services.limits.output_bytes)?;
                    if let Some(name) = FILES.into_iter().find(|known| *known == name) {
                        dir.file(name).replace(&text, Durability::Order)?;
                    }
                }
                Frame::Reply { key: replied, bytes } => {
                    let json = link.bytes(bytes, LARGEST_REPLY)?;
                    let reply: Reply<L> = serde_json::from_slice(&json)
                        .map_err(|error| broken(&format!("its reply cannot be read: {error}")))?;
                    if replied != key || reply.key != key {
                        return Err(broken("it replied to another call"));
                    }
                    return Ok(reply);
                }
                other => return Err(Lost::unexpected(&other).into()),
            }
        }
    }

    /// Returns the most that a worker may send.
    fn room(&self) -> Result<Limits, EngineError> {
        let mut room = self.services.limits.artifacts;
        for placement in &self.request.as_ref().placements {
            room = room.besides(&self.services.objects.manifest(placement.tree)?);
        }
        let Limits { files, bytes } = room;
        Ok(Limits { files: files.saturating_mul(2), bytes: bytes.saturating_mul(2).saturating_add(BESIDES) })
    }

    /// Examines a reply of a worker as that of an agent.
    fn examined(&self, reply: Reply<L>) -> Result<Reply<L>, Unmade> {
        let Spent { usd, cached, .. } = reply.spent;
        if cached {
            return Err(broken("it returned the answer of another run"));
        }
        if usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            return Err(broken("it reported an impossible cost"));
        }
        let outcome = match reply.outcome {
            Ok(answer) if !L::fits(&self.step, &answer) => {
                return Err(broken("it replied with an answer to another kind of step"));
            }
            Ok(answer)
                if L::trees(&answer).into_iter().any(|tree| !self.services.objects.contains_tree(tree)) =>
            {
                return Err(broken("it sent only a part of what its reply names"));
            }
            Ok(answer) => outcome(self.examined_answer(answer))?,
            Err(Failure {
                kind: FailureKind::NoWorker | FailureKind::NotTrusted | FailureKind::WorkerLost,
                ..
            }) => {
                return Err(broken("it reported a failure that only a coordinator can know"));
            }
            failed => failed,
        };
        Ok(Reply { outcome, ..reply })
    }

    fn examined_answer(&self, answer: L::Answer) -> Result<L::Answer, ReadError> {
        let answer = L::examined(&self.services, &self.request, answer)?;
        self.check_keys(&answer)?;
        Ok(answer)
    }
}

fn broken(why: &str) -> Unmade {
    Unmade::Lost(Lost::Gone(why.to_owned()))
}
