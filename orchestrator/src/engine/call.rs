//! One call, from order to reply. It blocks one thread, which is not one of the runtime's.
//!
//! Handing a call from thread to thread costs more than the disk I/O of a small one, so it is handed over once. Only
//! reading the answer differs between loops.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use skilltune_phases::asking::order::{Command, Order, Placement, Question};
use skilltune_phases::base::id::{CallKey, Digest};
use skilltune_phases::base::material::Folders;
use skilltune_phases::base::model::ModelName;
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::runs::event::{Done, Failure, FailureKind, Outcome, Spent};
use skilltune_phases::runs::plan::{Cast, Roles};
use skilltune_phases::skills::target::PLUGIN_ROOT;

use super::call_dir::{self, CallDir};
use super::reply::Reply;
use super::{
    AgentOutput, CommandOutput, EngineError, LoopEngine, ReadError, Services, caches, hiding, materials,
    refusal, repository, setup, tamper,
};
use crate::agent::{self, Agent, Form, Ground, Response, Slots, Talk};
use crate::checks::command_result;
use crate::crash;
use crate::disk::SafePath;
use crate::process::{self, CancelToken, Confinement, Ended, How, Slot};

/// The longest time that a request to stop takes to reach this process.
const CANCEL_GRACE: Duration = Duration::from_millis(500);
/// A shorter grace where a request to stop is unlikely: every failed call waits this long.
pub(super) const UNLIKELY_CANCEL_GRACE: Duration = Duration::from_millis(100);

/// One request and everything that is needed to carry it out.
pub(super) struct Job<L: LoopEngine> {
    pub(super) services: Arc<Services>,
    pub(super) step: L::Step,
    pub(super) request: AgentRequest<L>,
    pub(super) cancel_token: CancelToken,
    /// The most that the call may cost.
    pub(super) usd: Option<f64>,
}

/// A request without its loop's types.
pub(super) struct Asking<'a> {
    order: &'a Order,
    question: &'a dyn Question,
    roles: &'a Roles,
    epoch: u64,
    /// The most that the call may cost; only some agents accept such a limit.
    usd: Option<f64>,
}

/// A call that is known by its key.
pub(super) struct KeyedCall {
    pub(super) key: CallKey,
    /// The prompt of an agent, or the input of a command.
    pub(super) input: Option<Box<str>>,
}

impl<L: LoopEngine> Job<L> {
    /// Carries out the request. Returns nothing if it was cancelled before the answer was complete.
    pub(super) fn carry_out(self) -> Result<Option<Done<L>>, EngineError> {
        let (call, is_shared) = (self.keyed()?, self.request.as_ref().is_shared());
        Ok(self.reply(&call, is_shared)?.map(|reply| self.done(reply)))
    }

    /// Renders what the call reads, and computes its key.
    pub(super) fn keyed(&self) -> Result<KeyedCall, EngineError> {
        let asking = self.asking();
        let input = self.services.input(&asking)?;
        Ok(KeyedCall { key: asking.key(input.as_deref()), input })
    }

    /// Returns the reply to the request: a stored one, or that of a call. It is shared with other runs, or not.
    pub(super) fn reply(&self, call: &KeyedCall, is_shared: bool) -> Result<Option<Reply<L>>, EngineError> {
        let role = &self.request.as_ref().role;
        if let Some(reply) = self.services.stored_reply(call.key, role, is_shared) {
            return Ok(Some(reply));
        }
        let dir = CallDir::of(&self.services, call.key);
        let reply = match self.taken(call.key, &dir)? {
            Some(taken) => Some(taken),
            None if self.services.exports_calls() => {
                self.export(call.key)?;
                None
            }
            None if self.services.workers.is_empty() => self.here(call, &dir)?,
            None => self.elsewhere(call, &dir)?,
        };
        let Some(reply) = reply else { return Ok(None) };
        if let Err(Failure { kind: FailureKind::NotTrusted | FailureKind::NoWorker, .. }) = reply.outcome {
            // The call was not made. This is not stored, because the obstacle may be gone next time.
            return Ok(Some(reply));
        }
        let reply = self.services.store_reply(reply, is_shared)?;
        crash::point("call: the reply is stored");
        dir.clear()?;
        Ok(Some(reply))
    }

