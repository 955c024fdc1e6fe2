//! The two ends of a call on the disk: what stands ready before an agent is started, and what is read afterwards.
//!
//! Each stage leaves its result in a file, so that a killed run goes on from the last one that ended: the reply, or
//! the guardian's record of a call that had answered, or nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::delivery::SkillUse;
use skilltune_phases::event::{Failure, FailureKind, Outcome};
use skilltune_phases::id::{CallKey, Digest};
use skilltune_phases::order::{INPUT, Order};
use skilltune_phases::plan::{Cast, Plan};
use skilltune_phases::step::Role;

use super::breach;
use super::draft;
use super::materials;
use super::reply::Reply;
use super::{EngineError, Workshop};
use crate::agent::{Agent, Ground, Heard, Remains, Slots, Talk};
use crate::crash;
use crate::disk::{self, DiskError, OnDisk};
use crate::process::{Call, Confinement, Ended};
use crate::snapshot::{self, CaptureError, Entry, Manifest, Node, RelPath, capture};

/// What a call needs next.
pub(super) enum Ready {
    /// Nothing: it was answered before.
    Answered(Reply),
    /// To be read: it had ended when its run was killed.
    Ended(Paper, Ended),
    Start(Paper, Call),
}

/// One call and where its things stand.
#[derive(Clone, Debug)]
pub(super) struct Paper {
    pub(super) key: CallKey,
    /// `prompt.md`, `stdout`, `stderr`, `reply.json`.
    folder: PathBuf,
    /// Workspace and temporary folder.
    desk: PathBuf,
}

impl Paper {
    fn space(&self) -> PathBuf {
        self.desk.join("space")
    }

    fn temp(&self) -> PathBuf {
        self.desk.join("tmp")
    }

    fn prompt(&self) -> PathBuf {
        self.folder.join("prompt.md")
    }

    fn stdout(&self) -> PathBuf {
        self.folder.join("stdout")
    }

    fn stderr(&self) -> PathBuf {
        self.folder.join("stderr")
    }

    fn record(&self) -> PathBuf {
        self.folder.join("ended.json")
    }
}

impl Workshop {
    pub(super) fn prepare(&self, plan: &Plan, order: &Order, role: Role) -> Result<Ready, EngineError> {
        let agent = self.cast.of(role);
        let prompt = self.prompt(order, agent)?;
        let key = call_key(plan, order, plan.roles.of(role), &prompt);
        if let Some(reply) = self.stored_reply(key) {
            return Ok(Ready::Answered(reply));
        }
        let paper = Paper { key, folder: self.folder.call(key), desk: self.work.join(key.short()) };
        if let Some(ended) = recorded_end(&paper)? {
            return Ok(Ready::Ended(paper, ended));
        }
        self.set_out(&paper, order, (agent, role), &prompt)?;
        let call = self.call(&paper, agent, plan, order, role);
        Ok(Ready::Start(paper, call))
    }

    /// Reads what a call left, stores it under its key, and clears the desk.
    pub(super) fn finish(
        &self,
        order: &Order,
        role: Role,
        paper: &Paper,
        ended: &Ended,
    ) -> Result<Reply, EngineError> {
        let agent = self.cast.of(role);
        let kept = |stream: &Path| disk::text(stream, self.limits.output_bytes);
        let (stdout, stderr) = (kept(&paper.stdout())?, kept(&paper.stderr())?);
        let Heard { answer, spent, talk } =
            agent.hear(Remains { ended, stdout: &stdout, stderr: &stderr, at: ended_at(&paper.record()) });
        // The model that answered need not be the one that was asked for.
        let model = talk.as_ref().and_then(|talk| talk.model.as_ref()).or(agent.model.as_ref());
        let spent = spent.priced(model.and_then(|model| self.prices.get(model)));
        let denied = talk.as_ref().map_or(&[][..], |talk| &talk.denied);
        let mut outcome = match answer {
            Ok(answer) => match breach::found(&self.objects, order, &paper.space())? {
                Some(breach) => Outcome::Failed(breach),
                None => self.outcome(order, role, paper, &answer, denied)?,
            },
            Err(failure) => Outcome::Failed(failure),
        };
        if let Outcome::Exercised { skill, .. } = &mut outcome {
            *skill = skill_use(order, talk.as_ref(), &paper.space());
        }
        let reply = Reply { key: paper.key, outcome, spent, talk };
        self.store_reply(&reply)?;
        crash::point("call: the reply is stored");
        clear(&paper.desk)?;
        Ok(reply)
    }

