//! Makes the workspace of a call a git repository with one commit of all its files, before its agent starts.
//!
//! It is made again for each call: none of our trees holds a git folder.

use skilltune_phases::asking::order::Command;
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::call_dir::CallDir;
use super::{EngineError, Services};
use crate::process::{self, CancelToken, How, Slot};

/// The commands with their names. They read no user configuration, run no hooks, and commit as skilltune. Nothing is
/// compressed: of 50,000 files that takes more time than all the rest.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("init", &["git", "init", "--quiet", "--template=", "--initial-branch=main"]),
    ("add", &["git", "-c", "core.looseCompression=0", "add", "--all", "--force"]),
    (
        "commit",
        &[
            "git",
            "-c",
            "user.name=skilltune",
            "-c",
            "user.email=skilltune@localhost",
            "-c",
            "commit.gpgsign=false",
            "commit",
            "--quiet",
            "--allow-empty",
            "--no-verify",
            "--message=The starting state",
        ],
    ),
];

/// More than enough for a large project on a slow disk.
const SECONDS: u64 = 600;

/// Makes the repository. If a command fails, returns how it ended and why.
pub(super) fn make(
    services: &Services,
    dir: &CallDir,
    confined: bool,
    slot: &mut Slot,
    cancel_token: &CancelToken,
) -> Result<Option<(How, Failure)>, EngineError> {
    for (name, argv) in COMMANDS {
        let argv = argv.iter().map(|&argument| argument.to_owned()).collect();
        let command = Command::new(argv, SECONDS, confined);
        let call = process::Call {
            stdout: dir.beside("git.stdout"),
            stderr: dir.beside("git.stderr"),
            record: dir.beside("git.json"),
            ..services.command(dir, &command)
        };
        let how = slot.run(&call, cancel_token)?.how;
        let why = match &how {
            How::Exited(0) => continue,
            How::NotStarted { why } | How::Lost { why } => why.clone(),
            How::Cancelled | How::OutputClosed => "it was cancelled".to_owned(),
            How::Exited(code) => format!("exit code {code}"),
            How::Signalled(signal) => format!("signal {signal}"),
            How::TimedOut => "it timed out".to_owned(),
        };
        let why = format!("cannot make the workspace a git repository: git {name}: {why}");
        return Ok(Some((how, Failure::new(FailureKind::Crashed, why))));
    }
    Ok(None)
}