    /// Makes the call on this machine, or reads what an earlier one left.
    fn here(&self, call: &KeyedCall, dir: &CallDir) -> Result<Option<Reply<L>>, EngineError> {
        let ended = dir.recorded_end()?;
        if let Some(reply) = ended.map(|ended| self.whole(call.key, dir, &ended)).transpose()?.flatten() {
            return Ok(Some(reply));
        }
        // skilltune itself may have caused a recorded end without a complete answer: call again.
        if let Some(file) = self.services.guard.as_ref().and_then(|guard| guard.changed_file()) {
            let why = format!("{} changed since it was trusted", file.display());
            return Ok(Some(Reply::failed(call.key, Failure::new(FailureKind::NotTrusted, why))));
        }
        self.call(call, dir)
    }

    /// Makes the call and reads its answer. Returns nothing if it was cancelled before the answer was complete.
    fn call(&self, call: &KeyedCall, dir: &CallDir) -> Result<Option<Reply<L>>, EngineError> {
        let (services, asking, key) = (&*self.services, self.asking(), call.key);
        let order = asking.order;
        let mut guardian = services.pool.acquire()?;
        let held = services.caches.hold(order);
        let mut call = services.set_out(dir, &asking, call.input.as_deref())?;
        let port = services.ports.of(order);
        let mut variables: Vec<_> = port.iter().filter_map(|port| port.variable(&call.env)).collect();
        if held.is_some() {
            let temp = call.env.iter().find(|(name, _)| name == "TMPDIR");
            let temp = temp.map_or_else(|| dir.temp_path(), |(_, place)| place.into());
            variables.extend(caches::copy(services, (dir, order), &temp, &mut guardian, &self.cancel_token)?);
        }
        drop(held);
        call.add_env(&variables);
        let confined = call.confinement.is_some();
        let cast = order.command.is_none().then(|| asking.cast());
        call.hidden = order.hides.then(|| hiding::of(services, dir, cast, &call.argv)).flatten();
        let given = setup::Given { variables: &variables, hidden: call.hidden.as_ref() };
        if let Some((how, failure)) = self.prepare(dir, (order, given), confined, &mut guardian)? {
            let failed = Reply::failed(key, failure);
            return Ok((!self.is_cut_off(&how)).then(|| failed.without_keys(&self.services.keys)));
        }
        let ended = guardian.run(&call, &self.cancel_token)?;
        if ended.how == How::Exited(0) {
            services.caches.replace(order, &services.work, dir);
        }
        let reply = self.whole(key, dir, &ended)?;
        if reply.is_none() && ended.how.is_answer() {
            // The record says that the agent ended by itself, which is wrong, also after a resume.
            dir.clear()?;
        }
        Ok(reply)
    }

    /// Runs what comes before the call. If that fails, returns how it ended and why.
    fn prepare(
        &self,
        dir: &CallDir,
        (order, given): (&Order, setup::Given<'_>),
        confined: bool,
        slot: &mut Slot,
    ) -> Result<Option<(How, Failure)>, EngineError> {
        let (services, cancel_token) = (&*self.services, &self.cancel_token);
        if order.repository
            && let Some(unmade) = repository::make(services, dir, confined, slot, cancel_token)?
        {
            return Ok(Some(unmade));
        }
        if let Some(brought) = &order.brought {
            dir.bring(&services.objects, brought)?;
        }
        let failed = setup::run(services, dir, (order, given), slot, cancel_token)?;
        if failed.is_some() {
            return Ok(failed);
        }
        dir.plant(&services.objects, &order.planted)
    }

    pub(super) fn asking(&self) -> Asking<'_> {
        let (order, plan) = (self.request.as_ref(), self.request.plan());
        Asking { order, question: &self.request, roles: &plan.roles, epoch: plan.epoch, usd: self.usd }
    }

