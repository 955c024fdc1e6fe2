//! All that descends from a process, and its end.
//!
//! Looking through `/proc` is the dear way, taken only when the kernel says that children remain.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{reap_strays, terminate};
#[cfg(target_os = "linux")]
pub(super) use linux::{Seen, await_one, kill, look, members, myself, reap_strays, terminate};

use std::time::{Duration, Instant};

/// What the reaping of a whole family has shown.
#[derive(Default)]
pub(super) struct Settled {
    /// How the child itself ended.
    pub(super) status: Option<WaitStatus>,
    /// How many others had to be killed.
    pub(super) swept: u32,
}

/// Kills and reaps until this process, the reaper of all that its child left, has no children any more.
///
/// Only for a guardian, whose every child belongs to the call: elsewhere waiting for any child steals others'.
pub(super) fn settle(child: Pid, patience: Duration) -> Settled {
    let mut settled = Settled::default();
    let limit = Instant::now() + patience;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == child => settled.status = Some(status),
            Ok(Some((_, status))) => {
                settled.swept += u32::from(status.terminating_signal() == Some(Signal::KILL.as_raw()));
            }
            // What cannot be killed hangs in the kernel; it stays our child, and the next call sweeps again.
            Ok(None) if Instant::now() >= limit => return settled,
            Ok(None) => kill_all_and_wait(child, limit),
            Err(Errno::INTR) => {}
            Err(_) => return settled, // No children: the only way to be sure.
        }
    }
}

#[cfg(target_os = "linux")]
fn kill_all_and_wait(_child: Pid, limit: Instant) {
    let me = rustix::process::getpid();
    let all = look();
    let family = members(&all, |seen| seen.parent == me.as_raw_pid());
    kill(&family);
    // All were killed, so any one child of ours will do to wait for.
    let child = family.iter().find(|seen| seen.parent == me.as_raw_pid() && !seen.dead);
    await_one(child.map(|seen| seen.pid), limit);
}

