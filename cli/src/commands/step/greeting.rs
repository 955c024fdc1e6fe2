//! The first line of a worker.

use skilltune_orchestrator::disk;
use skilltune_orchestrator::workers::{Hello, PROTOCOL};

/// Where Linux tells how much memory is free.
const MEMORY: &str = "/proc/meminfo";
const LARGEST: u64 = 64 << 10;

pub(super) fn hello() -> Hello {
    Hello {
        skilltune_worker: PROTOCOL,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        memory: free_memory(),
    }
}

fn free_memory() -> Option<u64> {
    let text = String::from_utf8(disk::read(MEMORY.as_ref(), LARGEST).ok()?).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}
