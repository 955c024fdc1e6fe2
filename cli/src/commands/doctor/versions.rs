//! Programs asked for their version: all at once, each under guard and with a deadline, without a shell.

use std::path::{Path, PathBuf};
use std::time::Duration;

use skilltune_orchestrator::agent::{Agent, AgentSettings};
use skilltune_orchestrator::process::{
    Call, Cancel, Ended, GuardianPool, How, ProcessError, become_subreaper,
};
use tokio::sync::watch;

use crate::complaint::Complaint;
use crate::folders::Surroundings;
use crate::report::{figures, plain};
use crate::session::{GUARDIAN, GUARDS, ours};

/// A program to be asked, and how its agent is described.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) settings: AgentSettings,
    pub(super) program: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Version(String),
    /// It runs, and has told nothing: many a script knows no `--version`.
    Nothing(String),
    NotStarted(String),
}

/// More of an answer than this is no version.
const KEPT: u64 = 4096;
const SHOWN: usize = 60;

/// A program that was asked to leave has this long.
const GRACE: Duration = Duration::from_secs(1);

/// Nobody has more agents than this; if so, the others are asked after these.
const AT_ONCE: usize = 32;

/// The answers, in the order of the questions.
pub(super) fn ask(
    asked: &[Asked],
    deadline: Duration,
    around: &Surroundings,
) -> Result<Vec<Heard>, Complaint> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |what: &'static str| move |error| Complaint::ours(what).caused_by(error);
    become_subreaper().map_err(ours)?;
    let exe = std::env::current_exe().map_err(failed("cannot find our own program"))?;
    let room = tempfile::tempdir().map_err(failed("cannot make a temporary folder"))?;
    let mut calls = Vec::new();
    for (nth, one) in asked.iter().enumerate() {
        let place = room.path().join(nth.to_string());
        std::fs::create_dir_all(place.join(HOME)).map_err(failed("cannot make a temporary folder"))?;
        calls.push(call(one, &place, deadline, around));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed("cannot start the runtime"))?;
    let mark = (GUARDS.to_owned(), "doctor".to_owned());
    let slots = calls.len().min(AT_ONCE);
    runtime.block_on(all(GuardianPool::new(exe, GUARDIAN, mark, slots), calls))
}

/// Ctrl-C ends the programs, and leaves nothing behind either.
async fn all(pool: GuardianPool, calls: Vec<Call>) -> Result<Vec<Heard>, Complaint> {
    let (cancel, told) = watch::channel(None);
    let tasks: Vec<_> =
        calls.into_iter().map(|call| tokio::spawn(one(pool.clone(), call, told.clone()))).collect();
    let answers = async {
        let mut heard = Vec::new();
        for task in tasks {
            heard.push(task.await.unwrap_or_else(|_| given_up()));
        }
        heard
    };
    tokio::pin!(answers);
    let heard = tokio::select! {
        heard = &mut answers => Ok(heard),
        _ = tokio::signal::ctrl_c() => {
            cancel.send_replace(Some(Cancel::Now));
            answers.await;
            Err(Complaint::interrupted())
        }
    };
    pool.close().await;
    heard
}

/// What a program takes for the person's home: whatever it writes there is gone afterwards.
const HOME: &str = "home";

fn call(asked: &Asked, place: &Path, deadline: Duration, around: &Surroundings) -> Call {
    let home = place.join(HOME);
    let mut ambient = around.env.clone();
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        ambient.insert(name.to_owned(), home.to_string_lossy().into_owned());
    }
    let agent = Agent::new(&asked.name, None, asked.settings.clone(), asked.program.clone(), &ambient);
    Call {
        argv: vec![asked.program.clone().into(), "--version".into()],
        env: agent.env(&home, []),
        cwd: home,
        confinement: None,
        stdin: None,
        stdout: place.join("stdout"),
        stderr: place.join("stderr"),
        writes_itself: false,
        keep_bytes: KEPT,
        deadline,
        grace: GRACE,
        record: place.join("ended.json"),
    }
}

async fn one(pool: GuardianPool, call: Call, mut cancel: watch::Receiver<Option<Cancel>>) -> Heard {
    let went = async { pool.acquire().await?.run(&call, &mut cancel).await };
    heard(went.await, &call)
}

fn given_up() -> Heard {
    Heard::Nothing("was given up".to_owned())
}

fn heard(went: Result<Ended, ProcessError>, call: &Call) -> Heard {
    match went.map(|ended| ended.how) {
        Ok(How::Exited(0)) => match said(&call.stdout).or_else(|| said(&call.stderr)) {
            Some(version) => Heard::Version(version),
            None => Heard::Nothing("tells no version".to_owned()),
        },
        Ok(How::Exited(code)) => Heard::Nothing(format!("tells no version: exit code {code}")),
        Ok(How::Signalled(signal)) => Heard::Nothing(format!("tells no version: ended by signal {signal}")),
        Ok(How::TimedOut) => {
            Heard::Nothing(format!("has told no version within {}", figures::duration(call.deadline)))
        }
        Ok(How::Cancelled) => given_up(),
        Ok(How::NotStarted { why }) => {
            Heard::NotStarted(format!("cannot be started: {}", plain::one_line(&why)))
        }
        Err(error) => Heard::Nothing(plain::one_line(&error.to_string())),
    }
}

/// The first line that says anything, fit to be shown.
fn said(output: &Path) -> Option<String> {
    let bytes = std::fs::read(output).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(plain::one_line).find(|line| !line.is_empty())?;
    Some(line.chars().take(SHOWN).collect())
}
