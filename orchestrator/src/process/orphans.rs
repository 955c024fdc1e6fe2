//! The orphans of a guardian that somebody killed: they become children of the main program if it is a subreaper.
//!
//! The main program has other children, so it waits for orphans only by pid.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::ProcessError;

/// The living guardians of this process; process-wide, like the reaper of orphans.
static GUARDIANS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

pub(super) fn guardians() -> MutexGuard<'static, BTreeSet<u32>> {
    GUARDIANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prepares this process for running guardians. It affects the whole program, so only `main` may call it.
///
/// Orphans become its children, and no other program of this user may inspect it, because its environment contains
/// keys. Root may.
#[cfg(target_os = "linux")]
pub fn become_driver() -> Result<(), ProcessError> {
    use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
    let done = set_child_subreaper(Some(getpid()))
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    done.map_err(|error| ProcessError::Driver(error.into()))
}

/// Prepares this process for running guardians. Does nothing on this system.
#[cfg(not(target_os = "linux"))]
pub fn become_driver() -> Result<(), ProcessError> {
    Ok(())
}

/// Ends all descendants of this process, which has no guardians and starts nothing more.
#[cfg(target_os = "linux")]
pub fn end_descendants() -> Result<(), ProcessError> {
    use super::family::Reach;
    let settled = Reach::Descendants.settle(rustix::process::getpid(), std::time::Duration::from_secs(6));
    if settled.left { Err(ProcessError::Left) } else { Ok(()) }
}

/// Ends all descendants of this process. Does nothing on this system, where they cannot be found.
#[cfg(not(target_os = "linux"))]
pub fn end_descendants() -> Result<(), ProcessError> {
    Ok(())
}

/// Kills and reaps the leftovers of a dead guardian.
#[cfg(not(target_os = "linux"))]
pub(super) fn sweep(_guardian: u32) {}

#[cfg(target_os = "linux")]
pub(super) use linux::sweep;

#[cfg(target_os = "linux")]
mod linux {
    use std::time::{Duration, Instant};

    use rustix::process::{WaitOptions, getpid, waitpid};

    use super::guardians;
    use crate::process::family::{self, Hunt, ProcessInfo};

    /// Longer than for a guardian, because this is the last attempt. A busy machine gives more of it to a storm than to
    /// us.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Kills and reaps the leftovers of a dead guardian.
    ///
    /// Orphans are identified by their session: a guardian's, or one made below it. Our own children share our session.
    pub(in super::super) fn sweep(guardian: u32) {
        let limit = Instant::now() + PATIENCE;
        let me = getpid().as_raw_pid();
        let Some(session) = family::myself().map(|process| process.session) else { return };
        let mut hunt = Hunt::within(PATIENCE);
        while Instant::now() < limit {
            // Held during the scan: a guardian that starts meanwhile would be mistaken for an orphan, and stopped.
            let alive = guardians();
            let others = |process: &ProcessInfo| alive.contains(&process.pid.as_raw_pid().cast_unsigned());
            let adopted = |process: &ProcessInfo| {
                process.parent == me && process.session != session && !others(process)
            };
            let left = |process: &ProcessInfo| !process.dead && process.session.cast_unsigned() == guardian;
            let (family, over) = hunt.look(|process| adopted(process) || left(process));
            drop(alive);
            for orphan in family.iter().filter(|process| process.parent == me && process.dead) {
                let _ = waitpid(Some(orphan.pid), WaitOptions::NOHANG);
                hunt.forget(orphan.pid);
            }
            match family.iter().find(|process| !process.dead) {
                Some(living) if over => family::await_one(Some(living.pid), limit),
                None if family.is_empty() => return,
                // They are reaped; their children, if any, are ours by now.
                None | Some(_) => {}
            }
        }
    }
}
