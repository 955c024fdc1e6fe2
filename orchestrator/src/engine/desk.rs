//! The two ends of a call on the disk: what stands ready before an agent is started, and what is read afterwards.
//!
//! Each stage leaves its result in a file, so that a killed run goes on from the last one that ended: the reply, or
//! the guardian's record of a call that had answered, or nothing.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::event::{Failure, FailureKind, Spent};
use skilltune_phases::id::{CallKey, Digest};
use skilltune_phases::loops::Loop;
use skilltune_phases::order::{Command, Order as _, Placement};
use skilltune_phases::plan::{Cast, Plan};

use super::breach;
use super::materials;
use super::reply::Reply;
use super::{Craft, EngineError, Ran, Remains, Workshop};
use crate::agent::{self, Agent, Form, Ground, Heard, Slots};
use crate::crash;
use crate::process::{Call, Confinement, Ended};
use crate::safe_path::SafePath;
use crate::snapshot::{self, CaptureError};

const SPACE: &str = "space";
const TEMP: &str = "tmp";
const PROMPT: &str = "prompt.md";
const SCHEMA: &str = "schema.json";

/// What a call needs next.
pub(super) enum Ready<L: Loop> {
    /// Nothing: it was answered before.
    Answered(Reply<L>),
    /// To be read: it had ended when its run was killed.
    Ended(Paper, Ended),
    Start(Paper, Call),
}

/// One call and where its things stand.
#[derive(Clone, Debug)]
pub(super) struct Paper {
    pub(super) key: CallKey,
    /// `prompt.md`, `stdout`, `stderr`, `reply.json`.
    folder: SafePath,
    /// Workspace and temporary folder.
    desk: SafePath,
}

impl Paper {
    fn space(&self) -> SafePath {
        self.desk.join(SPACE)
    }

    fn temp(&self) -> SafePath {
        self.desk.join(TEMP)
    }

    fn prompt(&self) -> SafePath {
        self.folder.join(PROMPT)
    }

    fn schema(&self) -> SafePath {
        self.folder.join(SCHEMA)
    }

    fn stdout(&self) -> SafePath {
        self.folder.join("stdout")
    }

    fn stderr(&self) -> SafePath {
        self.folder.join("stderr")
    }

    fn record(&self) -> SafePath {
        self.folder.join("ended.json")
    }
}

/// Who is asked: an agent, with what is said to it, or a command of ours.
enum Asked<'a> {
    Agent { agent: &'a Agent, cast: &'a Cast, prompt: String },
    Command(&'a Command),
}

impl Workshop {
    pub(super) fn prepare<L: Loop>(&self, plan: &Plan<L>, order: &L::Order) -> Result<Ready<L>, EngineError> {
        let asked = self.asked(plan, order)?;
        let key = call_key(plan, order, &asked);
        if let Some(reply) = self.stored_reply(key) {
            return Ok(Ready::Answered(reply));
        }
        let paper = Paper { key, folder: self.folder.call(key), desk: self.work.join(key.short()) };
        if let Some(ended) = recorded_end(&paper)? {
            return Ok(Ready::Ended(paper, ended));
        }
        self.set_out::<L>(&paper, order, &asked)?;
        let call = match &asked {
            Asked::Agent { agent, cast, .. } => self.call(&paper, agent, cast, plan, order),
            Asked::Command(command) => self.command(&paper, command, plan),
        };
        Ok(Ready::Start(paper, call))
    }

    /// Reads what a call left, stores it under its key, and clears the desk.
    pub(super) fn finish<L: Craft>(
        &self,
        order: &L::Order,
        paper: &Paper,
        ended: &Ended,
    ) -> Result<Reply<L>, EngineError> {
        let kept = |stream: &SafePath| stream.text(self.limits.output_bytes);
        let (stdout, stderr) = (kept(&paper.stdout())?, kept(&paper.stderr())?);
        let reply = if order.command().is_some() {
            let spent = Spent { ms: ended.took_ms, usd: Some(0.0), ..Spent::default() };
            let outcome = L::ran(order, &Ran { how: &ended.how, stdout: &stdout, stderr: &stderr });
            Reply { key: paper.key, outcome, spent, talk: None }
        } else {
            let at = ended_at(paper.record().path());
            self.heard(order, paper, agent::Remains { ended, stdout: &stdout, stderr: &stderr, at })?
        };
        let reply = self.store_reply(reply)?;
        crash::point("call: the reply is stored");
        paper.desk.remove()?;
        Ok(reply)
    }

