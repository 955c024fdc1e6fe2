//! What a guardian leaves when somebody kills it: its orphans come to the main program, if that is a subreaper.
//!
//! The main program has other children, so none is waited for but by its pid.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::ProcessError;

/// The guardians of this process that are alive; process-wide, as the reaper of orphans is.
static GUARDIANS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

pub(super) fn guardians() -> MutexGuard<'static, BTreeSet<u32>> {
    GUARDIANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes orphans come to this process: a switch of the whole program, for its `main` alone.
#[cfg(target_os = "linux")]
pub fn become_subreaper() -> Result<(), ProcessError> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| ProcessError::Subreaper(error.into()))
}

/// Makes orphans come to this process: a switch of the whole program, for its `main` alone.
#[cfg(not(target_os = "linux"))]
pub fn become_subreaper() -> Result<(), ProcessError> {
    Ok(())
}

/// Kills and reaps what a dead guardian has left.
#[cfg(not(target_os = "linux"))]
pub(super) fn sweep(_guardian: u32) {}

#[cfg(target_os = "linux")]
pub(super) use linux::sweep;

#[cfg(target_os = "linux")]
mod linux {
    use std::time::{Duration, Instant};

    use rustix::process::{WaitOptions, getpid, waitpid};

    use super::guardians;
    use crate::process::family::{self, Seen};

    const PATIENCE: Duration = Duration::from_secs(3);

    /// Kills and reaps what a dead guardian has left.
    ///
    /// Orphans are known by their session: a guardian's, or one made below it. Our own children share ours.
    pub(in super::super) fn sweep(guardian: u32) {
        let limit = Instant::now() + PATIENCE;
        let me = getpid().as_raw_pid();
        let Some(session) = family::myself().map(|seen| seen.session) else { return };
        while Instant::now() < limit {
            let alive = guardians().clone();
            let others = |seen: &Seen| alive.contains(&seen.pid.as_raw_pid().cast_unsigned());
            let adopted = |seen: &Seen| seen.parent == me && seen.session != session && !others(seen);
            let left = |seen: &Seen| !seen.dead && seen.session.cast_unsigned() == guardian;
            let family = family::members(&family::look(), |seen| adopted(seen) || left(seen));
            family::kill(&family);
            for orphan in family.iter().filter(|seen| seen.parent == me && seen.dead) {
                let _ = waitpid(Some(orphan.pid), WaitOptions::NOHANG);
            }
            match family.iter().find(|seen| !seen.dead) {
                Some(living) => family::await_one(Some(living.pid), limit),
                None if family.is_empty() => return,
                None => {} // They are reaped; their children, if any, have come to us by now.
            }
        }
    }
}
