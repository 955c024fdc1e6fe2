//! The last resort: finds the processes of a run by a variable in their environment.
//!
//! For a later command, after somebody killed both us and the guardian. A program that cleared its environment is not
//! found.

/// Kills every process of this user whose environment contains exactly this `NAME=value`, except this one.
#[cfg(not(target_os = "linux"))]
pub fn sweep_marked(_marker: &str) -> u32 {
    0
}

/// Waits for the processes of this user whose environment contains exactly this `NAME=value` to end by themselves.
#[cfg(not(target_os = "linux"))]
pub fn await_marked(_marker: &str, _patience: std::time::Duration) {}

#[cfg(target_os = "linux")]
pub use linux::{await_marked, sweep_marked};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, geteuid, getpid, pidfd_open, pidfd_send_signal};

    const PATIENCE: Duration = Duration::from_secs(3);

    /// Kills every process of this user whose environment contains exactly this `NAME=value`, except this one.
    pub fn sweep_marked(marker: &str) -> u32 {
        let limit = Instant::now() + PATIENCE;
        let mut killed = BTreeSet::new();
        // Repeat until a scan finds nothing: a killed process may have forked just before.
        loop {
            let found = find(marker);
            if found.is_empty() || Instant::now() >= limit {
                return u32::try_from(killed.len()).unwrap_or(u32::MAX);
            }
            for (pid, process) in &found {
                if pidfd_send_signal(process, Signal::KILL).is_ok() {
                    killed.insert(*pid);
                }
            }
            await_all(found, limit);
        }
    }

    /// Waits for the processes of this user whose environment contains exactly this `NAME=value` to end by themselves.
    pub fn await_marked(marker: &str, patience: Duration) {
        await_all(find(marker), Instant::now() + patience);
    }

    fn find(marker: &str) -> Vec<(i32, OwnedFd)> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid| Some((pid, marked(pid, marker)?))).collect()
    }

    /// Returns a handle to the process if it is ours and has the marker.
    fn marked(pid: i32, marker: &str) -> Option<OwnedFd> {
        let process = Pid::from_raw(pid).filter(|pid| *pid != getpid())?;
        let folder = format!("/proc/{pid}");
        if fs::metadata(&folder).ok()?.uid() != geteuid().as_raw() {
            return None;
        }
        // Open the handle before reading: if the pid is reused meanwhile, no other process is hit.
        let handle = pidfd_open(process, PidfdFlags::empty()).ok()?;
        let environment = fs::read(format!("{folder}/environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|entry| entry == marker.as_bytes()).then_some(handle)
    }

    fn await_all(killed: Vec<(i32, OwnedFd)>, limit: Instant) {
        for (_, process) in killed {
            let left = limit.saturating_duration_since(Instant::now());
            let mut exit = [PollFd::new(&process, PollFlags::IN)];
            let _ = poll(&mut exit, Timespec::try_from(left).ok().as_ref());
        }
    }
}
