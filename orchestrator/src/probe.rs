//! One call of an agent outside a run, made in the same way: in a workspace, under a guardian, parsed by its adapter.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::base::role::Rights;
use skilltune_phases::skills::keys::Keys;

use crate::agent::{Agent, AgentOutput, Ground, Response, Slots};
use crate::disk::atomic;
use crate::disk::{self, DiskError, Folder, OnDisk};
use crate::process::{Call, CancelToken, GuardianPool, ProcessError};

#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

const PROMPT: &str = "Answer with the single word: ready";

/// The cost limit of such a call, where it can be enforced.
const MOST_USD: f64 = 0.5;

const DEADLINE: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(3);
/// Much more than an agent prints before its answer.
const KEPT: u64 = 64 << 20;

/// The question of one call.
#[derive(Clone, Debug)]
pub struct Question {
    pub prompt: String,
    pub rights: Rights,
    /// The cost limit, where it can be enforced.
    pub usd: Option<f64>,
    pub deadline: Duration,
}

/// Asks an agent for one word with the rights of a judge, or through a wrapper with those of an executor, which not
/// every wrapper can grant. `room` is an empty folder, and `system` says whether the system enforces the agents'
/// rights.
pub fn probe(
    agent: &Agent,
    system: bool,
    room: &Path,
    pool: &GuardianPool,
    cancel_token: &CancelToken,
) -> Result<Response, ProbeError> {
    let rights = if agent.via().is_some() { Rights::Work } else { Rights::Read };
    let question = Question { prompt: PROMPT.to_owned(), rights, usd: Some(MOST_USD), deadline: DEADLINE };
    ask(agent, system, &question, room, pool, cancel_token)
}

/// Asks an agent in an empty workspace and returns its answer. `room` is an empty folder.
pub fn ask(
    agent: &Agent,
    system: bool,
    question: &Question,
    room: &Path,
    pool: &GuardianPool,
    cancel_token: &CancelToken,
) -> Result<Response, ProbeError> {
    let call = set_out(agent, system, question, room)?;
    let ended = pool.acquire()?.run(&call, cancel_token)?;
    let (stdout, stderr) = (disk::text(&call.stdout, KEPT)?, disk::text(&call.stderr, KEPT)?);
    let remains = AgentOutput { ended: &ended, stdout: &stdout, stderr: &stderr, at: Timestamp::now() };
    let keys = Keys::new(agent.keys());
    Ok(agent.read_response(remains, &call.cwd, &keys).without_keys(&keys))
}

fn set_out(agent: &Agent, system: bool, question: &Question, room: &Path) -> Result<Call, DiskError> {
    let &Question { ref prompt, rights, usd, deadline } = question;
    let text = prompt;
    let (space, temp, prompt) = (room.join("space"), room.join("tmp"), room.join("prompt.md"));
    for folder in [&space, &temp] {
        fs::create_dir(folder).on_disk("create the folder", folder)?;
    }
    agent.furnish(rights, &temp)?;
    for fitting in agent.agent_files(rights, false, text) {
        fitting.place(&Folder::open(&space)?)?;
    }
    atomic::create(&prompt, text.as_bytes())?;
    let slots = Slots {
        rights,
        workspace: &space,
        temp: &temp,
        prompt_file: &prompt,
        usd,
        skills: false,
        schema: None,
    };
    let ground = Ground { workspace: &space, temp: &temp, copy: None };
    let by_system = agent.enforced(rights, system).by_system();
    Ok(Call {
        argv: agent.argv(slots).into_iter().map(Into::into).collect(),
        env: agent.env(rights, &temp, []),
        stdin: agent.reads_stdin().then_some(prompt),
        confinement: by_system.then(|| agent.confinement(rights, ground)),
        hidden: None,
        cwd: space,
        stdout: room.join("stdout"),
        stderr: room.join("stderr"),
        writes_itself: agent.writes_itself(),
        keep_bytes: KEPT,
        deadline,
        grace: GRACE,
        record: room.join("ended.json"),
    })
}
