//! The built-in agent as a program: it reads a task from stdin, and the current folder is its workspace.
//!
//! It is started like any other agent, so that timeouts, clean-up and crash recovery apply to it and to the command of
//! a scenario. Its decisions are made in `phases::offline`.

use std::fs;
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdout, Command, ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process_group};
use skilltune_phases::base::material::Body;
use skilltune_phases::skills::lint::Files;
use skilltune_phases::skills::offline::{self, Judged, Ran, Task};

use crate::agent::filled;
use crate::disk::atomic::{self, Durability};
use crate::disk::{self, DiskError, OnDisk};
use crate::skill_files::{self, LoadError};

/// How the scenario's command ended. Written beside its output files.
const RAN: &str = "run.json";
/// The output of the scenario's command.
const PRINTED: &str = "stdout.txt";
/// Output beyond this size is dropped.
const PRINTED_BYTES: usize = 1 << 20;
/// The record of a command is not larger than its output.
const RAN_BYTES: u64 = 8 << 20;

#[derive(Debug, thiserror::Error)]
enum OfflineError {
    #[error("not a task for the built-in agent")]
    NoTask(#[source] serde_json::Error),
    #[error("the scenario's command is empty")]
    NoCommand,
    #[error("could not run {program:?}")]
    Command { program: String, source: io::Error },
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error("could not write the answer")]
    Mute(#[source] io::Error),
}

/// Performs one task in the current folder.
pub fn offline_main() -> ExitCode {
    match task().and_then(|task| answer(&task)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            let _ = writeln!(io::stderr(), "{error}{}", cause.unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<Task, OfflineError> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).on_disk("read", Path::new("the task"))?;
    serde_json::from_str(&text).map_err(OfflineError::NoTask)
}

fn answer(task: &Task) -> Result<(), OfflineError> {
    match task {
        Task::Execute { skill, command: None, .. } => {
            let page = offline::walk(&skill.name, &files(&skill.at)?);
            atomic::replace(Path::new("walk.md"), page.as_bytes(), Durability::Order)?;
            say("walked through the skill")
        }
        Task::Execute { skill, input, command: Some(command) } => {
            let values = [("{skill}", skill.at.as_str()), ("{input}", input.as_deref().unwrap_or_default())];
            let command: Vec<String> = command.iter().map(|word| filled(word, &values)).collect();
            run(&command)?;
            say("ran the scenario's command")
        }
        Task::Evaluate { verdict_of, contract, members } => {
            let seen = members.iter().map(seen).collect::<Result<Vec<_>, _>>()?;
            say(&offline::judge(verdict_of, contract, &seen).to_string())
        }
        Task::Improve { skill, contract, tried } => {
            let before = files(&skill.at)?;
            let Some(improved) = offline::improve(contract, &before, tried) else {
                return say(r#"{"edits": [], "summary": "no fix is left that keeps the meaning"}"#);
            };
            put(Path::new(&skill.at), &before, &improved.files)?;
            say(&improved.report.to_string())
        }
    }
}

/// Returns what the evaluator inspects of one member.
fn seen(judged: &Judged) -> Result<(Judged, Files, Option<Ran>), OfflineError> {
    let ran = judged.artifacts.as_ref().and_then(|at| disk::read(&Path::new(at).join(RAN), RAN_BYTES).ok());
    let ran = ran.and_then(|text| serde_json::from_slice(&text).ok());
    Ok((judged.clone(), files(&judged.skill.at)?, ran))
}

/// Runs a scenario's command here, and writes its exit status and its output beside its own files.
fn run(command: &[String]) -> Result<(), OfflineError> {
    let [program, arguments @ ..] = command else { return Err(OfflineError::NoCommand) };
    let cannot = |source| OfflineError::Command { program: program.clone(), source };
    let mut started = Command::new(program);
    started.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut child = started.spawn().map_err(cannot)?;
    let pipe = child.stdout.take().expect("its output was asked for");
    let (over, alive) = io::pipe().map_err(cannot)?;
    let waiter = std::thread::spawn(move || {
        let status = child.wait();
        // Processes that left the group are ended with the call.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        drop(alive);
        status
    });
    let printed = printed(pipe, &over).map_err(cannot)?;
    let status = waiter.join().expect("no waiter panics").map_err(cannot)?;
    if !printed.is_empty() {
        write(PRINTED, &printed)?;
    }
    let ran = Ran { command: command.to_vec(), exit: status.code() };
    write(RAN, &serde_json::to_vec_pretty(&ran).expect("a command has a JSON text"))
}

/// Returns the beginning of a command's output until it ends. The rest is read and dropped, so the command never blocks
/// on us.
fn printed(mut pipe: ChildStdout, over: &PipeReader) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut piece = vec![0; 64 << 10];
    let mut keep = |piece: &[u8]| {
        let room = PRINTED_BYTES - kept.len();
        kept.extend_from_slice(&piece[..piece.len().min(room)]);
    };
    while !is_over(&pipe, over)? {
        match pipe.read(&mut piece)? {
            0 => return Ok(kept),
            count => keep(&piece[..count]),
        }
    }
    // The last output is still in the pipe. Do not wait for more: surviving processes may hold the pipe open and print
    // forever.
    let mut last = Vec::new();
    let waiting = ioctl_fionread(&pipe)?;
    pipe.take(waiting).read_to_end(&mut last)?;
    keep(&last);
    Ok(kept)
}

/// Waits for output, or for the end of the command.
fn is_over(pipe: &ChildStdout, over: &PipeReader) -> io::Result<bool> {
    let mut watched = [PollFd::new(pipe, PollFlags::IN), PollFd::new(over, PollFlags::IN)];
    rustix::io::retry_on_intr(|| poll(&mut watched, None))?;
    Ok(!watched[1].revents().is_empty())
}

/// Writes a file and replaces whatever the command left at that name, including a symlink.
fn write(name: &str, bytes: &[u8]) -> Result<(), OfflineError> {
    Ok(atomic::replace(Path::new(name), bytes, Durability::Order)?)
}

fn say(answer: &str) -> Result<(), OfflineError> {
    writeln!(io::stdout(), "{answer}").map_err(OfflineError::Mute)
}

/// Writes the files that differ. The copy is private to us, and lint names no missing file and no symlink.
fn put(root: &Path, before: &Files, after: &Files) -> Result<(), OfflineError> {
    for file in after.files().iter().filter(|file| before.get(&file.path) != Some(*file)) {
        let path = root.join(&file.path);
        if let Body::Text(text) = &file.body {
            atomic::replace(&path, text.as_bytes(), Durability::Order)?;
        }
        let mode = if file.executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).on_disk("change the mode of", &path)?;
    }
    Ok(())
}

/// Returns the files of a skill for lint.
fn files(at: &str) -> Result<Files, OfflineError> {
    let folder = Path::new(at);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Ok(skill_files::load_all(folder, &name)?)
}
