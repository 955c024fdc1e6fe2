//! A call that a worker makes: what it lacks is sent, and its reply and the parts of its trees are taken in.
//!
//! A worker carries out the same code as this machine (`exported_call`), so its reply is read as if the call had been made here.
//! What it says of an edit is not believed: the edit is examined again. A worker that is lost is no failure of the
//! agent: another one makes the call.

use std::time::Duration;

use skilltune_phases::asking::order::Order;
use skilltune_phases::base::id::{CallKey, TreeId};
use skilltune_phases::runs::event::{Failure, FailureKind, Machine, Spent};

use super::call::{Asked, Asking, Job, Made};
use super::call_dir::CallDir;
use super::exported_call::{ExportedCall, FILES};
use super::refusal::{self, link_outside, new_repository};
use super::reply::Reply;
use super::{EngineError, LoopEngine, ReadError, Services};
use crate::disk::atomic::Durability;
use crate::snapshot::{Limits, Manifest};
use crate::workers::parts::{self, NotStored};
use crate::workers::{Frame, Hello, LARGEST_REPLY, LONGEST_LIST, Lease, Link, Lost, Need, Part, shown};

/// A call that was lost with so many workers is given up for now.
const MOST_LOST: u32 = 5;
/// The time for what comes before and after a call: copies, and the way of its result.
const SLACK: Duration = Duration::from_secs(900);
/// What a reply may bring besides artifacts: transcripts, evidence, manifests.
const BESIDES: u64 = 64 << 20;

