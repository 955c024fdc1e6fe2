//! Another skilltune at work, reached by its pid: asked to finish, and seen off.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::complaint::Complaint;

/// A process that was there when it was reached.
#[derive(Debug)]
pub struct Reached {
    pid: Pid,
    #[cfg(target_os = "linux")]
    exit: std::os::fd::OwnedFd,
}

impl Reached {
    /// None, when it has gone.
    pub fn by(pid: u32) -> Result<Option<Self>, Complaint> {
        // A number below one is not one process: a signal to it would go to many.
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Err(Complaint::ours(format!("the lock contains no valid process id: {pid}")));
        };
        there(Self::open(pid)).map_err(|error| unreachable(pid, error))
    }

    /// Asks it to finish what is under way, and to save; it may have gone meanwhile.
    pub fn ask_to_finish(&self) -> Result<(), Complaint> {
        let asked = there(kill_process(self.pid, Signal::USR1));
        asked.map(|_| ()).map_err(|error| unreachable(self.pid, error))
    }

    /// Waits until it has gone.
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

    /// Nothing tells here when a process that is not ours ends.
    fn wait(self) -> rustix::io::Result<()> {
        while there(rustix::process::test_kill_process(self.pid))?.is_some() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Ok(())
    }
}

/// That a process has gone is no failure.
fn there<T>(done: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match done {
        Err(Errno::SRCH) => Ok(None),
        done => done.map(Some),
    }
}

fn unreachable(pid: Pid, error: Errno) -> Complaint {
    Complaint::ours(format!("could not reach process {}", pid.as_raw_pid())).caused_by(error)
}
