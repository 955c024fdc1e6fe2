//! The first line of a worker, and what it tells of its agents.

use skilltune_orchestrator::workers::{Hello, PROTOCOL};

/// Where Linux tells how much memory is free.
const MEMORY: &str = "/proc/meminfo";

pub(super) fn hello() -> Hello {
    Hello {
        skilltune_worker: PROTOCOL,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        memory: free_memory(),
    }
}

fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string(MEMORY).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}