#[cfg(not(target_os = "linux"))]
fn kill_all_and_wait(child: Pid, limit: Instant) {
    let _ = rustix::process::kill_process_group(child, Signal::KILL);
    let left = limit.saturating_duration_since(Instant::now()).min(Duration::from_millis(5));
    let _ = rustix::event::poll(&mut [], rustix::event::Timespec::try_from(left).ok().as_ref());
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use rustix::process::{Pid, Signal, kill_process_group};

    pub(in super::super) fn terminate(child: Pid) {
        let _ = kill_process_group(child, Signal::TERM);
    }

    /// Orphans do not come to us here.
    pub(in super::super) fn reap_strays(_child: Pid) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeSet, HashSet};
    use std::fs::{self, File};
    use std::io::Read;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, kill_process_group, pidfd_open, waitpid,
    };

    /// One process, as one look at it has shown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in super::super) struct Seen {
        pub(in super::super) pid: Pid,
        pub(in super::super) parent: i32,
        /// None for one that is just being reaped, whose group and session the kernel tells as -1.
        pub(in super::super) group: Option<Pid>,
        pub(in super::super) session: i32,
        /// It has ended and waits to be reaped.
        pub(in super::super) dead: bool,
    }

    /// Every process that can be seen.
    pub(in super::super) fn look() -> Vec<Seen> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(see).collect()
    }

    /// This process. Its group and session are 0 where their leaders cannot be seen from here, as in a container that
    /// was entered from outside; the system's calls for them cannot be asked there.
    pub(in super::super) fn myself() -> Option<Seen> {
        see(getpid().as_raw_pid())
    }

    fn see(pid: i32) -> Option<Seen> {
        // The name is the only field of unbounded meaning, and the kernel keeps it far shorter than this.
        let mut stat = [0; 512];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
        read_stat(&stat[..length])
    }

    /// Reads the first fields of a stat line, whose second is a name that may hold anything.
    fn read_stat(stat: &[u8]) -> Option<Seen> {
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        let pid = stat.split(|byte| *byte == b' ').next()?;
        let mut rest = str::from_utf8(&stat[name_ends + 1..]).ok()?.split_ascii_whitespace();
        let state = rest.next()?;
        let mut number = || rest.next()?.parse().ok();
        Some(Seen {
            pid: one(str::from_utf8(pid).ok()?.parse().ok()?)?,
            parent: number()?,
            group: one(number()?),
            session: number()?,
            dead: matches!(state, "Z" | "X"),
        })
    }

    /// One process or group; a signal to a number that is not positive would go to many.
    fn one(raw: i32) -> Option<Pid> {
        Pid::from_raw(raw.max(0))
    }

    /// The processes that are roots, and all that descends from them.
    pub(in super::super) fn members(all: &[Seen], is_root: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let mut family: Vec<Seen> = all.iter().copied().filter(|seen| is_root(seen)).collect();
        let mut known: BTreeSet<i32> = family.iter().map(|seen| seen.pid.as_raw_pid()).collect();
        let mut next = 0;
        while let Some(parent) = family.get(next).map(|seen| seen.pid.as_raw_pid()) {
            let children = all.iter().filter(|seen| seen.parent == parent);
            family.extend(children.filter(|seen| known.insert(seen.pid.as_raw_pid())));
            next += 1;
        }
        family
    }

    /// Kills a family; by group too, which a fork cannot outrun.
    pub(in super::super) fn kill(family: &[Seen]) {
        // A group lies within one session, and these live in a guardian's or in one made below it: no group but
        // the guardian's own holds anybody else.
        let own = myself().and_then(|seen| seen.group);
        let groups: HashSet<Pid> =
            family.iter().filter_map(|seen| seen.group).filter(|group| Some(*group) != own).collect();
        for group in groups {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for seen in family.iter().filter(|seen| !seen.dead) {
            let _ = kill_process(seen.pid, Signal::KILL);
        }
    }

    /// Asks every descendant of this process to leave, each once: a second TERM often means "at once".
    pub(in super::super) fn terminate(_child: Pid) {
        let me = getpid().as_raw_pid();
        let all = look();
        for seen in members(&all, |seen| seen.parent == me).iter().filter(|seen| !seen.dead) {
            let _ = kill_process(seen.pid, Signal::TERM);
        }
    }

    /// Reaps the orphans that have ended by themselves, so that a long call does not fill the process table.
    pub(in super::super) fn reap_strays(child: Pid) {
        let me = getpid().as_raw_pid();
        for stray in look().iter().filter(|seen| seen.parent == me && seen.dead && seen.pid != child) {
            let _ = waitpid(Some(stray.pid), WaitOptions::NOHANG);
        }
    }

    /// Waits until a process has ended; for one that cannot be seen, a moment.
    pub(in super::super) fn await_one(pid: Option<Pid>, limit: Instant) {
        let left = limit.saturating_duration_since(Instant::now());
        let exit = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let _ = match &exit {
            Some(exit) => {
                poll(&mut [PollFd::new(exit, PollFlags::IN)], Timespec::try_from(left).ok().as_ref())
            }
            None => poll(&mut [], Timespec::try_from(left.min(Duration::from_millis(5))).ok().as_ref()),
        };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn seen(pid: i32, parent: i32) -> Seen {
            Seen { pid: one(pid).expect("a pid"), parent, group: one(pid), session: pid, dead: false }
        }

        #[test]
        fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
            let read = read_stat(b"71 (a) S 1 (b) Z 7 70 69 0 -1").expect("a stat line");
            assert_eq!((read.pid.as_raw_pid(), read.parent, read.group, read.session), (71, 7, one(70), 69));
            assert!(read.dead);
        }

        #[test]
        fn one_that_is_being_reaped_has_no_group_to_be_killed() {
            let read = read_stat(b"71 (name) X 7 -1 -1 0 -1").expect("a stat line");
            assert!(read.dead);
            assert_eq!(read.group, None, "a signal to -1 goes to everybody");
        }

        #[test]
        fn a_torn_stat_line_is_nobody() {
            assert_eq!(read_stat(b"71 (name) S 7"), None);
            assert_eq!(read_stat(b""), None);
        }

        #[test]
        fn a_family_is_found_whatever_the_order_of_its_pids() {
            let all = [seen(2, 90), seen(5, 2), seen(90, 40), seen(40, 1), seen(7, 1)];
            let mut found: Vec<i32> =
                members(&all, |seen| seen.parent == 40).iter().map(|seen| seen.pid.as_raw_pid()).collect();
            found.sort_unstable();
            assert_eq!(found, [2, 5, 90]);
        }
    }
}
