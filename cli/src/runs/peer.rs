//! Another running skilltune, identified by its pid: asks it to finish, and waits until it exits.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::complaint::Complaint;

/// A process that existed when it was opened.
#[derive(Debug)]
pub struct Reached {
    pid: Pid,
    #[cfg(target_os = "linux")]
    exit: std::os::fd::OwnedFd,
}

impl Reached {
    /// Opens a process; returns `None` if it has exited.
    pub fn by(pid: u32) -> Result<Option<Self>, Complaint> {
        // A pid below 1 would send a signal to many processes.
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Err(Complaint::ours(format!("the lock contains no valid process id: {pid}")));
        };
        there(Self::open(pid)).map_err(|error| unreachable(pid, error))
    }

    /// Asks the process to finish its current work and save; ignores a process that has exited.
    pub fn ask_to_finish(&self) -> Result<(), Complaint> {
        let asked = there(kill_process(self.pid, Signal::USR1));
        asked.map(|_| ()).map_err(|error| unreachable(self.pid, error))
    }

    /// Waits until the process exits.
    pub fn see_off(self) -> Result<(), Complaint> {
        let pid = self.pid;
        self.wait().map_err(|error| unreachable(pid, error))
    }
}

#[cfg(target_os = "linux")]
impl Reached {
    fn open(pid: Pid) -> rustix::io::Result<Self> {
        let exit = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?;
        Ok(Self { pid, exit })
    }

    fn wait(self) -> rustix::io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            match poll(&mut [PollFd::new(&self.exit, PollFlags::IN)], None) {
                Err(Errno::INTR) => {}
                ended => return ended.map(|_| ()),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Reached {
    fn open(pid: Pid) -> rustix::io::Result<Self> {
        rustix::process::test_kill_process(pid).map(|()| Self { pid })
    }

    /// Polls, because this system does not report the exit of a process that is not a child.
    fn wait(self) -> rustix::io::Result<()> {
        while there(rustix::process::test_kill_process(self.pid))?.is_some() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Ok(())
    }
}

/// Maps the error for an exited process to `None`.
fn there<T>(done: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match done {
        Err(Errno::SRCH) => Ok(None),
        done => done.map(Some),
    }
}

fn unreachable(pid: Pid, error: Errno) -> Complaint {
    Complaint::ours(format!("could not reach process {}", pid.as_raw_pid())).caused_by(error)
}
