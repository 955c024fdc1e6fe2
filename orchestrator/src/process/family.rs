//! All processes that belong to a call, and how they are ended.
//!
//! In a namespace these are all processes except the guardian, and the kernel reaches them all at once. Elsewhere they
//! are the guardian's descendants, which are searched in `/proc`. That is expensive, so it is done only if the kernel
//! says that children remain. They are stopped before they are killed, because a process that forks faster than it is
//! killed would never be gone.
//!
//! A fork storm can make the process table arbitrarily long. A scan takes time proportional to its length, and stops at
//! its time limit after killing the processes that it stopped.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};

use super::namespace::Init;

#[cfg(not(target_os = "linux"))]
use elsewhere::{Hunt, await_child, terminate_descendants};
#[cfg(target_os = "linux")]
pub(super) use linux::{Hunt, ProcessInfo, await_one, myself};
#[cfg(target_os = "linux")]
use linux::{await_child, terminate_descendants};

/// The number of processes to reap before scanning for living ones again. It is larger than what a storm leaves during
/// a scan, because unreaped processes make the next scan longer.
const MANY: usize = 1 << 16;

/// The place to search for the processes of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    Namespace(Init),
    Descendants,
}

/// The result of reaping a whole family.
#[derive(Default)]
pub(super) struct Settled {
    /// The exit status of the child itself.
    pub(super) status: Option<WaitStatus>,
    /// The number of other processes that had to be killed.
    pub(super) swept: u32,
    /// True if something could not be ended in time.
    pub(super) left: bool,
}

impl Reach {
    /// Asks all processes of the call to exit, each once: a second TERM often means "at once".
    pub(super) fn terminate(self, child: Pid, limit: Option<Instant>) {
        match self {
            Self::Namespace(init) => init.signal_all(Signal::TERM),
            Self::Descendants => terminate_descendants(child, limit),
        }
    }

    /// Kills all processes that can be killed without a scan.
    pub(super) fn kill_at_once(self, child: Pid) {
        match self {
            Self::Namespace(init) => init.signal_all(Signal::KILL),
            // Fails only if the group is empty.
            Self::Descendants => drop(kill_process_group(child, Signal::KILL)),
        }
    }

    /// Kills and reaps until this process, the subreaper of everything its child left, has no more children, or until
    /// `patience` is over: the family may grow as fast as it is reaped, or hang in the kernel.
    ///
    /// Only for a guardian, whose children all belong to the call. Elsewhere, waiting for any child would steal the
    /// children of others.
    pub(super) fn settle(self, child: Pid, patience: Duration) -> Settled {
        let mut settled = Settled::default();
        let mut hunt = Hunt::within(patience);
        let limit = Instant::now() + patience;
        loop {
            let is_late = Instant::now() >= limit;
            let reaped = reap(child, &mut settled, &mut hunt);
            if reaped == Reaped::All {
                return settled;
            }
            if is_late {
                settled.left = true;
                return settled;
            }
            let over = match self {
                Self::Namespace(init) => {
                    init.signal_all(Signal::KILL);
                    true
                }
                Self::Descendants => hunt.descendants(child),
            };
            if over && reaped == Reaped::None {
                await_child(limit);
            }
        }
    }
}

/// The result of reaping the children of this process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reaped {
    /// No children are left: the only way to be sure.
    All,
    /// Some were reaped, and there may be more.
    Some,
    /// No further child has exited.
    None,
}

/// Reaps orphans that exited by themselves, so that a long call does not fill the process table. Returns their number,
/// and the child's status if it was among them. It does not scan: a storm goes on meanwhile.
pub(super) fn reap_strays(child: Pid) -> (usize, Option<WaitStatus>) {
    for nth in 0..MANY {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == child => return (nth, Some(status)),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return (nth, None),
        }
    }
    (MANY, None)
}

