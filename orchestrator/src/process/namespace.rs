//! A guardian's own namespace of users, processes and mounts, if the kernel allows one.
//!
//! The guardian enters it and starts itself again. The second guardian is the first process of the namespace, its init:
//! when it ends, the kernel ends everything in the namespace. No process inside can signal or trace the init. Processes
//! outside are invisible, and so are their environments, and cannot be signalled.
//!
//! The parent writes the mapping of users and groups: root may map all of its own, other users only themselves. The ids
//! are the same inside and outside.

/// After the hidden argument: this process is the first of a namespace.
pub(super) const INIT: &str = "init";
/// After the hidden argument: do not try a namespace.
pub(super) const PLAIN: &str = "plain";

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{Init, MountRight, enter, map_ids, run_init};
#[cfg(target_os = "linux")]
pub(super) use linux::{
    Init, MountRight, enter, give_up_mounting, keep_no_right, map_ids, own_mounts, run_init,
};

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{CStr, OsStr};
    use std::fs;
    use std::io;
    use std::process::{Command, ExitStatus};

    use rustix::mount::{MountFlags, mount};
    use rustix::process::{
        DumpableBehavior, Pid, Signal, getegid, geteuid, getpid, kill_process_group, set_dumpable_behavior,
        set_parent_process_death_signal,
    };
    use rustix::thread::{
        CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
        configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
        set_no_new_privs, unshare_unsafe,
    };

    /// Puts the processes that this one starts from now on into a new namespace.
    pub(in super::super) fn enter() -> io::Result<()> {
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWNS)
    }

    /// Gives this process mounts of its own: what it mounts, only itself and its children see.
    pub(in super::super) fn own_mounts() -> io::Result<()> {
        unshare(UnshareFlags::NEWNS)
    }

    #[expect(unsafe_code, reason = "there is no safe way into a namespace")]
    fn unshare(new: UnshareFlags) -> io::Result<()> {
        // SAFETY: the call is unsafe because threads could stop sharing the table of open files. These calls do not
        // change the table, and their processes have one thread.
        Ok(unsafe { unshare_unsafe(new) }?)
    }

    /// Gives up the right to mount and unmount in this user namespace, also for what this process becomes and starts.
    pub(in super::super) fn give_up_mounting() -> io::Result<()> {
        keep_no_right()?;
        // Root would get it back as another program. Others may not drop it here, and have no other way to it than a
        // program whose file has rights.
        if remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN).is_err() {
            set_no_new_privs(true)?;
        }
        let ours = capabilities(None)?;
        let sets = [ours.effective, ours.permitted, ours.inheritable];
        let [effective, permitted, inheritable] = sets.map(|set| set.difference(CapabilitySet::SYS_ADMIN));
        Ok(set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?)
    }

    /// Keeps the lent right to mount from what this process becomes.
    pub(in super::super) fn keep_no_right() -> io::Result<()> {
        Ok(clear_ambient_capability_set()?)
    }

    /// While it lives, the programs that the first process of a namespace starts may mount.
    #[derive(Debug)]
    pub(in super::super) struct MountRight(());

    impl Drop for MountRight {
        fn drop(&mut self) {
            clear_ambient_capability_set().expect("a process may always give up rights");
        }
    }

    /// Starts this program again as the first process of the namespace just entered, and waits for its end.
    pub(in super::super) fn run_init(hidden_arg: &OsStr) -> io::Result<ExitStatus> {
        // If root started this, it is root inside too: without this capability it cannot trace the init.
        remove_capability_from_bounding_set(CapabilitySet::SYS_PTRACE)?;
        // Otherwise the right to mount would be lost when the program is started again.
        let ours = capabilities(None)?;
        set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::SYS_ADMIN, ..ours })?;
        configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?;
        Command::new("/proc/self/exe").arg(hidden_arg).arg(super::INIT).status()
    }

    /// Writes the mapping of users and groups for a process that entered a namespace.
    pub(in super::super) fn map_ids(process: u32) -> io::Result<()> {
        let place = |name: &str| format!("/proc/{process}/{name}");
        if fs::write(place("uid_map"), ours("uid_map")?).is_err() {
            fs::write(place("uid_map"), alone(geteuid().as_raw()))?;
        }
        if fs::write(place("gid_map"), ours("gid_map")?).is_err() {
            // Otherwise it could drop a group that exists to deny access.
            fs::write(place("setgroups"), "deny")?;
            fs::write(place("gid_map"), alone(getegid().as_raw()))?;
        }
        Ok(())
    }

    /// Returns every user or group that is mapped for us, mapped to itself.
    fn ours(name: &str) -> io::Result<String> {
        let map = fs::read_to_string(format!("/proc/self/{name}"))?;
        Ok(same(&map).ok_or(io::ErrorKind::InvalidData)?)
    }

    /// Takes lines of a first id inside, a first id outside and a count, and maps the ids inside to themselves.
    fn same(map: &str) -> Option<String> {
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (first, count) = (words.next()?, words.nth(1)?);
            Some(format!("{first} {first} {count}\n"))
        };
        map.lines().map(line).collect()
    }

    fn alone(id: u32) -> String {
        format!("{id} {id} 1\n")
    }

    /// Proof that this process is the first of a guardian's namespace, so it may signal everybody. Outside such a
    /// namespace that would be all processes of the user.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Init(());

    impl Init {
        /// Begins the process that `run_init` started, and no other.
        pub(in super::super) fn begin() -> io::Result<Self> {
            if getpid() != Pid::INIT {
                return Err(io::Error::other("it is not the first process of a namespace"));
            }
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // No process inside may trace it. From outside it is found through its parent, which has the same mark.
            set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            // Visible only inside: the kernel lets no mount out of a namespace of other users.
            mount("proc", "/proc", "proc", flags, None::<&CStr>)
                .map_err(|error| io::Error::other(format!("cannot mount /proc: {error}")))?;
            clear_ambient_capability_set()?;
            Ok(Self(()))
        }

        /// Lets the programs that it starts mount, until the right is dropped.
        #[expect(clippy::unused_self, reason = "only in its own namespace it has the right")]
        pub(in super::super) fn lend_mounting(self) -> io::Result<MountRight> {
            configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?;
            Ok(MountRight(()))
        }

        /// Signals every process in the namespace except this one, at once: no fork outruns it.
        #[expect(clippy::unused_self, reason = "having one is what makes it safe")]
        pub(in super::super) fn signal_all(self, signal: Signal) {
            // The system treats the group of process 1 as all processes. It fails if there are none.
            let _ = kill_process_group(Pid::INIT, signal);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_user_inside_is_the_same_one_outside() {
            assert_eq!(same("         0          0 4294967295\n").unwrap(), "0 0 4294967295\n");
            assert_eq!(same("0 1000 1\n1 100000 65536\n").unwrap(), "0 0 1\n1 1 65536\n");
            assert_eq!(same("0 1000\n"), None);
        }

        #[test]
        fn only_a_first_process_signals_everybody() {
            assert!(Init::begin().is_err(), "a test is not the first process");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::ffi::OsStr;
    use std::io;
    use std::process::ExitStatus;

    use rustix::process::Signal;

    pub(in super::super) fn enter() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in super::super) fn run_init(_hidden_arg: &OsStr) -> io::Result<ExitStatus> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in super::super) fn map_ids(_process: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// An uninhabited type: there are no namespaces on this system.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) enum Init {}

    impl Init {
        pub(in super::super) fn begin() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in super::super) fn signal_all(self, _signal: Signal) {
            match self {}
        }

        pub(in super::super) fn lend_mounting(self) -> io::Result<MountRight> {
            match self {}
        }
    }

    /// An uninhabited type as well.
    #[derive(Debug)]
    pub(in super::super) enum MountRight {}
}
