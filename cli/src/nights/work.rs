//! One piece of work: this program once more, with its own arguments, and what it leaves on its streams.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::nights::told::Ended;
use crate::terminal::complaint::Complaint;

/// Tells a program of ours which process it works for: it saves its work and ends if that one is killed.
pub const NIGHT: &str = "SKILLTUNE_NIGHT";

/// More than any summary or complaint; the rest is read and forgotten.
const MOST: usize = 4 << 20;

/// A program under way.
#[derive(Debug)]
pub struct Working {
    pid: Pid,
}

impl Working {
    /// Starts it; its end is told to `done`.
    pub fn start(
        words: &[String],
        folder: &Path,
        done: impl FnOnce(Ended) + Send + 'static,
    ) -> Result<Self, Complaint> {
        let failed = |error| Complaint::ours("cannot start skilltune for a job").caused_by(error);
        let exe = std::env::current_exe().map_err(failed)?;
        let (words, folder) = (words.to_vec(), folder.to_owned());
        let (begun, told) = std::sync::mpsc::channel();
        // The thread that starts it stays as long as it: the kernel takes the end of a thread for that of the parent.
        thread::spawn(move || {
            let mut command = Command::new(exe);
            command.args(words).current_dir(folder).env(NIGHT, std::process::id().to_string());
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            // Ctrl-C at the terminal is for us alone, and we pass it on.
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
        let pid = told.recv().map_err(|error| failed(std::io::Error::other(error)))?.map_err(failed)?;
        Ok(Self { pid })
    }

    /// Passes a signal on; it may have ended meanwhile.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid, signal);
    }
}

/// To its end, so that nobody waits for us.
fn read(mut from: impl Read) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 8192]);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let room = MOST - kept.len();
        kept.extend_from_slice(&buffer[..length.min(room)]);
    }
    kept
}

/// In a program that a night has started: if the night is killed, it finishes its calls and saves. Whatever that program starts
/// has the same variable and another parent, and is left alone.
pub fn follow_the_night() {
    let night = std::env::var(NIGHT).ok().and_then(|text| text.parse::<i32>().ok());
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    if night.is_some() && night == parent {
        #[cfg(target_os = "linux")]
        // Without it only a killed night is worse.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::USR1));
    }
}