    fn prompt(&self, order: &Order, agent: &Agent) -> Result<String, EngineError> {
        if agent.is_built_in() {
            return Ok(serde_json::to_string(&order.task()).expect("a task has a JSON text"));
        }
        let load = |placement: &skilltune_phases::order::Placement| {
            materials::load(&self.objects, placement.tree, &placement.at)
        };
        let folders = order.placements.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        Ok(order.prompt(&folders))
    }

    /// A fresh desk: nothing of an earlier try may be on it.
    fn set_out(
        &self,
        paper: &Paper,
        order: &Order,
        (agent, role): (&Agent, Role),
        prompt: &str,
    ) -> Result<(), EngineError> {
        clear(&paper.desk)?;
        clear(&paper.folder)?;
        fs::create_dir_all(&paper.folder).on_disk("make the folder", &paper.folder)?;
        fs::create_dir_all(&paper.desk).on_disk("make the folder", &paper.desk)?;
        for folder in [&paper.space(), &paper.temp()] {
            fs::create_dir(folder).on_disk("make the folder", folder)?;
        }
        for placement in &order.placements {
            let manifest = self.objects.manifest(placement.tree)?;
            snapshot::place(&self.objects, &manifest, &paper.space().join(&placement.at))?;
        }
        for fitting in agent.fittings(role, order.installed().is_some(), prompt) {
            fitting.place(&paper.space())?;
        }
        fs::write(paper.prompt(), prompt).on_disk("write", paper.prompt())?;
        Ok(())
    }

    fn call(&self, paper: &Paper, agent: &Agent, plan: &Plan, order: &Order, role: Role) -> Call {
        let (space, prompt, cast) = (paper.space(), paper.prompt(), plan.roles.of(role));
        let schema = agent.takes_schema().then(|| order.schema()).flatten();
        let (usd, schema) = (plan.rules.budget.usd, schema.as_deref());
        let skills = order.installed().is_some();
        let slots = Slots { role, workspace: &space, prompt_file: &prompt, skills, usd, schema };
        let mark = ("SKILLTUNE_RUN".to_owned(), plan.run.0.clone());
        Call {
            argv: agent.argv(slots).into_iter().map(OsString::from).collect(),
            env: agent.env(&paper.temp(), [mark]),
            stdin: agent.reads_stdin().then_some(prompt),
            confinement: cast.rights.by_system().then(|| confinement(paper, agent, order, role)),
            cwd: space,
            stdout: paper.stdout(),
            stderr: paper.stderr(),
            writes_itself: agent.writes_itself(),
            keep_bytes: self.limits.output_bytes,
            deadline: Duration::from_secs(cast.timeout_seconds),
            grace: self.limits.grace,
            record: paper.record(),
        }
    }

    /// `denied` are the tools that it was not let use.
    fn outcome(
        &self,
        order: &Order,
        role: Role,
        paper: &Paper,
        answer: &str,
        denied: &[String],
    ) -> Result<Outcome, EngineError> {
        let outcome = match role {
            Role::Executor => self.artifacts(order, paper, answer, denied),
            Role::Evaluator if answer.trim().is_empty() => Ok(failed(FailureKind::Empty, "no text at all")),
            Role::Evaluator => Ok(order.judge(answer)),
            Role::Improver => {
                draft::read(&self.objects, self.limits.artifacts, order, &paper.space(), answer)
            }
        };
        outcome.map(|outcome| explained(outcome, denied))
    }

