//! Makes one call of a coordinator, and sends its reply.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use skilltune_orchestrator::agent::{Agent, Wanted};
use skilltune_orchestrator::disk::{Lock, SafePath};
use skilltune_orchestrator::engine::{
    Caches, CallLimits, ExportedCall, LoopEngine, MadeReply, Ports, Services,
};
use skilltune_orchestrator::process::{Canceller, GuardianPool, can_confine};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::AnswerCache;
use skilltune_orchestrator::workers::{Frame, Heard as Frames, Part, WORKERS_PATIENCE, Workers, parts};
use skilltune_phases::base::id::{BlobId, CallKey, TreeId};
use skilltune_phases::skills::keys::Keys;

use super::watch::Watch;
use super::{End, Taking, locked};
use crate::casting::{self, elsewhere};
use crate::report::ui::Ui;
use crate::runs::session::GRACE;
use crate::runs::under_guard::{GUARDIAN, GUARDS};
use crate::runs::versions;
use crate::terminal::complaint::ours;

/// The call itself has texts only: prompts, briefs and the plan.
const LARGEST_CALL: u64 = 256 << 20;
/// How long a worker that lost its coordinator may still take to end.
const OTHERS_END: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(100);

/// An agent of this machine, and its version.
struct Own {
    part: casting::Part,
    version: Option<String>,
}

