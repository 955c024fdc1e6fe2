//! Starts a child as cheaply as the system allows, with nothing inherited.
//!
//! It uses no `pre_exec` and no lookup in a changed PATH: either would turn the cheap spawn into a fork.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::call::Call;
use super::family::Reach;
use super::hide::{Hiding, Report};
use super::output::{self, Source};

/// A running child in its own process group.
pub(super) struct Started {
    pub(super) pid: Pid,
    pub(super) exit: Exit,
    pub(super) stdout: Source,
    pub(super) stderr: Source,
    /// If it hides something first.
    pub(super) hides: Option<Report>,
}

/// Starts the program. The error is a text for the user.
pub(super) fn start(call: &Call, reach: Reach) -> Result<Started, String> {
    let hides = call.hidden.as_ref().and_then(|hidden| Some((hidden, Hiding::within(reach)?)));
    let mut argv = argv(call);
    if let Some((hidden, _)) = &hides {
        argv = Cow::Owned(hidden.argv(call.stdin.as_deref(), &argv));
    }
    let (program, arguments) = argv.split_first().ok_or("no program given")?;
    let stdin = match &call.stdin {
        Some(path) => {
            File::open(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?.into()
        }
        None => Stdio::null(),
    };
    let cannot = |error: io::Error| format!("cannot start {}: {error}", program.display());
    let (stdout, child_stdout) =
        if call.writes_itself { output::itself(&call.stdout) } else { output::piped() }.map_err(cannot)?;
    let (stderr, child_stderr) = output::piped().map_err(cannot)?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&call.cwd).process_group(0);
    command.env_clear().envs(call.env.iter().map(|(name, value)| (name, value)));
    command.stdin(stdin).stdout(child_stdout).stderr(child_stderr);
    let (child, hides) = match hides {
        Some((_, hiding)) => hiding.spawn(&mut command).map(|(child, report)| (child, Some(report))),
        None => command.spawn().map(|child| (child, None)),
    }
    .map_err(cannot)?;
    // Drop the command's ends of the pipes, or the streams would never end.
    drop(command);
    let pid = Pid::from_child(&child);
    let exit = Exit::of(pid).map_err(|error| give_up(pid, &cannot(error)))?;
    Ok(Started { pid, exit, stdout, stderr, hides })
}

/// Returns the command to start: a confined program is started by ours.
fn argv(call: &Call) -> Cow<'_, [OsString]> {
    match &call.confinement {
        Some(confinement) => Cow::Owned(confinement.argv(&call.argv)),
        None => Cow::Borrowed(&call.argv),
    }
}

/// Ends a child that cannot be watched.
fn give_up(pid: Pid, why: &str) -> String {
    let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    why.to_owned()
}

/// Waits for a child to end, without reaping it. Returns false after the time limit.
pub(crate) fn ends_by(child: Pid, limit: Instant) -> bool {
    let Ok(exit) = Exit::of(child) else { return false };
    loop {
        let left = limit.saturating_duration_since(Instant::now());
        let wait = Exit::LOOK.map_or(left, |look| look.min(left));
        let watched = exit.watched().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let mut watched: Vec<_> = watched.into_iter().collect();
        let announced =
            poll(&mut watched, Timespec::try_from(wait).ok().as_ref()).is_ok_and(|ready| ready > 0);
        if exit.happened(announced) || left.is_zero() {
            return exit.happened(announced);
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use by_pidfd::Exit;

#[cfg(not(target_os = "linux"))]
pub(super) use by_asking::Exit;

#[cfg(target_os = "linux")]
mod by_pidfd {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    /// The exit of a child as a file descriptor to poll.
    pub(in super::super) struct Exit(OwnedFd);

    impl Exit {
        /// The interval for checking; not needed here.
        pub(in super::super) const LOOK: Option<Duration> = None;

        pub(in super::super) fn of(pid: Pid) -> io::Result<Self> {
            Ok(Self(pidfd_open(pid, PidfdFlags::empty())?))
        }

        #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is nothing to watch")]
        pub(in super::super) fn watched(&self) -> Option<BorrowedFd<'_>> {
            Some(self.0.as_fd())
        }

        #[expect(clippy::unused_self, reason = "elsewhere it has to be asked for")]
        pub(in super::super) fn happened(&self, announced: bool) -> bool {
            announced
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod by_asking {
    use std::io;
    use std::os::fd::BorrowedFd;
    use std::time::Duration;

    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    /// The exit of a child, which has to be checked regularly.
    pub(in super::super) struct Exit(Pid);

    impl Exit {
        pub(in super::super) const LOOK: Option<Duration> = Some(Duration::from_millis(10));

        #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
        pub(in super::super) fn of(pid: Pid) -> io::Result<Self> {
            Ok(Self(pid))
        }

        #[expect(clippy::unused_self, reason = "elsewhere there is something to watch")]
        pub(in super::super) fn watched(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        /// Checks without reaping, so that the pid stays the child's until its group has been killed.
        pub(in super::super) fn happened(&self, _announced: bool) -> bool {
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(waitid(WaitId::Pid(self.0), look), Ok(None))
        }
    }
}
