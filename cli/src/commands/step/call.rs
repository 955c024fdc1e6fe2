//! Makes one call of a coordinator, and sends its reply.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use skilltune_orchestrator::agent::Wanted;
use skilltune_orchestrator::disk::{Lock, SafePath};
use skilltune_orchestrator::engine::{ExportedCall, LoopEngine, Services};
use skilltune_orchestrator::process::{Canceller, can_confine};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::workers::{Frame, Part, Patience, WORKERS_PATIENCE, parts};
use skilltune_phases::base::id::{BlobId, CallKey, TreeId};

use super::{Taking, locked, lost, watch};
use crate::casting::{self, Casting, Part as OwnPart, elsewhere};
use crate::report::ui::Ui;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::{session, versions};
use crate::terminal::complaint::{Complaint, ours};

/// The call itself has texts only: prompts, briefs and the plan.
const LARGEST_CALL: u64 = 256 << 20;
/// How long a worker that lost its coordinator may still take to end.
const OTHERS_END: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(100);

impl Taking<'_> {
    pub(super) fn call<L: Ui + LoopEngine>(mut self, key: CallKey, bytes: u64) -> Result<(), Complaint> {
        let json = self.inbox.bytes(bytes, LARGEST_CALL, Patience::of(WORKERS_PATIENCE)).map_err(lost)?;
        let call: ExportedCall<L> = serde_json::from_slice(&json)
            .map_err(|error| Complaint::input(format!("it cannot read the call: {error}")))?;
        drop(json);
        let (own, version) = self.own_agent(&call)?.unzip();
        let held = self.hold(key)?;
        let objects = Objects::at(self.home.objects());
        let trees = call.trees();
        let given = self.receive(&objects, &trees, version.flatten())?;
        let services = self.services(&call, key, own)?;
        let (pool, work) = (services.pool.clone(), services.work.clone());
        let canceller = Canceller::new().map_err(ours)?;
        let ready = call.ready(services, key, canceller.cancel_token()).map_err(ours)?;
        let call = ready.ok_or_else(|| Complaint::input("it would make another call of this request"))?;
        self.send(&Frame::Began, &[])?;
        // Nothing cancels the call of a file.
        let (watch, _canceller) = if self.is_live {
            (Some(watch::start(self.inbox, Arc::clone(&self.out), canceller)), None)
        } else {
            (None, Some(canceller))
        };
        let made = call.carry_out();
        // The agent has ended and its reply is kept. To send it may take longer than the other side is silent.
        drop((watch, held));
        pool.close();
        // The reply is kept in the folder of the run.
        let _ = work.remove();
        let reply = made.map_err(ours)?.ok_or_else(Complaint::interrupted)?;
        let new: Vec<TreeId> = reply.trees.into_iter().filter(|tree| !trees.contains(tree)).collect();
        let new = parts::all(&objects, &new).map_err(ours)?;
        let mut out = locked(&self.out);
        for part in new.into_iter().filter(|part| !given.contains(part)) {
            let bytes = objects.read(part.blob()).map_err(ours)?;
            out.send_with(&Frame::Object(part), &bytes).map_err(lost)?;
        }
        for (name, text) in reply.files {
            let frame = Frame::File { name: name.to_owned(), bytes: text.len() as u64 };
            out.send_with(&frame, text.as_bytes()).map_err(lost)?;
        }
        out.send_with(&Frame::Reply { key, bytes: reply.json.len() as u64 }, &reply.json).map_err(lost)
    }

    /// Returns the agent that makes the call, if it is the one that the run has, and its version; none for a command.
    fn own_agent<L: Ui + LoopEngine>(
        &self,
        call: &ExportedCall<L>,
    ) -> Result<Option<(OwnPart, Option<String>)>, Complaint> {
        let (order, plan) = (call.order(), call.plan());
        if (order.command.is_some() || order.setup.is_some()) && !self.allows_commands {
            return Err(Complaint::input(
                "it runs no commands of suites and projects; start it with --allow-commands to let it",
            ));
        }
        let is_confined = order.command.iter().chain(&order.setup).any(|command| command.confined);
        if is_confined && !can_confine() {
            return Err(Complaint::input("its system cannot confine commands"));
        }
        if order.repository && casting::git(self.env).is_err() {
            return Err(Complaint::input("it has no git"));
        }
        if order.command.is_some() {
            return Ok(None);
        }
        let role = L::callable(plan).into_iter().find(|one| one.role == order.role);
        let Some((role, cast)) = role.zip(plan.roles.get(&order.role)) else {
            return Err(Complaint::input(format!("the run has no {}", order.role)));
        };
        let (own, version) = self.own(&Wanted {
            agent: cast.agent.clone(),
            model: cast.model.clone(),
            isolation: cast.isolation,
            via: cast.via.clone(),
            rights: role.rights,
        })?;
        let now = own.agent.portable_fingerprint(version.as_deref());
        let wanted = call.agent().unwrap_or(&cast.fingerprint);
        if now != *wanted {
            let changed = wanted.changed(&now).join(", ");
            let why = format!("its {} is not the one of the run: other {changed}", cast.agent);
            return Err(Complaint::input(why));
        }
        if own.rights != cast.rights {
            let (here, run) = (own.rights.words(), cast.rights.words());
            let why = format!("its rights are enforced by other means: {here} here, {run} in the run");
            return Err(Complaint::input(why));
        }
        Ok(Some((own, version)))
    }

    /// Returns an agent of this machine, and its version.
    fn own(&self, wanted: &Wanted) -> Result<(OwnPart, Option<String>), Complaint> {
        let own = elsewhere::own_part(wanted, &self.settings, self.env)?;
        let version = versions::of(&own.agent, &self.home.project().join("versions"), self.env);
        if own.agent.versioned().is_some() && version.is_none() {
            return Err(Complaint::ours(format!("its {} does not tell its version", wanted.agent)));
        }
        Ok((own, version))
    }

    /// Answers which of these agents this machine has.
    pub(super) fn describe(&self, wanted: &[Wanted]) -> Result<(), Complaint> {
        let confines = casting::system_confines(&self.settings);
        let mut agents = Vec::new();
        for wanted in wanted {
            // An agent may take long to tell its version.
            self.send(&Frame::Beat, &[])?;
            let own = self.own(wanted).map_err(|why| why.in_one_line());
            agents.push(own.map(|(own, version)| own.agent.facts(version.as_deref(), confines)));
        }
        self.send(&Frame::Described { agents }, &[])
    }

    /// Holds the call, so that a worker that lost its coordinator and is ending does not make it at the same time.
    fn hold(&mut self, key: CallKey) -> Result<Lock, Complaint> {
        let held = SafePath::below(self.home.project(), "held");
        held.make().map_err(ours)?;
        let lock = |how| held.join(key.short()).lock(how).map_err(ours);
        let other = || Complaint::ours("another worker on the machine still makes this call");
        if !self.is_live {
            // The other worker may be a task of the same scheduler, which makes the call to its end.
            return lock(FlockOperation::LockExclusive)?.ok_or_else(other);
        }
        let since = Instant::now();
        loop {
            if let Some(lock) = lock(FlockOperation::NonBlockingLockExclusive)? {
                return Ok(lock);
            }
            if since.elapsed() > OTHERS_END {
                return Err(other());
            }
            self.send(&Frame::Beat, &[])?;
            // Fails if the other side is gone.
            self.inbox.next(LOOK, &[]).map_err(lost)?;
        }
    }

    /// Asks for what the store lacks, and stores it. Returns the files of all trees.
    fn receive(
        &mut self,
        objects: &Objects,
        trees: &[TreeId],
        agent: Option<String>,
    ) -> Result<BTreeSet<Part>, Complaint> {
        let lacks = trees.iter().copied().filter(|tree| !objects.contains(BlobId(tree.0))).collect();
        self.send(&Frame::Accepted { agent, lacks }, &[])?;
        loop {
            match self.next()?.ok_or_else(Complaint::interrupted)? {
                Frame::Object(part) => {
                    let payload = self.inbox.payload(part.bytes, Patience::of(WORKERS_PATIENCE));
                    parts::store(objects, part, payload).map_err(ours)?.map_err(lost)?;
                }
                Frame::Sent => {
                    let files = parts::files(objects, trees).map_err(ours)?;
                    let lacking = parts::lacking(objects, &files);
                    if lacking.is_empty() {
                        return Ok(files);
                    }
                    let list = serde_json::to_vec(&lacking).map_err(ours)?;
                    self.send(&Frame::Needs { bytes: list.len() as u64 }, &list)?;
                }
                _ => {}
            }
        }
    }

    /// Returns the services of a run that has only this call.
    fn services<L: Ui + LoopEngine>(
        &self,
        call: &ExportedCall<L>,
        key: CallKey,
        own: Option<OwnPart>,
    ) -> Result<Services, Complaint> {
        let plan = call.plan();
        self.home.run(&plan.run).create().map_err(ours)?;
        let casting: Casting = own.map(|own| (call.order().role.clone(), own)).into_iter().collect();
        let options = RuntimeOptions {
            jobs: 1,
            artifacts: call.artifacts,
            output_bytes: call.output_bytes,
            prices: call.prices.clone(),
            ..RuntimeOptions::of(&casting, &self.settings, Vec::new(), Vec::new())
        };
        let services = session::services(self.env, &self.home, plan, options)?;
        // A folder for each call: its caches of build tools are no other call's.
        let work = SafePath::below(self.home.project(), "work").join(key.short());
        Ok(Services { work, ..services })
    }
}