    fn heard<L: Craft>(
        &self,
        order: &L::Order,
        paper: &Paper,
        remains: agent::Remains<'_>,
    ) -> Result<Reply<L>, EngineError> {
        let agent = self.cast.of(order.role());
        let Heard { answer, spent, talk } = agent.hear(remains);
        // The model that answered need not be the one that was asked for.
        let model = talk.as_ref().and_then(|talk| talk.model.as_ref()).or(agent.model.as_ref());
        let spent = spent.priced(model.and_then(|model| self.prices.get(model)));
        let denied = talk.as_ref().map_or(&[][..], |talk| &talk.denied);
        let space = paper.space().path().to_owned();
        let outcome = match answer {
            Err(failure) => failure.into(),
            Ok(_) if !paper.space().is_folder() => {
                failed(FailureKind::OffSchema, "its workspace is no folder any more").into()
            }
            Ok(answer) => {
                let talk = talk.as_ref();
                match breach::found(&self.objects, order.left_alone(), &space)?.map(L::Outcome::from) {
                    Some(breach) => breach,
                    None => L::read(self, order, &Remains { space: &space, answer: &answer, denied, talk })?,
                }
            }
        };
        Ok(Reply { key: paper.key, outcome, spent, talk })
    }

    fn asked<'a, L: Loop>(
        &'a self,
        plan: &'a Plan<L>,
        order: &'a L::Order,
    ) -> Result<Asked<'a>, EngineError> {
        if let Some(command) = order.command() {
            return Ok(Asked::Command(command));
        }
        let (agent, cast) = (self.cast.of(order.role()), plan.roles.of(order.role()));
        Ok(Asked::Agent { agent, cast, prompt: self.prompt::<L>(order, agent)? })
    }

    fn prompt<L: Loop>(&self, order: &L::Order, agent: &Agent) -> Result<String, EngineError> {
        if agent.is_built_in() {
            let task = order.task().ok_or(EngineError::Stuck)?;
            return Ok(serde_json::to_string(&task).expect("a task has a JSON text"));
        }
        let load = |placement: &Placement| materials::load(&self.objects, placement.tree, &placement.at);
        let folders = order.placements().iter().map(load).collect::<Result<Vec<_>, _>>()?;
        Ok(order.prompt(&folders)?)
    }

    /// A fresh desk: nothing of an earlier try may be on it.
    fn set_out<L: Loop>(
        &self,
        paper: &Paper,
        order: &L::Order,
        asked: &Asked<'_>,
    ) -> Result<(), EngineError> {
        let (folder, desk) = (paper.folder.fresh()?, paper.desk.fresh()?);
        let space = desk.fresh_child(SPACE.as_ref())?;
        desk.fresh_child(TEMP.as_ref())?;
        for placement in order.placements() {
            let mut manifest = self.objects.manifest(placement.tree)?;
            if order.working_copy() == Some(placement) {
                // A skill may be kept read-only: its copy is there to be changed.
                manifest = manifest.unlocked();
            }
            snapshot::fill(&space.make_below(placement.at.as_ref())?, &self.objects, &manifest)?;
        }
        if let Asked::Agent { agent, prompt, .. } = asked {
            agent.make_folders(paper.temp().path())?;
            for fitting in agent.fittings(order.rights(), order.installed().is_some(), prompt) {
                fitting.place(&space)?;
            }
            if let Some(Form::File(schema)) = agent.form(|| order.schema()) {
                folder.write_new(SCHEMA.as_ref(), schema.as_bytes())?;
            }
            folder.write_new(PROMPT.as_ref(), prompt.as_bytes())?;
        }
        Ok(())
    }

    fn call<L: Loop>(
        &self,
        paper: &Paper,
        agent: &Agent,
        cast: &Cast,
        plan: &Plan<L>,
        order: &L::Order,
    ) -> Call {
        let (space, prompt) = (paper.space().path().to_owned(), paper.prompt().path().to_owned());
        let schema = agent.form(|| order.schema()).map(|form| match form {
            Form::Argument(schema) => schema,
            Form::File(_) => paper.schema().path().to_string_lossy().into_owned(),
        });
        let (usd, schema) = (L::usd(plan), schema.as_deref());
        let (role, skills) = (order.rights(), order.installed().is_some());
        let slots = Slots { role, workspace: &space, prompt_file: &prompt, skills, usd, schema };
        Call {
            argv: agent.argv(slots).into_iter().map(OsString::from).collect(),
            env: agent.env(paper.temp().path(), [mark(plan)]),
            stdin: agent.reads_stdin().then_some(prompt),
            confinement: cast.rights.by_system().then(|| confinement::<L>(paper, agent, order)),
            writes_itself: agent.writes_itself(),
            ..self.bare(paper, Duration::from_secs(cast.timeout_seconds))
        }
    }

    /// A command of ours finds programs, and nothing else of our world.
    fn command<L: Loop>(&self, paper: &Paper, command: &Command, plan: &Plan<L>) -> Call {
        let temp = paper.temp().path().to_owned();
        let text = temp.to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        let places = [paper.space().path().to_owned(), temp].map(OsString::from);
        let env = [("PATH", path), ("HOME", text.clone()), ("TMPDIR", text), ("LANG", "C.UTF-8".to_owned())];
        Call {
            argv: command.argv.iter().map(OsString::from).collect(),
            env: env.map(|(name, value)| (name.to_owned(), value)).into_iter().chain([mark(plan)]).collect(),
            confinement: command.confined.then(|| Confinement { writes: places.into() }),
            ..self.bare(paper, Duration::from_secs(command.seconds))
        }
    }

    /// What all calls have in common.
    fn bare(&self, paper: &Paper, deadline: Duration) -> Call {
        Call {
            argv: Vec::new(),
            env: Vec::new(),
            stdin: None,
            confinement: None,
            cwd: paper.space().path().to_owned(),
            stdout: paper.stdout().path().to_owned(),
            stderr: paper.stderr().path().to_owned(),
            writes_itself: false,
            keep_bytes: self.limits.output_bytes,
            deadline,
            grace: self.limits.grace,
            record: paper.record().path().to_owned(),
        }
    }
}