    /// Whether skilltune ended the call, or a signal ended both at once: then a failure is not the call's own.
    fn is_cut_off(&self, how: &How) -> bool {
        match how {
            How::Cancelled | How::OutputClosed => true,
            // Some programs exit with their own code when they are asked to end.
            How::Exited(_) | How::Signalled(_) => self.cancel_token.heard().is_some(),
            // When a signal ends all our processes, the guardian may die before we notice the signal.
            How::Lost { .. } => self.cancel_token.cancelled_within(CANCEL_GRACE),
            How::TimedOut | How::NotStarted { .. } => false,
        }
    }

    /// Returns the reply to a call. Of a call that was cut off, it returns only a complete answer, which only agents
    /// mark; a local command runs again.
    fn whole(&self, key: CallKey, dir: &CallDir, ended: &Ended) -> Result<Option<Reply<L>>, EngineError> {
        let is_cut_off = self.is_cut_off(&ended.how);
        if is_cut_off && self.request.as_ref().command.is_some() {
            return Ok(None);
        }
        let reply = self.read(key, dir, ended)?;
        // The signal that stops us may also have gone to the agent, which may have ended first.
        let may_be_ours = matches!(ended.how, How::Exited(_) | How::Signalled(_));
        let is_ours =
            || is_cut_off || (may_be_ours && self.cancel_token.cancelled_within(UNLIKELY_CANCEL_GRACE));
        Ok((reply.outcome.is_ok() || !is_ours()).then_some(reply))
    }

    /// Reads the output of the call.
    fn read(&self, key: CallKey, dir: &CallDir, ended: &Ended) -> Result<Reply<L>, EngineError> {
        let kept = |stream: SafePath| stream.text(self.services.limits.output_bytes);
        let (stdout, stderr) = (kept(dir.stdout())?, kept(dir.stderr())?);
        let order = self.request.as_ref();
        if let Some(command) = &order.command {
            let spent = Spent { ms: ended.took_ms, usd: Some(0.0), ..Spent::default() };
            let space = dir.space();
            let (how, space) = (&ended.how, space.path());
            let ran =
                CommandOutput { how, seconds: command.seconds, stdout: &stdout, stderr: &stderr, space };
            let outcome = outcome(self.ran(command, &ran))?;
            return Ok(
                Reply { key, outcome, spent, talk: None, machine: None }.without_keys(&self.services.keys)
            );
        }
        let at = dir.ended_at();
        let output = agent::AgentOutput { ended, stdout: &stdout, stderr: &stderr, at };
        let Response { answer, spent, talk } = self.services.hear(order, output, &dir.space_path());
        if let Some(talk) = &talk {
            dir.write_transcript(&talk.transcript)?;
        }
        let outcome = outcome(self.answer(dir, ended, answer, talk.as_ref(), &spent))?;
        Ok(Reply { key, outcome, spent, talk, machine: None }.without_keys(&self.services.keys))
    }

    /// Reads the outcome of a command: the result of a check, or whatever else the loop makes of it.
    fn ran(&self, command: &Command, ran: &CommandOutput<'_>) -> Result<L::Answer, ReadError> {
        let Some((check, exit)) = command.check else { return L::ran(&self.services, &self.request, ran) };
        let result = command_result(check, exit, ran.how, ran.seconds, [ran.stderr, ran.stdout]);
        Ok(L::checked(&self.step, result).ok_or(EngineError::Stuck)?)
    }

    fn answer(
        &self,
        dir: &CallDir,
        ended: &Ended,
        answer: Result<String, Failure>,
        talk: Option<&Talk>,
        spent: &Spent,
    ) -> Result<L::Answer, ReadError> {
        let (answer, space) = (answer?, dir.space());
        if !space.is_folder() {
            return Err(Failure::new(FailureKind::OffSchema, "its workspace is no longer a folder").into());
        }
        tamper::check(&self.services.objects, self.request.as_ref(), space.path())?;
        // An edit is taken unchanged or not at all: without its keys it would be a different edit.
        let is_edit = L::base(&self.request).is_some();
        let answer = if is_edit { answer.as_str().into() } else { self.services.keys.hide(&answer) };
        let denied = talk.map_or(&[][..], |talk| &talk.denied);
        let after_setup = setup::recorded(dir, self.request.as_ref())?;
        let after_setup = after_setup.as_ref();
        let is_hidden = ended.hidden;
        let output =
            AgentOutput { space: space.path(), answer: &answer, denied, talk, spent, after_setup, is_hidden };
        let answer = L::read(&self.services, &self.request, &output)?;
        self.check_keys(&answer)?;
        Ok(answer)
    }