    /// What the executor wrote; an answer in words alone becomes `answer.md`.
    fn artifacts(
        &self,
        order: &Order,
        paper: &Paper,
        answer: &str,
        denied: &[String],
    ) -> Result<Outcome, EngineError> {
        let fittings = self.cast.of(Role::Executor).fittings(Role::Executor, order.installed().is_some(), "");
        let placed = order.placements.iter().filter_map(|placement| placement.at.split('/').next());
        let given: Vec<&str> =
            placed.chain([INPUT]).chain(fittings.iter().map(|fitting| fitting.folder)).collect();
        let captured = match capture(&self.objects, &paper.space(), &given, self.limits.artifacts) {
            Ok(captured) => captured,
            Err(error) => return not_ours(error).map(|why| failed(FailureKind::TooLarge, &why)),
        };
        let files = count_files(&captured.manifest);
        if files > 0 {
            return Ok(Outcome::Exercised { artifacts: captured.tree, files, skill: None });
        }
        // Words in the place of files that it was not let write are an excuse.
        if answer.trim().is_empty() || !denied.is_empty() {
            return Ok(failed(FailureKind::Empty, "no files and no text"));
        }
        let blob = self.objects.put(answer.as_bytes())?;
        let path = RelPath::parse(b"answer.md").expect("a plain name is a path");
        let node = Node::File { blob, size: answer.len() as u64, mode: 0o644 };
        let manifest = Manifest::new(vec![Entry { path, node }]).expect("one file makes a manifest");
        let artifacts = self.objects.put_manifest(&manifest)?;
        Ok(Outcome::Exercised { artifacts, files: 1, skill: None })
    }
}

fn confinement(paper: &Paper, agent: &Agent, order: &Order, role: Role) -> Confinement {
    let (workspace, temp) = (paper.space(), paper.temp());
    let copy = order.working_copy().map(|copy| workspace.join(&copy.at));
    agent.confinement(role, Ground { workspace: &workspace, temp: &temp, copy: copy.as_deref() })
}

/// All that goes into a call. Not its deadline: an answer stays one, however long it was waited for.
fn call_key(plan: &Plan, order: &Order, cast: &Cast, prompt: &str) -> CallKey {
    let step = serde_json::to_vec(&order.step).expect("a step has a JSON text");
    let parts: [&[u8]; 5] = [
        &step,
        &order.attempt.to_le_bytes(),
        prompt.as_bytes(),
        cast.settings.as_bytes(),
        &plan.epoch.to_le_bytes(),
    ];
    CallKey(Digest::of_parts(parts))
}

/// The guardian's record of a call that had ended, if its workspace is still there to be read.
fn recorded_end(paper: &Paper) -> Result<Option<Ended>, EngineError> {
    if !paper.space().is_dir() {
        return Ok(None);
    }
    Ok(Ended::recorded(&paper.record())?.filter(|ended| ended.how.is_answer()))
}

/// When a call ended, as its record was written then: it may be read much later.
fn ended_at(record: &Path) -> Timestamp {
    let written = fs::metadata(record).and_then(|meta| meta.modified()).ok();
    written.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now)
}

/// Whether what could not be captured is the agent's doing; otherwise it is an error of ours.
pub(super) fn not_ours(error: CaptureError) -> Result<String, EngineError> {
    match error {
        CaptureError::TooLarge(_)
        | CaptureError::Special(_)
        | CaptureError::TooDeep(_)
        | CaptureError::Changing(_) => Ok(error.to_string()),
        CaptureError::Object(_) | CaptureError::Disk(_) => Err(error.into()),
    }
}

pub(super) fn failed(kind: FailureKind, why: &str) -> Outcome {
    Outcome::Failed(Failure::new(kind, why))
}

/// An answer that is none, where the agent was not let do what it wanted.
fn explained(outcome: Outcome, denied: &[String]) -> Outcome {
    match outcome {
        Outcome::Failed(Failure { kind: FailureKind::Empty | FailureKind::OffSchema, why, .. })
            if !denied.is_empty() =>
        {
            failed(FailureKind::DeniedTool, &format!("it was denied {}: {why}", denied.join(", ")))
        }
        outcome => outcome,
    }
}

/// What became of the skill, where one was installed. Agents tell real paths.
fn skill_use(order: &Order, talk: Option<&Talk>, space: &Path) -> Option<SkillUse> {
    let (installed, talk) = (order.installed()?, talk?);
    let real = space.canonicalize().unwrap_or_else(|_| space.to_owned());
    Some(talk.skill_use(installed, &real))
}

fn count_files(manifest: &Manifest) -> u64 {
    manifest.entries().iter().filter(|entry| !entry.node.is_folder()).count() as u64
}

/// Removes a folder of ours with all that an agent left in it, folders without rights included.
fn clear(folder: &Path) -> Result<(), DiskError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            open_up(folder);
            fs::remove_dir_all(folder).on_disk("remove", folder)
        }
        removed => removed.on_disk("remove", folder),
    }
}

fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for entry in
        walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_dir())
    {
        // What cannot be opened shows itself when it is removed.
        let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700));
    }
}
