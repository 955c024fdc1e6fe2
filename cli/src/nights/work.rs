//! One piece of work: another process of this program, its arguments, and the output on its streams.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use skilltune_phases::base::json;

use crate::nights::outcome::Ended;
use crate::runs::session::MODELS;
use crate::terminal::complaint::Complaint;

/// The process that a program of ours works for: it saves its work and ends if that process is killed.
pub const NIGHT: &str = "SKILLTUNE_NIGHT";

/// More than any summary or complaint has; the rest is read and dropped.
const MOST: usize = 4 << 20;

/// A program under way.
#[derive(Debug)]
pub struct Working {
    pid: Pid,
}

impl Working {
    /// Starts the program, with the models that answer now; `done` is called when it ends.
    pub fn start(
        words: &[String],
        models: &BTreeMap<String, String>,
        folder: &Path,
        done: impl FnOnce(Ended) + Send + 'static,
    ) -> Result<Self, Complaint> {
        let failed = |error| Complaint::ours("cannot start skilltune for a job").caused_by(error);
        let exe = std::env::current_exe().map_err(failed)?;
        let (words, folder, models) = (words.to_vec(), folder.to_owned(), json::line(models));
        let (begun, started) = std::sync::mpsc::channel();
        // The thread must live as long as the program: the kernel treats the end of this thread as the parent's end.
        thread::spawn(move || {
            let mut command = Command::new(exe);
            command.args(words).current_dir(folder).env(NIGHT, std::process::id().to_string());
            command.env(MODELS, models);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            // Ctrl-C at the terminal goes only to this process, which forwards it.
            command.process_group(0);
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => return drop(begun.send(Err(error))),
            };
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process has a number");
            let _ = begun.send(Ok(pid));
            let (out, err) = (child.stdout.take(), child.stderr.take());
            let stderr = thread::spawn(move || err.map(read).unwrap_or_default());
            let stdout = out.map(read).unwrap_or_default();
            let stderr = stderr.join().unwrap_or_default();
            let code = child.wait().ok().and_then(|status| status.code());
            done(Ended { code, stdout, stderr });
        });
        let pid = started.recv().map_err(|error| failed(std::io::Error::other(error)))?.map_err(failed)?;
        Ok(Self { pid })
    }

    /// Forwards a signal. The program may have ended already.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid, signal);
    }
}

/// Reads to the end, so that the writer never blocks.
fn read(mut from: impl Read) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 8192]);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let room = MOST - kept.len();
        kept.extend_from_slice(&buffer[..length.min(room)]);
    }
    kept
}

/// Makes a program that a night started finish its calls and save if the night is killed. Its own children have the
/// same variable but another parent, so they are not affected.
pub fn follow_the_night() {
    let night = std::env::var(NIGHT).ok().and_then(|text| text.parse::<i32>().ok());
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    if night.is_some() && night == parent {
        #[cfg(target_os = "linux")]
        // A failure here only matters if the night is killed.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::USR1));
    }
}