    /// Fails if an edit adds a key.
    pub(super) fn check_keys(&self, answer: &L::Answer) -> Result<(), ReadError> {
        match L::base(&self.request) {
            Some(base) => refusal::check_keys(&self.services, &base, &L::trees(answer)),
            None => Ok(()),
        }
    }

    fn done(self, reply: Reply<L>) -> Done<L> {
        let attempt = self.request.as_ref().attempt;
        let Reply { key, outcome, spent, talk, machine } = reply;
        let (model, windows) = talk.map(|talk| (talk.model, talk.windows)).unwrap_or_default();
        Done { step: self.step, attempt, call: Some(key), outcome, spent, model, windows, machine }
    }
}

impl Asking<'_> {
    /// Returns the agent's record. A run that only runs commands has none.
    pub(super) fn cast(&self) -> &Cast {
        self.roles.of(&self.order.role)
    }

    /// Returns the key of a call, which covers all its inputs. The deadline is not among them: it does not change an
    /// answer.
    fn key(&self, input: Option<&str>) -> CallKey {
        let (command_line, agent);
        let (said, answers): (&[u8], &[u8]) = match &self.order.command {
            None => {
                agent = self.cast().fingerprint.digest();
                (input.unwrap_or_default().as_bytes(), agent.as_bytes())
            }
            Some(command) => {
                command_line = json(&(&command.argv, input));
                (&command_line, b"command")
            }
        };
        let (step, attempt) = (self.order.step.as_bytes(), self.order.attempt.to_le_bytes());
        let (epoch, repository) = (self.epoch.to_le_bytes(), [u8::from(self.order.repository)]);
        let rights = self.order.rights.word().as_bytes();
        let hidden: Vec<&str> = self.order.hidden().collect();
        let hidden = hidden.join("\0");
        let picked = self.order.picked().flat_map(|file| [file.path.as_str(), file.at.as_str()]);
        let picked = picked.collect::<Vec<_>>().join("\0");
        let (hidden, picked) = (hidden.as_bytes(), picked.as_bytes());
        let parts: [&[u8]; 9] = [step, &attempt, said, answers, &epoch, &repository, rights, hidden, picked];
        // Of calls without these, the key is as it always was.
        let setup = self.order.setup.as_ref().map(|setup| &setup.argv);
        let brought = self.order.brought.as_ref().map(|brought| brought.tree);
        let more = (setup.is_some() || brought.is_some()).then(|| json(&(setup, brought)));
        let planted = (!self.order.planted.is_empty()).then(|| json(&self.order.planted));
        CallKey(Digest::of_parts(parts.into_iter().chain(more.as_deref()).chain(planted.as_deref())))
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("arguments have a JSON text")
}

impl Services {
    /// Returns the environment variable by which later commands find the processes of a run.
    pub(super) fn mark(&self) -> (String, String) {
        ("SKILLTUNE_RUN".to_owned(), self.folder.mark())
    }

    /// Returns the prompt of an agent, or the input of a command.
    fn input(&self, asking: &Asking<'_>) -> Result<Option<Box<str>>, EngineError> {
        if let Some(command) = &asking.order.command {
            return Ok(command.input.clone());
        }
        if self.cast.of(&asking.order.role).is_built_in() {
            let task = asking.question.task().ok_or(EngineError::Stuck)?;
            return Ok(Some(serde_json::to_string(&task).expect("a task has a JSON text").into()));
        }
        let load = |placement: &Placement| {
            let shown = call_dir::all_at(&self.objects, asking.order, &placement.at, call_dir::shown)?;
            materials::load(&self.objects, &shown.unwrap_or_default(), &placement.at)
        };
        let folders = asking.order.placements.iter().map(load).collect::<Result<Folders, _>>()?;
        Ok(Some(asking.question.prompt(&folders)?.into()))
    }

