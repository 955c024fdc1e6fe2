//! Misbehaving agents: each kind is hard to end, to read or to limit in its own way.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal};
use serde::Deserialize;

use crate::script::Script;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Misbehaviour {
    /// Ignores termination signals.
    Deaf,
    /// Exits and leaves a child that holds its output.
    Grandchild,
    /// Has a child in its own session.
    Session,
    /// Has a child in its own session, whose parent is gone and whose environment is empty.
    Daemon,
    /// Prints without end.
    Flood,
    /// Never reads its prompt.
    IgnorePrompt,
    /// Closes its output and does not exit.
    CloseOutput,
    /// Leaves nested folders, deeper than the limit of open files.
    Deep,
    /// Removes the skill that it should improve.
    Remove,
    /// Replaces the skill that it should improve with a symlink.
    Lead,
    /// Forks without end; each process ignores signals, has its own session and exits at once.
    Storm,
    /// Kills its parent process.
    KillGuardian,
    /// Stops its parent process.
    StopGuardian,
    /// Leaves a child with its own session and no environment, then kills all skilltune processes that it sees.
    KillAll,
    /// Prints every environment that it can read.
    Spy,
    /// Replaces its workspace with a symlink to another folder.
    LinkSpace,
    /// Replaces the parent folder of the workspace with a symlink to another folder.
    LinkDesk,
    /// Removes the parent folder of the workspace.
    RemoveDesk,
}

const FLOOD_MIB: usize = 300;
const LEVELS: usize = 5_000;

pub(crate) fn misbehave(kind: Misbehaviour, script: &Script) -> ExitCode {
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
        Misbehaviour::Storm => {
            let shell = ["-c", "trap '' TERM INT HUP; exec \"$0\" storm"];
            let failed = Command::new("/bin/sh").args(shell).arg(ourselves()).env("LOG", &script.log).exec();
            panic!("the shell starts: {failed}")
        }
        Misbehaviour::KillGuardian => {
            signal_ancestors(1, Signal::KILL);
            hold()
        }
        Misbehaviour::StopGuardian => {
            signal_ancestors(1, Signal::STOP);
            hold()
        }
        Misbehaviour::KillAll => {
            let daemon = Command::new(ourselves()).arg("daemon").env_clear().status();
            assert!(daemon.expect("we can be started").success());
            signal_ancestors(2, Signal::KILL);
            hold()
        }
        Misbehaviour::Spy => {
            let all = fs::read_dir("/proc").expect("this is Linux").flatten();
            let environs = all.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
            fs::write(script.log.with_file_name("environs"), environs.collect::<Vec<_>>().concat())
                .expect("the scene can be written");
            ExitCode::SUCCESS
        }
        Misbehaviour::LinkSpace => replace(Path::new("."), script),
        Misbehaviour::LinkDesk => replace(Path::new(".."), script),
        Misbehaviour::RemoveDesk => {
            fs::remove_dir_all(Path::new("..").canonicalize().expect("it is there")).expect("it is ours");
            ExitCode::SUCCESS
        }
    }
}

/// Returns the improver's copy of the skill.
fn copy() -> &'static str {
    "skill/writer"
}

/// Returns the part that one of our own children plays, by its first argument.
pub(crate) fn part(word: &str) -> Option<fn() -> ExitCode> {
    match word {
        "hold" => Some(hold),
        "lead" => Some(lead),
        "daemon" => Some(daemon),
        "storm" => Some(storm),
        "link" => Some(link),
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

/// More than a storm has time for; ends the storm if nothing else does.
const LINKS: u32 = 20_000;

fn storm() -> ExitCode {
    let log = std::env::var("LOG").expect("a storm is told");
    (0..16).for_each(|_| next_link(LINKS, Path::new(&log)));
    hold()
}

/// Runs one process of a storm: starts the next and exits.
fn link() -> ExitCode {
    rustix::process::setsid().expect("a child leads no group");
    let [left, log] = ["LEFT", "LOG"].map(|name| std::env::var(name).expect("a link is told"));
    let (left, log) = (left.parse::<u32>().expect("a number"), Path::new(&log));
    if left > 0 && log.exists() {
        next_link(left - 1, log);
    }
    ExitCode::SUCCESS
}

fn next_link(left: u32, log: &Path) {
    leave_alone(Command::new(ourselves()).arg("link").env("LEFT", left.to_string()).env("LOG", log));
}

/// Signals our ancestors as far as they are visible, the topmost first.
fn signal_ancestors(levels: usize, signal: Signal) {
    let parent = |pid: Pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        Pid::from_raw(status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?)
    };
    let above = std::iter::successors(rustix::process::getppid(), |pid| parent(*pid));
    for pid in above.take(levels).collect::<Vec<_>>().into_iter().rev() {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Moves a folder away and puts a symlink to another folder at its path.
fn replace(folder: &Path, script: &Script) -> ExitCode {
    let folder = folder.canonicalize().expect("it is there");
    let other = script.log.with_file_name("precious");
    // Each attempt moves it to a new path.
    let mut places = (0..).map(|nth| script.log.with_file_name(format!("moved-{nth}")));
    let place = places.find(|place| !place.exists()).expect("there is no end to them");
    fs::rename(&folder, place).expect("it is ours to move");
    std::os::unix::fs::symlink(other, &folder).expect("nothing stands there");
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
