//! Runs the file's commands with the morning page, so that the user need not check: without a shell, under a guardian
//! and with a deadline. `notify` says that a night needs somebody, `heartbeat` that a night has run at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::process::{Call, How};

use crate::nights::file::NightPlan;
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::figures::duration;
use crate::text::plain::one_line;

/// Time for a slow mail server.
const DEADLINE: Duration = Duration::from_secs(60);

const GRACE: Duration = Duration::from_secs(2);

/// The variables of our environment that it gets; none of them is a key.
const PASSED: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];

/// Whether the command got the morning page; the error says why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notified {
    pub ok: bool,
    pub error: Option<String>,
}

/// Starts a command of the file. A failure here does not fail the night.
pub fn notify(command: &[String], plan: &NightPlan, morning: &str, env: &Environment) -> Notified {
    let error = run(command, plan, morning, env).err();
    Notified { ok: error.is_none(), error: error.map(|why| one_line(&why)) }
}

fn run(command: &[String], plan: &NightPlan, morning: &str, env: &Environment) -> Result<(), String> {
    let text = |complaint: Complaint| [&[complaint.what][..], &complaint.causes].concat().join(": ");
    // The script may have changed during the night.
    plan.require_trust(env).map_err(text)?;
    let program = program(command, plan, env).map_err(|error| format!("{}: {error}", command[0]))?;
    let mut argv = vec![program.into_os_string()];
    argv.extend(command[1..].iter().map(Into::into));
    let passed = |name: &String| PASSED.contains(&name.as_str()) || name.starts_with("XDG_");
    let env = env.vars.iter().filter(|(name, _)| passed(name));
    let env: Vec<_> = env.map(|(name, value)| (name.clone(), value.clone())).collect();
    let call = |room: &Path| Call {
        argv: argv.clone(),
        env: env.clone(),
        cwd: plan.folder.clone(),
        confinement: None,
        hidden: None,
        stdin: Some(room.join("morning.json")),
        stdout: room.join("stdout"),
        stderr: room.join("stderr"),
        writes_itself: false,
        keep_bytes: 0,
        deadline: DEADLINE,
        grace: GRACE,
        record: room.join("ended.json"),
    };
    let lost = || Err("it was interrupted".to_owned());
    let mut ended = under_guard(1, lost, |_, room| {
        let (call, morning) = (call(&room), morning.to_owned());
        move |pool, cancel_token| {
            let written = SafePath::below(&room, "morning.json").create(morning.as_bytes());
            written.map_err(|error| error.to_string())?;
            let ended = pool.acquire().and_then(|mut slot| slot.run(&call, &cancel_token));
            came_to(&ended.map_err(|error| error.to_string())?.how)
        }
    })
    .map_err(text)?;
    ended.remove(0)
}

/// Returns the path of a command's program, if there is a command.
pub fn program(command: &[String], plan: &NightPlan, env: &Environment) -> which::Result<PathBuf> {
    let name = command.first().ok_or(which::Error::CannotFindBinaryPath)?;
    which::which_in(name, Some(env.vars.get("PATH").map_or("", String::as_str)), &plan.folder)
}

fn came_to(how: &How) -> Result<(), String> {
    match how {
        How::Exited(0) => Ok(()),
        How::Exited(code) => Err(format!("it ended with exit code {code}")),
        How::Signalled(signal) => Err(format!("it was killed by signal {signal}")),
        How::TimedOut => Err(format!("it did not end within {}", duration(DEADLINE))),
        How::Cancelled | How::OutputClosed => Err("it was interrupted".to_owned()),
        How::Lost { why } | How::NotStarted { why } => Err(why.clone()),
    }
}
