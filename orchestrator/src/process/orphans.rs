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

/// Makes this process fit to drive guardians: a switch of the whole program, for its `main` alone.
///
/// Orphans come to it, and no other program of this user may look into it: its environment holds keys. Root may.
#[cfg(target_os = "linux")]
pub fn become_driver() -> Result<(), ProcessError> {
    use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
    let done = set_child_subreaper(Some(getpid()))
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    done.map_err(|error| ProcessError::Driver(error.into()))
}

/// Makes this process fit to drive guardians; here there is nothing to do.
#[cfg(not(target_os = "linux"))]
pub fn become_driver() -> Result<(), ProcessError> {
    Ok(())
}

/// Ends all that descends from this process, a driver without guardians that starts nothing more.
#[cfg(target_os = "linux")]
pub fn end_descendants() -> Result<(), ProcessError> {
    use super::family::Reach;
    let settled = Reach::Descendants.settle(rustix::process::getpid(), std::time::Duration::from_secs(6));
    if settled.left { Err(ProcessError::Left) } else { Ok(()) }
}

/// Ends all that descends from this process; here nobody finds them.
#[cfg(not(target_os = "linux"))]
pub fn end_descendants() -> Result<(), ProcessError> {
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
    use crate::process::family::{self, Hunt, Seen};

    /// Longer than a guardian has, for nobody comes after us; a busy machine gives a storm more of it than it gives us.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Kills and reaps what a dead guardian has left.
    ///
    /// Orphans are known by their session: a guardian's, or one made below it. Our own children share ours.
    pub(in super::super) fn sweep(guardian: u32) {
        let limit = Instant::now() + PATIENCE;
        let me = getpid().as_raw_pid();
        let Some(session) = family::myself().map(|seen| seen.session) else { return };
        let mut hunt = Hunt::within(PATIENCE);
        while Instant::now() < limit {
            // Held during the look: a guardian that starts meanwhile would be taken for an orphan, and stopped.
            let alive = guardians();
            let others = |seen: &Seen| alive.contains(&seen.pid.as_raw_pid().cast_unsigned());
            let adopted = |seen: &Seen| seen.parent == me && seen.session != session && !others(seen);
            let left = |seen: &Seen| !seen.dead && seen.session.cast_unsigned() == guardian;
            let (family, over) = hunt.look(|seen| adopted(seen) || left(seen));
            drop(alive);
            for orphan in family.iter().filter(|seen| seen.parent == me && seen.dead) {
                let _ = waitpid(Some(orphan.pid), WaitOptions::NOHANG);
                hunt.forget(orphan.pid);
            }
            match family.iter().find(|seen| !seen.dead) {
                Some(living) if over => family::await_one(Some(living.pid), limit),
                None if family.is_empty() => return,
                // They are reaped; their children, if any, have come to us by now.
                None | Some(_) => {}
            }
        }
    }
}