    /// Prepares a call's folders, and returns the call.
    fn set_out(
        &self,
        dir: &CallDir,
        asking: &Asking<'_>,
        input: Option<&str>,
    ) -> Result<process::Call, EngineError> {
        let (fresh, order) = (dir.fresh()?, asking.order);
        fresh.place(self, order, &dir.space_path())?;
        if let Some(input) = input {
            fresh.write_prompt(input)?;
        }
        if let Some(command) = &order.command {
            return Ok(self.command(dir, command));
        }
        let agent = self.cast.of(&order.role);
        agent.furnish(order.rights, &dir.temp_path())?;
        for fitting in agent.agent_files(order.rights, order.installed.is_some(), input.unwrap_or_default()) {
            fitting.place(&fresh.space)?;
        }
        let form = agent.form(|| asking.question.schema());
        if let Some(Form::File(schema)) = &form {
            fresh.write_schema(schema)?;
        }
        Ok(self.call(dir, agent, asking, form))
    }

    fn call(&self, dir: &CallDir, agent: &Agent, asking: &Asking<'_>, form: Option<Form>) -> process::Call {
        let (space, temp, prompt) = (dir.space_path(), dir.temp_path(), dir.prompt_path());
        let order = asking.order;
        let plugin = order
            .plugin
            .as_ref()
            .map(|at| (PLUGIN_ROOT.to_owned(), space.join(at).to_string_lossy().into_owned()));
        let schema = form.map(|form| match form {
            Form::Argument(schema) => schema,
            Form::File(_) => dir.schema_path().to_string_lossy().into_owned(),
        });
        let slots = Slots {
            rights: order.rights,
            workspace: &space,
            temp: &temp,
            prompt_file: &prompt,
            skills: order.installed.is_some(),
            usd: asking.usd,
            schema: schema.as_deref(),
        };
        process::Call {
            argv: agent.argv(slots).into_iter().map(OsString::from).collect(),
            env: agent.env(order.rights, &temp, [self.mark()].into_iter().chain(plugin)),
            confinement: asking.cast().rights.by_system().then(|| confinement(dir, agent, order)),
            writes_itself: agent.writes_itself(),
            stdin: agent.reads_stdin().then_some(prompt),
            ..self.bare(dir, Duration::from_secs(asking.cast().timeout_seconds))
        }
    }

    /// Returns the settings that all calls share.
    pub(super) fn bare(&self, dir: &CallDir, deadline: Duration) -> process::Call {
        process::Call {
            argv: Vec::new(),
            env: Vec::new(),
            stdin: None,
            confinement: None,
            hidden: None,
            cwd: dir.space_path(),
            stdout: dir.stdout().path().to_owned(),
            stderr: dir.stderr().path().to_owned(),
            writes_itself: false,
            keep_bytes: self.limits.output_bytes,
            deadline,
            grace: self.limits.grace,
            record: dir.ended_path(),
        }
    }

    /// Reads the agent's response. Its price is that of the model that answered, or else of the requested model.
    fn hear(&self, order: &Order, output: agent::AgentOutput<'_>, workspace: &Path) -> Response {
        let agent = self.cast.of(&order.role);
        let heard = agent.read_response(output, workspace, &self.keys);
        let answered = heard.talk.as_ref().and_then(|talk| talk.model.as_ref()).map(ModelName::as_str);
        let price = |model: Option<&str>| self.prices.get(model?);
        let spent = heard.spent.priced(price(answered).or_else(|| price(agent.model.as_deref())));
        Response { spent, ..heard }
    }
}

/// Our own fault ends the run; a fault of an agent or a command is the outcome of the call.
pub(super) fn outcome<T>(read: Result<T, ReadError>) -> Result<Outcome<T>, EngineError> {
    match read {
        Ok(answer) => Ok(Ok(answer)),
        Err(ReadError::Agent(failure)) => Ok(Err(failure)),
        Err(ReadError::Ours(error)) => Err(error),
    }
}

fn confinement(dir: &CallDir, agent: &Agent, order: &Order) -> Confinement {
    let (workspace, temp) = (dir.space_path(), dir.temp_path());
    let draft = order.draft().map(|draft| workspace.join(&draft.at));
    agent.confinement(order.rights, Ground { workspace: &workspace, temp: &temp, copy: draft.as_deref() })
}

#[cfg(test)]
mod tests;