/// By this a later command finds what is left of a run.
fn mark<L: Loop>(plan: &Plan<L>) -> (String, String) {
    ("SKILLTUNE_RUN".to_owned(), plan.run.to_string())
}

fn confinement<L: Loop>(paper: &Paper, agent: &Agent, order: &L::Order) -> Confinement {
    let (workspace, temp) = (paper.space().path().to_owned(), paper.temp().path().to_owned());
    let copy = order.working_copy().map(|copy| workspace.join(&copy.at));
    agent.confinement(order.rights(), Ground { workspace: &workspace, temp: &temp, copy: copy.as_deref() })
}

/// All that goes into a call. Not its deadline: an answer stays one, however long it was waited for.
fn call_key<L: Loop>(plan: &Plan<L>, order: &L::Order, asked: &Asked<'_>) -> CallKey {
    let step = serde_json::to_vec(order.step()).expect("a step has a JSON text");
    let (argv, agent);
    let (said, answers): (&[u8], &[u8]) = match asked {
        Asked::Agent { cast, prompt, .. } => {
            agent = cast.fingerprint.digest();
            (prompt.as_bytes(), agent.as_bytes())
        }
        Asked::Command(command) => {
            argv = serde_json::to_vec(&command.argv).expect("an argument list has a JSON text");
            (&argv, b"command")
        }
    };
    let parts: [&[u8]; 5] = [&step, &order.attempt().to_le_bytes(), said, answers, &plan.epoch.to_le_bytes()];
    CallKey(Digest::of_parts(parts))
}

/// The guardian's record of a call that had ended, if its workspace is still there to be read.
fn recorded_end(paper: &Paper) -> Result<Option<Ended>, EngineError> {
    if !paper.space().is_folder() {
        return Ok(None);
    }
    Ok(Ended::recorded(paper.record().path())?.filter(|ended| ended.how.is_answer()))
}

/// When a call ended, as its record was written then: it may be read much later.
fn ended_at(record: &Path) -> Timestamp {
    let written = fs::metadata(record).and_then(|meta| meta.modified()).ok();
    written.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now)
}

/// Why what an agent has left cannot be captured, if that is its doing; otherwise it is an error of ours.
pub(super) fn not_ours(error: CaptureError, space: &Path) -> Result<Failure, EngineError> {
    let (kind, why) = match &error {
        CaptureError::TooLarge(_)
        | CaptureError::Special(_)
        | CaptureError::TooDeep(_)
        | CaptureError::Changing(_) => (FailureKind::TooLarge, error.to_string()),
        CaptureError::Replaced(_) => (FailureKind::OffSchema, error.to_string()),
        // Whatever we had placed could be read.
        CaptureError::Disk(disk) if disk.kind() == ErrorKind::PermissionDenied => {
            (FailureKind::OffSchema, format!("{disk}: {}", disk.source))
        }
        CaptureError::Object(_) | CaptureError::Disk(_) => return Err(error.into()),
    };
    Ok(failed(kind, &why.replace(&format!("{}/", space.display()), "")))
}

pub(super) fn failed(kind: FailureKind, why: &str) -> Failure {
    Failure::new(kind, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::OnDisk as _;

    #[test]
    fn what_an_agent_has_locked_up_is_its_own_failure_and_a_broken_disk_is_ours() {
        let space = Path::new("/desk/space");
        let failed = |kind: ErrorKind| {
            let done: Result<(), std::io::Error> = Err(kind.into());
            not_ours(done.on_disk("open", space.join("notes/key")).unwrap_err().into(), space)
        };
        let failure = failed(ErrorKind::PermissionDenied).unwrap();
        assert_eq!(failure.kind, FailureKind::OffSchema);
        assert_eq!(failure.why, "could not open notes/key: permission denied");
        assert!(failed(ErrorKind::StorageFull).is_err());
    }
}