/// Why a worker did not make a call.
pub(super) enum Unmade {
    Lost(Lost),
    /// It makes no calls with this need; or none at all.
    Refused {
        need: Option<Need>,
        why: String,
    },
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
    pub(super) fn elsewhere(
        &self,
        key: CallKey,
        dir: &CallDir,
        asking: &Asking<'_>,
        asked: &Asked<'_>,
    ) -> Result<Option<Made<L>>, EngineError> {
        let (workers, need) = (&self.services.workers, need(asking, asked));
        dir.note(asked.text())?;
        let (mut lost, mut why, mut avoid, mut has_begun) = (0, None, None, false);
        loop {
            let lease = match workers.lease(&need, L::pair(&self.step), avoid.as_deref(), &self.cancel_token)
            {
                Ok(Some(lease)) => lease,
                Ok(None) => return Ok(None),
                Err(no_worker) => {
                    return Ok(Some(Made::Not(Failure::new(FailureKind::NoWorker, no_worker.to_string()))));
                }
            };
            match self.ask(&lease, key, dir, (&need, &mut has_begun)) {
                Ok(reply) => {
                    lease.ended(false);
                    let machine = reply.machine.map(|machine| Machine { lost, why, ..machine });
                    return Ok(Some(Made::of(Reply { machine, ..reply })));
                }
                Err(Unmade::Ours(error)) => return Err(error),
                Err(Unmade::Lost(Lost::Cancelled)) => return Ok(None),
                Err(Unmade::Refused { need, why }) => {
                    lease.refuse(need.as_ref(), &self.services.keys.hide(&why));
                }
                Err(Unmade::Lost(how)) => {
                    lease.ended(true);
                    let how = format!("{}: {how}", lease.worker().name);
                    avoid = Some(lease.worker().name.clone());
                    drop(lease);
                    lost += 1;
                    if lost == MOST_LOST {
                        return Ok(Some(Made::of(self.given_up(key, &how, has_begun))));
                    }
                    why = Some(self.services.keys.hide(&how).into());
                    // The same machine may need a moment; another one is free at once.
                    if self.cancel_token.cancelled_within(workers.backoff * (lost - 1)) {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Returns the failure of a call that was lost too often. What an agent that had begun has cost is unknown.
    fn given_up(&self, key: CallKey, how: &str, has_begun: bool) -> Reply<L> {
        let why = format!("the call was lost {MOST_LOST} times, at last with {how}");
        let failed = Reply::failed(key, Failure::new(FailureKind::WorkerLost, why));
        let usd = failed.spent.usd.filter(|_| !has_begun);
        Reply { spent: Spent { usd, ..failed.spent }, ..failed }.without_keys(&self.services.keys)
    }

    fn ask(
        &self,
        lease: &Lease<'_>,
        key: CallKey,
        dir: &CallDir,
        (need, has_begun): (&Need, &mut bool),
    ) -> Result<Reply<L>, Unmade> {
        let mut link = Link::start(&lease.worker().launch)?;
        let hello = link.hello(None, &self.cancel_token)?;
        if let Some(why) = hello.refusal() {
            return Err(Unmade::Refused { need: None, why });
        }
        let agent = self.hand_over(&mut link, key, need)?;
        *has_begun = true;
        link.allow(self.longest());
        let machine = machine(&lease.worker().name, &hello, agent.as_deref());
        let reply = self.received(&mut link, key, dir, machine)?;
        link.close();
        self.examined(reply)
    }

    /// Takes in the reply that was made on this machine, without the keys of this one.
    pub(super) fn received(
        &self,
        link: &mut Link,
        key: CallKey,
        dir: &CallDir,
        machine: Machine,
    ) -> Result<Reply<L>, Unmade> {
        let reply = self.take_in(link, key, dir)?;
        Ok(Reply { machine: Some(machine), ..reply }.without_keys(&self.services.keys))
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

    /// Sends the call and what the worker lacks. Returns the version of the agent that begins.
    fn hand_over(&self, link: &mut Link, key: CallKey, need: &Need) -> Result<Option<String>, Unmade> {
        let objects = &self.services.objects;
        let call = ExportedCall::of(self);
        let (json, trees) = (call.json(), call.trees());
        link.send(&Frame::Call { key, kind: L::KIND, bytes: json.len() as u64 }, &json)?;
        let (agent, lacks) = match link.next(&self.cancel_token)? {
            Frame::Accepted { agent, lacks } => (agent, lacks),
            Frame::Refused { why } => {
                return Err(Unmade::Refused { need: Some(need.clone()), why: shown(&why) });
            }
            other => return Err(Lost::unexpected(&other).into()),
        };
        for &tree in lacks.iter().filter(|tree| trees.contains(tree)) {
            self.send(link, parts::manifest(objects, tree)?)?;
        }
        link.send(&Frame::Sent, &[])?;
        loop {
            match link.next(&self.cancel_token)? {
                Frame::Began => return Ok(agent),
                Frame::Needs { bytes } => {
                    let list = link.bytes(bytes, LONGEST_LIST)?;
                    let needed: Vec<Part> = serde_json::from_slice(&list)
                        .map_err(|error| broken(&format!("its list of parts cannot be read: {error}")))?;
                    let all = parts::files(objects, &trees)?;
                    for part in needed.into_iter().filter(|part| all.contains(part)) {
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
        let mut room = Room::of(&self.services, self.request.as_ref())?;
        loop {
            match link.next(&self.cancel_token)? {
                Frame::Object(part) => {
                    room.take(part)?;
                    match parts::store(&self.services.objects, part, link.payload(part.bytes)) {
                        Ok(()) => {}
                        Err(NotStored::Lost(error)) => return Err(link.failed(&error).into()),
                        Err(NotStored::Wrong(_)) => {
                            return Err(broken("it sent a part that has another hash"));
                        }
                        Err(NotStored::Ours(error)) => return Err(error.into()),
                    }
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

    /// Examines a reply of a worker as that of an agent.
    pub(super) fn examined(&self, reply: Reply<L>) -> Result<Reply<L>, Unmade> {
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
            Ok(answer) => match self.examined_edit(answer) {
                Ok(answer) => Ok(answer),
                Err(ReadError::Agent(failure)) => Err(failure),
                Err(ReadError::Ours(error)) => return Err(Unmade::Ours(error)),
            },
            failed => failed,
        };
        Ok(Reply { outcome, ..reply })
    }

    /// Examines an edit of a person's folder again: what must never be in one must not depend on a worker.
    fn examined_edit(&self, answer: L::Answer) -> Result<L::Answer, ReadError> {
        let Some(base) = L::base(&self.request) else {
            return L::examined(&self.services, &self.request, answer);
        };
        let (services, made) = (&*self.services, L::trees(&answer));
        refusal::check_keys(services, &base, &made)?;
        let manifest = |tree: TreeId| services.objects.manifest(tree);
        let was = base.first().map(|&tree| manifest(tree)).transpose()?.unwrap_or_default();
        for tree in made {
            let now: Manifest = manifest(tree)?;
            if let Some(path) = new_repository(&was, &now).or_else(|| link_outside(&was, &now)) {
                let why = format!("a worker returned an edit that this machine refuses: {path}");
                return Err(Failure::new(FailureKind::Gate, why).into());
            }
        }
        L::examined(services, &self.request, answer)
    }
}

/// The most that a worker may send.
struct Room {
    files: u64,
    bytes: u64,
}

impl Room {
    fn of(services: &Services, order: &Order) -> Result<Self, EngineError> {
        let mut limits = services.limits.artifacts;
        for placement in &order.placements {
            limits = limits.besides(&services.objects.manifest(placement.tree)?);
        }
        let Limits { files, bytes } = limits;
        Ok(Self { files: files.saturating_mul(2), bytes: bytes.saturating_mul(2).saturating_add(BESIDES) })
    }

    fn take(&mut self, part: Part) -> Result<(), Unmade> {
        let left = self.files.checked_sub(1).zip(self.bytes.checked_sub(part.bytes));
        let Some((files, bytes)) = left else { return Err(broken("it sent more than a call may leave")) };
        (self.files, self.bytes) = (files, bytes);
        Ok(())
    }
}

impl Asked<'_> {
    /// Returns the prompt, or the input of a command.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Agent { prompt, .. } => Some(prompt),
            Self::Command(command) => command.input.as_deref(),
        }
    }
}

fn need(asking: &Asking<'_>, asked: &Asked<'_>) -> Need {
    let agent = match asked {
        Asked::Agent { .. } => Some((asking.cast().agent.clone(), asking.cast().fingerprint.digest())),
        Asked::Command(_) => None,
    };
    let commands = asking.order.command.is_some() || asking.order.setup.is_some();
    Need { agent, commands }
}

/// Returns the machine of a worker, as it names itself.
pub(super) fn machine(worker: &str, hello: &Hello, agent: Option<&str>) -> Machine {
    let (host, agent) = (shown(&hello.machine).into(), agent.map(|agent| shown(agent).into()));
    Machine { worker: worker.into(), host, agent, lost: 0, why: None }
}

fn broken(why: &str) -> Unmade {
    Unmade::Lost(Lost::Broken(why.to_owned()))
}
