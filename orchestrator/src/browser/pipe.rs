//! Starts a browser that is controlled over two pipes: our own program runs again, moves the pipes to the numbers that
//! a browser expects, leaves the network, and becomes the browser.

use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::{Mode, OFlags, open};

/// The argument that starts our own program to become a browser.
pub const BECOME: &str = "become-browser";

/// The file descriptors on which a browser reads commands and writes messages.
const PLACES: (i32, i32) = (3, 4);

/// `skilltune become-browser PROGRAM ARGUMENT...`; without a program it only tests whether it can leave the network.
pub fn become_browser_main() -> ExitCode {
    let Err(error) = become_browser() else { return ExitCode::SUCCESS };
    // If stderr is closed, only the exit code is left.
    let _ = writeln!(io::stderr(), "cannot start the browser: {error}");
    ExitCode::FAILURE
}

fn become_browser() -> io::Result<()> {
    let mut words = std::env::args_os().skip(2);
    let Some(program) = words.next() else { return leave_the_network() };
    let can_leave = can_leave_the_network();
    // These are the lowest free numbers: a program that has just started has nothing else open.
    let reads = rustix::io::dup(rustix::stdio::stdin())?;
    let writes = rustix::io::dup(rustix::stdio::stdout())?;
    if (reads.as_raw_fd(), writes.as_raw_fd()) != PLACES {
        return Err(io::Error::other("file descriptor 3 or 4 is already in use"));
    }
    let nowhere = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    if can_leave {
        leave_the_network()?;
    }
    Err(Command::new(program).args(words).exec())
}

/// A partial failure would leave the browser without a valid user, so another process tries it first.
fn can_leave_the_network() -> bool {
    let mut probe = Command::new("/proc/self/exe");
    probe.arg(BECOME).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    cfg!(target_os = "linux") && probe.status().is_ok_and(|status| status.success())
}

/// Moves the process into its own, empty network. If the system forbids that, the browser's own switches block the
/// network.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe way into a namespace")]
#[expect(clippy::disallowed_methods, reason = "files of the system")]
fn leave_the_network() -> io::Result<()> {
    use rustix::process::{getegid, geteuid};
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    use std::fs;
    let (user, group) = (geteuid(), getegid());
    // Without root this is only allowed in a new user namespace.
    let users = if user.is_root() { UnshareFlags::empty() } else { UnshareFlags::NEWUSER };
    // SAFETY: the call is unsafe because threads may stop sharing a table of open files. This call leaves the table
    // alone, and there is only one thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET | users) }?;
    if !user.is_root() {
        let (user, group) = (user.as_raw(), group.as_raw());
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn leave_the_network() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
