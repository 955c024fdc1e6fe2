//! What agents do that should not: each kind in its own way hard to end, to read or to hold small.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Misbehaviour {
    /// Ignores being asked to leave.
    Deaf,
    /// Ends, and leaves a child behind that holds its output.
    Grandchild,
    /// Has a child in a session of its own.
    Session,
    /// Has a child in a session of its own, whose parent is gone and whose environment is empty.
    Daemon,
    /// Prints as much as anybody takes.
    Flood,
    /// Never reads its prompt.
    IgnorePrompt,
    /// Closes its output and stays.
    CloseOutput,
    /// Leaves folders within folders, deeper than anybody may hold files open.
    Deep,
    /// Removes the skill that it is to improve.
    Remove,
    /// Puts a link in the place of the skill that it is to improve.
    Lead,
}

const FLOOD_MIB: usize = 300;
const LEVELS: usize = 5_000;

pub(crate) fn misbehave(kind: Misbehaviour) -> ExitCode {
    match kind {
        Misbehaviour::Deaf => {
            let shell = ["-c", "trap '' TERM INT HUP; exec \"$0\" hold"];
            let failed = Command::new("/bin/sh").args(shell).arg(ourselves()).exec();
            panic!("the shell starts: {failed}")
        }
        Misbehaviour::Grandchild => {
            start("hold");
            ExitCode::SUCCESS
        }
        Misbehaviour::Session => {
            start("lead");
            hold()
        }
        Misbehaviour::Daemon => {
            start("daemon");
            hold()
        }
        Misbehaviour::Flood => {
            let piece = vec![b'x'; 1 << 20];
            let flooded = (0..FLOOD_MIB).try_for_each(|_| io::stdout().write_all(&piece));
            flooded.expect("somebody reads it");
            ExitCode::SUCCESS
        }
        Misbehaviour::IgnorePrompt => hold(),
        Misbehaviour::CloseOutput => {
            let null = OpenOptions::new().write(true).open("/dev/null").expect("it is always there");
            rustix::stdio::dup2_stdout(&null).expect("ours to replace");
            rustix::stdio::dup2_stderr(&null).expect("ours to replace");
            hold()
        }
        Misbehaviour::Deep => {
            for _ in 0..LEVELS {
                std::fs::create_dir("deeper").expect("the workspace can be written");
                std::env::set_current_dir("deeper").expect("it was just made");
            }
            ExitCode::SUCCESS
        }
        Misbehaviour::Remove => {
            std::fs::remove_dir_all(copy()).expect("the copy can be changed");
            ExitCode::SUCCESS
        }
        Misbehaviour::Lead => {
            std::fs::rename(copy(), "elsewhere").expect("the copy can be changed");
            std::fs::write("elsewhere/secret", "of somebody else").expect("it is ours now");
            std::os::unix::fs::symlink("../elsewhere", copy()).expect("nothing stands there");
            ExitCode::SUCCESS
        }
    }
}

/// Where an improver finds its copy.
fn copy() -> &'static str {
    "skill/writer"
}

/// The parts that our own children play, by the word they are started with.
pub(crate) fn part(word: &str) -> Option<fn() -> ExitCode> {
    match word {
        "hold" => Some(hold),
        "lead" => Some(lead),
        "daemon" => Some(daemon),
        _ => None,
    }
}

pub(crate) fn hold() -> ExitCode {
    loop {
        std::thread::park();
    }
}

pub(crate) fn lead() -> ExitCode {
    rustix::process::setsid().expect("a child leads no group");
    hold()
}

fn daemon() -> ExitCode {
    rustix::process::setsid().expect("a child leads no group");
    leave_alone(Command::new(ourselves()).arg("hold").env_clear());
    ExitCode::SUCCESS
}

fn start(part: &str) {
    leave_alone(Command::new(ourselves()).arg(part));
}

#[expect(clippy::zombie_processes, reason = "that is the misbehaviour")]
fn leave_alone(command: &mut Command) {
    command.spawn().expect("we can be started");
}

fn ourselves() -> std::path::PathBuf {
    std::env::current_exe().expect("we are somewhere")
}