/// Reaps up to a maximum number, so that a family that keeps forking does not continue meanwhile.
fn reap(child: Pid, settled: &mut Settled, hunt: &mut Hunt) -> Reaped {
    for nth in 0..MANY {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                hunt.forget(pid);
                let is_killed = status.terminating_signal() == Some(Signal::KILL.as_raw());
                settled.swept += u32::from(pid != child && is_killed);
                settled.status = if pid == child { Some(status) } else { settled.status };
            }
            Ok(None) if nth == 0 => return Reaped::None,
            Ok(None) => break,
            Err(Errno::INTR) => {}
            Err(_) => return Reaped::All,
        }
    }
    Reaped::Some
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub(super) fn terminate_descendants(child: Pid, _limit: Option<Instant>) {
        let _ = kill_process_group(child, Signal::TERM);
    }

    /// Kills all that can be found, which is the group of the child.
    pub(super) struct Hunt {}

    impl Hunt {
        pub(super) fn within(_patience: Duration) -> Self {
            Self {}
        }

        #[expect(clippy::unused_self, reason = "elsewhere it remembers whom it has met")]
        pub(super) fn forget(&mut self, _reaped: Pid) {}

        #[expect(clippy::unused_self, reason = "elsewhere it takes more than one look")]
        pub(super) fn descendants(&mut self, child: Pid) -> bool {
            let _ = kill_process_group(child, Signal::KILL);
            true
        }
    }

    pub(super) fn await_child(limit: Instant) {
        let left = limit.saturating_duration_since(Instant::now()).min(Duration::from_millis(5));
        let _ = rustix::event::poll(&mut [], rustix::event::Timespec::try_from(left).ok().as_ref());
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::fs::{self, File};
    use std::io::Read;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, kill_process_group, pidfd_open};

    /// One process, as seen in one scan.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in super::super) struct ProcessInfo {
        pub(in super::super) pid: Pid,
        pub(in super::super) parent: i32,
        /// `None` for a process that is just being reaped, whose group and session the kernel reports as -1.
        pub(in super::super) group: Option<Pid>,
        pub(in super::super) session: i32,
        /// It has exited and waits to be reaped.
        pub(in super::super) dead: bool,
    }

    /// Returns all visible processes, read lazily.
    fn look() -> impl Iterator<Item = ProcessInfo> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(see)
    }

    /// Returns this process. Its group and session are 0 if their leaders are not visible from here, as in a container
    /// that was entered from outside; the system calls for them cannot be used there.
    pub(in super::super) fn myself() -> Option<ProcessInfo> {
        see(getpid().as_raw_pid())
    }

    fn see(pid: i32) -> Option<ProcessInfo> {
        // The name is the only field of unbounded length, and the kernel keeps it far shorter than this.
        let mut stat = [0; 512];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
        read_stat(&stat[..length])
    }

    /// Parses the first fields of a stat line. The second is a name that may contain anything.
    fn read_stat(stat: &[u8]) -> Option<ProcessInfo> {
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        let pid = stat.split(|byte| *byte == b' ').next()?;
        let mut rest = str::from_utf8(&stat[name_ends + 1..]).ok()?.split_ascii_whitespace();
        let state = rest.next()?;
        let mut number = || rest.next()?.parse().ok();
        Some(ProcessInfo {
            pid: one(str::from_utf8(pid).ok()?.parse().ok()?)?,
            parent: number()?,
            group: one(number()?),
            session: number()?,
            dead: matches!(state, "Z" | "X"),
        })
    }

    /// Returns a single process or group. A signal to a number that is not positive would go to many.
    fn one(raw: i32) -> Option<Pid> {
        Pid::from_raw(raw.max(0))
    }

    /// Returns the roots and all their descendants.
    fn members(all: &[ProcessInfo], is_root: impl Fn(&ProcessInfo) -> bool) -> Vec<ProcessInfo> {
        let mut children = HashMap::<i32, Vec<ProcessInfo>>::new();
        for process in all {
            children.entry(process.parent).or_default().push(*process);
        }
        let mut family: Vec<ProcessInfo> = all.iter().copied().filter(is_root).collect();
        let mut known: HashSet<Pid> = family.iter().map(|process| process.pid).collect();
        let mut next = 0;
        while let Some(parent) = family.get(next).map(|process| process.pid.as_raw_pid()) {
            // A root may be a child of another: take its children only once.
            let children = children.remove(&parent).unwrap_or_default();
            family.extend(children.into_iter().filter(|process| known.insert(process.pid)));
            next += 1;
        }
        family
    }

    /// Ends a family in several scans: its processes are stopped until a scan finds no new one, and then killed. A
    /// stopped process cannot fork or wake another.
    ///
    /// A family may keep growing, and on a busy machine it grows faster than a scan. After half of the time each scan
    /// kills what it sees, and none continues after the time limit.
    pub(in super::super) struct Hunt {
        stopped: HashSet<Pid>,
        patient_until: Instant,
        limit: Instant,
    }

    impl Hunt {
        pub(in super::super) fn within(patience: Duration) -> Self {
            let now = Instant::now();
            Self { stopped: HashSet::new(), patient_until: now + patience / 2, limit: now + patience }
        }

        /// Scans once and returns the family. Its processes are killed if none of them is new, or if there is no time
        /// for another scan.
        pub(in super::super) fn look(
            &mut self,
            is_root: impl Fn(&ProcessInfo) -> bool,
        ) -> (Vec<ProcessInfo>, bool) {
            self.look_at(look(), is_root, &mut |pid, signal| {
                let _ = kill_process(pid, signal);
            })
        }

        fn look_at(
            &mut self,
            table: impl Iterator<Item = ProcessInfo>,
            is_root: impl Fn(&ProcessInfo) -> bool,
            send: &mut impl FnMut(Pid, Signal),
        ) -> (Vec<ProcessInfo>, bool) {
            let before = self.stopped.len();
            let mut met = HashSet::new();
            let mut all = Vec::new();
            for process in table.take_while(|_| Instant::now() < self.limit) {
                // Stop it at once: a moment later it may have forked. Children mostly come after their parents.
                if !process.dead && (is_root(&process) || met.contains(&process.parent)) {
                    met.insert(process.pid.as_raw_pid());
                    stop(&mut self.stopped, &process, send);
                }
                all.push(process);
            }
            let family = members(&all, is_root);
            family
                .iter()
                .filter(|process| !process.dead)
                .for_each(|process| stop(&mut self.stopped, process, send));
            let is_late = Instant::now() >= self.patient_until;
            let over = is_late || self.stopped.len() == before;
            if over {
                kill(&family, send);
            }
            if is_late {
                // An aborted scan did not see all of them.
                self.stopped.drain().for_each(|pid| send(pid, Signal::KILL));
            }
            (family, over)
        }

        /// Forgets a reaped process: its pid may be reused.
        pub(in super::super) fn forget(&mut self, reaped: Pid) {
            self.stopped.remove(&reaped);
        }

        /// Scans the descendants of this process.
        pub(in super::super) fn descendants(&mut self, _child: Pid) -> bool {
            let me = getpid().as_raw_pid();
            self.look(|process| process.parent == me).1
        }
    }

    fn stop(stopped: &mut HashSet<Pid>, process: &ProcessInfo, send: &mut impl FnMut(Pid, Signal)) {
        if stopped.insert(process.pid) {
            send(process.pid, Signal::STOP);
        }
    }

    /// Kills a family, also by group, which a fork cannot outrun.
    fn kill(family: &[ProcessInfo], send: &mut impl FnMut(Pid, Signal)) {
        // A group is within one session, and these are in a guardian's session or in one made below it. Only the
        // guardian's own group contains other processes.
        let own = myself().and_then(|process| process.group);
        let groups: HashSet<Pid> =
            family.iter().filter_map(|process| process.group).filter(|group| Some(*group) != own).collect();
        for group in groups {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for process in family.iter().filter(|process| !process.dead) {
            send(process.pid, Signal::KILL);
        }
    }

    pub(super) fn terminate_descendants(_child: Pid, limit: Option<Instant>) {
        let me = getpid().as_raw_pid();
        let all: Vec<ProcessInfo> =
            look().take_while(|_| limit.is_none_or(|limit| Instant::now() < limit)).collect();
        for process in members(&all, |process| process.parent == me).iter().filter(|process| !process.dead) {
            let _ = kill_process(process.pid, Signal::TERM);
        }
    }

    /// Waits for any living child; all were killed.
    pub(super) fn await_child(limit: Instant) {
        let me = getpid().as_raw_pid();
        let child = look().find(|process| process.parent == me && !process.dead);
        await_one(child.map(|process| process.pid), limit);
    }

    /// Waits until a process has exited, or a moment if it cannot be seen.
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

        fn process(pid: i32, parent: i32) -> ProcessInfo {
            ProcessInfo { pid: one(pid).expect("a pid"), parent, group: one(pid), session: pid, dead: false }
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

        fn crowd(pids: std::ops::Range<i32>, parent: i32) -> impl Iterator<Item = ProcessInfo> {
            pids.map(move |pid| ProcessInfo { group: None, ..process(pid, parent) })
        }

        #[test]
        fn a_family_as_large_as_a_storm_leaves_it_is_found_at_once() {
            let all: Vec<ProcessInfo> =
                crowd(100..120_000, 40).map(|process| ProcessInfo { dead: true, ..process }).collect();
            let began = Instant::now();
            assert_eq!(members(&all, |process| process.parent == 40).len(), all.len());
            // Comparing each of them with every other would take minutes.
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        }

        /// Returns the last signal sent to each process.
        fn hunted(hunt: &mut Hunt, table: impl Iterator<Item = ProcessInfo>) -> (HashMap<Pid, Signal>, bool) {
            let mut sent = HashMap::new();
            let (_, over) = hunt.look_at(table, |process| process.parent == 40, &mut |pid, signal| {
                sent.insert(pid, signal);
            });
            (sent, over)
        }

        #[test]
        fn a_table_that_never_ends_is_left_in_time_and_nobody_in_it_stays_stopped() {
            let mut hunt = Hunt::within(Duration::from_millis(200));
            let (sent, over) = hunted(&mut hunt, crowd(100..i32::MAX, 40));
            assert!(over && !sent.is_empty());
            assert!(sent.values().all(|signal| *signal == Signal::KILL));
        }

        #[test]
        fn a_family_with_somebody_new_in_each_look_is_killed_before_its_time_is_up() {
            let mut hunt = Hunt::within(Duration::from_millis(400));
            let mut last = HashMap::new();
            let mut scans = 0;
            while Instant::now() < hunt.limit {
                let (sent, _) = hunted(&mut hunt, crowd(100 + scans..101 + scans, 40));
                last.extend(sent);
                scans += 1;
            }
            assert_eq!(last.len(), usize::try_from(scans).expect("a count"));
            assert!(last.values().all(|signal| *signal == Signal::KILL), "somebody is left stopped");
        }

        #[test]
        fn who_is_not_new_is_killed_and_whose_number_is_given_away_is_new() {
            let mut hunt = Hunt::within(Duration::from_secs(60));
            let pid = one(100).expect("a pid");
            for (signal, is_over) in [(Signal::STOP, false), (Signal::KILL, true)] {
                assert_eq!(hunted(&mut hunt, crowd(100..101, 40)), (HashMap::from([(pid, signal)]), is_over));
            }
            hunt.forget(pid);
            assert_eq!(hunted(&mut hunt, crowd(100..101, 40)), (HashMap::from([(pid, Signal::STOP)]), false));
        }

        #[test]
        fn a_family_is_found_whatever_the_order_of_its_pids() {
            let all = [process(2, 90), process(5, 2), process(90, 40), process(40, 1), process(7, 1)];
            let mut found: Vec<i32> = members(&all, |process| process.parent == 40)
                .iter()
                .map(|process| process.pid.as_raw_pid())
                .collect();
            found.sort_unstable();
            assert_eq!(found, [2, 5, 90]);
        }
    }
}