impl Taking<'_> {
    pub(super) fn call<L: Ui + LoopEngine>(mut self, key: CallKey, bytes: u64) -> Result<(), End> {
        let json = self.inbox.bytes(bytes, LARGEST_CALL, WORKERS_PATIENCE)?;
        let call: ExportedCall<L> = serde_json::from_slice(&json)
            .map_err(|error| End::Refused(format!("it cannot read the call: {error}")))?;
        drop(json);
        let own = self.own_agent(&call)?;
        let _held = self.hold(key)?;
        self.home.create().map_err(ours)?;
        let objects = Objects::at(self.home.objects());
        let trees = call.trees();
        let given = self.receive(&objects, &trees, own.as_ref().and_then(|own| own.version.clone()))?;
        let work = self.place.join("work").join(key.short());
        let services = self.services(&call, (objects.clone(), work.clone()), own)?;
        let pool = services.pool.clone();
        let canceller = Canceller::new().map_err(ours)?;
        let Some(call) = call.ready(services, key, canceller.cancel_token()).map_err(ours)? else {
            return Err(End::Refused("it would make another call of this request".to_owned()));
        };
        self.send(&Frame::Began, &[])?;
        let (out, is_live) = (self.out.clone(), self.is_live);
        // Nothing cancels the call of a file.
        let _watch =
            if is_live { Ok(Watch::start(self.inbox, out.clone(), canceller)) } else { Err(canceller) };
        let made = call.carry_out();
        pool.close();
        // The reply is kept in the folder of the run.
        let _ = work.remove();
        let reply = made.map_err(ours)?.ok_or(End::Gone)?;
        let MadeReply { json, trees: made, files } = reply;
        let new: Vec<TreeId> = made.into_iter().filter(|tree| !trees.contains(tree)).collect();
        let new = parts::all(&objects, &new).map_err(ours)?;
        let mut out = locked(&out);
        for part in new.into_iter().filter(|part| !given.contains(part)) {
            out.send_with(&Frame::Object(part), &objects.read(part.blob()).map_err(ours)?)?;
        }
        for (name, text) in files {
            let bytes = text.len() as u64;
            out.send_with(&Frame::File { name: name.to_owned(), bytes }, text.as_bytes())?;
        }
        Ok(out.send_with(&Frame::Reply { key, bytes: json.len() as u64 }, &json)?)
    }

    /// Returns the agent that makes the call, if it is the one that the run has; none for a command.
    fn own_agent<L: Ui + LoopEngine>(&self, call: &ExportedCall<L>) -> Result<Option<Own>, End> {
        let (order, plan) = (call.order(), call.plan());
        if (order.command.is_some() || order.setup.is_some()) && !self.allows_commands {
            let why = "it runs no commands of suites and projects; start it with --allow-commands to let it";
            return Err(End::Refused(why.to_owned()));
        }
        let is_confined = order.command.iter().chain(&order.setup).any(|command| command.confined);
        if is_confined && !can_confine() {
            return Err(End::Refused("its system cannot confine commands".to_owned()));
        }
        if order.repository && casting::git(self.env).is_err() {
            return Err(End::Refused("it has no git".to_owned()));
        }
        if order.command.is_some() {
            return Ok(None);
        }
        let role = L::callable(plan).into_iter().find(|one| one.role == order.role);
        let Some((role, cast)) = role.zip(plan.roles.get(&order.role)) else {
            return Err(End::Refused(format!("the run has no {}", order.role)));
        };
        let wanted = Wanted {
            agent: cast.agent.clone(),
            model: cast.model.clone(),
            isolation: cast.isolation,
            via: cast.via.clone(),
            rights: role.rights,
        };
        let own = self.own(&wanted)?;
        let now = own.part.agent.portable_fingerprint(own.version.as_deref());
        let wanted = call.agent().unwrap_or(&cast.fingerprint);
        if now != *wanted {
            let changed = wanted.changed(&now).join(", ");
            return Err(End::Refused(format!(
                "its {} is not the one of the run: other {changed}",
                cast.agent
            )));
        }
        if own.part.rights != cast.rights {
            let (here, run) = (own.part.rights.words(), cast.rights.words());
            return Err(End::Refused(format!(
                "its rights are enforced by other means: {here} here, {run} in the run"
            )));
        }
        Ok(Some(own))
    }

    fn own(&self, wanted: &Wanted) -> Result<Own, End> {
        let part = elsewhere::own_part(wanted, &self.settings, self.env);
        let part = part.map_err(|why| End::Refused(why.in_one_line()))?;
        let version = versions::of(&part.agent, self.place.join("versions").path(), self.env);
        if part.agent.versioned().is_some() && version.is_none() {
            return Err(End::Failed(format!("its {} does not tell its version", wanted.agent)));
        }
        Ok(Own { part, version })
    }

    /// Answers which of these agents this machine has.
    pub(super) fn describe(&self, wanted: &[Wanted]) -> Result<(), End> {
        let confines = casting::system_confines(&self.settings);
        let facts = |wanted| {
            let Own { part, version } = self.own(wanted).map_err(End::into_line)?;
            Ok(part.agent.facts(version.as_deref(), confines))
        };
        self.send(&Frame::Described { agents: wanted.iter().map(facts).collect() }, &[])
    }

    /// Holds the call, so that a worker that lost its coordinator and is ending does not make it at the same time.
    fn hold(&mut self, key: CallKey) -> Result<Lock, End> {
        self.place.join("held").make().map_err(ours)?;
        let file = self.place.join("held").join(key.short());
        if !self.is_live {
            let lock = file.lock(FlockOperation::LockExclusive).map_err(ours)?;
            return lock.ok_or_else(|| End::Failed("the call is held".to_owned()));
        }
        let since = Instant::now();
        loop {
            if let Some(lock) = file.lock(FlockOperation::NonBlockingLockExclusive).map_err(ours)? {
                return Ok(lock);
            }
            if since.elapsed() > OTHERS_END {
                return Err(End::Failed("another worker on the machine still makes this call".to_owned()));
            }
            self.send(&Frame::Beat, &[])?;
            if let Frames::Closed = self.inbox.next(LOOK, &[])? {
                return Err(End::Gone);
            }
        }
    }

    /// Asks for what the store lacks, and stores it. Returns the files of all trees.
    fn receive(
        &mut self,
        objects: &Objects,
        trees: &[TreeId],
        agent: Option<String>,
    ) -> Result<BTreeSet<Part>, End> {
        let lacks = trees.iter().copied().filter(|tree| !objects.contains(BlobId(tree.0))).collect();
        self.send(&Frame::Accepted { agent, lacks }, &[])?;
        loop {
            match self.next()? {
                None => return Err(End::Gone),
                Some(Frame::Object(part)) => {
                    let payload = self.inbox.payload(part.bytes, WORKERS_PATIENCE);
                    parts::store(objects, part, payload).map_err(|not_stored| match not_stored {
                        parts::NotStored::Lost(error) => End::from(error),
                        parts::NotStored::Wrong(digest) => End::Failed(format!("{digest} arrived damaged")),
                        parts::NotStored::Ours(error) => ours(error).into(),
                    })?;
                }
                Some(Frame::Sent) => {
                    let files = parts::files(objects, trees).map_err(ours)?;
                    let lacking = parts::lacking(objects, &files);
                    match (lacking.is_empty(), self.is_live) {
                        (true, _) => return Ok(files),
                        (false, true) => {
                            let list = serde_json::to_vec(&lacking).map_err(io::Error::other)?;
                            self.send(&Frame::Needs { bytes: list.len() as u64 }, &list)?;
                        }
                        (false, false) => {
                            return Err(End::Failed("the file lacks parts of the call".to_owned()));
                        }
                    }
                }
                Some(_) => {}
            }
        }
    }

    fn services<L: Ui + LoopEngine>(
        &self,
        call: &ExportedCall<L>,
        (objects, work): (Objects, SafePath),
        own: Option<Own>,
    ) -> Result<Services, End> {
        let plan = call.plan();
        let exe = std::env::current_exe().map_err(ours)?;
        let folder = self.home.run(&plan.run);
        folder.create().map_err(ours)?;
        let mark = (GUARDS.to_owned(), folder.mark());
        let secrets = L::secrets(plan, &objects);
        let agent = own.map(|own| own.part.agent);
        Ok(Services {
            keys: Keys::new(agent.iter().flat_map(Agent::keys).chain(secrets)),
            objects,
            folder,
            cache: AnswerCache::of(&self.home, &self.env.state).map_err(ours)?,
            models: BTreeMap::new(),
            // A folder for each call: its caches of build tools are no other call's.
            work,
            own: vec![self.env.cache.clone()],
            cast: agent.map(|agent| (call.order().role.clone(), agent)).into_iter().collect(),
            pool: GuardianPool::new(exe, GUARDIAN, mark, 1),
            limits: CallLimits { output_bytes: call.output_bytes, artifacts: call.artifacts, grace: GRACE },
            prices: call.prices.clone(),
            workers: Workers::of(Vec::new(), Duration::ZERO),
            exports: None,
            git: casting::git(self.env).ok(),
            caches: Caches::default(),
            ports: Ports::default(),
            guard: None,
        })
    }
}
