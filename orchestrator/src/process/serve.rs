//! The guardian's own side: it takes calls from its parent until the parent is gone. With a namespace there are two
//! processes: one enters it and waits, and the first process inside takes the calls.
//!
//! Blocking and single-threaded on purpose: a guardian must not hang for reasons of its own.

use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;

use super::family::Reach;
use super::live;
use super::namespace::{self, Init};
use super::parent::Parent;
use super::wire::{GuardianRequest, Reply};

const PIECE: usize = 64 * 1024;

/// Serves as a guardian over the socket on standard input, until it closes.
pub fn guardian_main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let (word, part) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let served = Parent::on_stdin().and_then(|mut parent| {
        let served = begin(&word, &part, &mut parent);
        if let Err(error) = &served {
            // If this fails, the parent sees the socket close.
            let _ = parent.tell(&Reply::Failed { why: error.to_string() });
        }
        served
    });
    if served.unwrap_or(false) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the part that it was started for. Returns false if a guardian in a namespace failed.
fn begin(word: &OsStr, part: &OsStr, parent: &mut Parent) -> io::Result<bool> {
    // Its own session: no signal of the terminal arrives here, and no child of ours can prompt there.
    rustix::process::setsid()?;
    if part == namespace::INIT {
        serve(Reach::Namespace(Init::begin()?), parent)?;
    } else if part == namespace::PLAIN {
        adopt_orphans()?;
        serve(Reach::Descendants, parent)?;
    } else {
        namespace::enter().map_err(|error| io::Error::other(format!("the kernel refused: {error}")))?;
        parent.tell(&Reply::Entered)?;
        return match parent.next()? {
            Some(GuardianRequest::Mapped) => Ok(namespace::run_init(word)?.success()),
            _ => Ok(false),
        };
    }
    Ok(true)
}

fn serve(reach: Reach, parent: &mut Parent) -> io::Result<()> {
    parent.tell(&Reply::Ready)?;
    let mut buffer = vec![0; PIECE];
    while let Some(request) = parent.next()? {
        match request {
            GuardianRequest::Run(call) => {
                let reply = live::run(&call, reach, parent, &mut buffer);
                parent.tell(&reply)?;
            }
            // It was sent before our answer arrived.
            GuardianRequest::Cancel(_) | GuardianRequest::Mapped => {}
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}
