//! The side effects of skilltune: processes, disk, time and money, as decided by `skilltune-phases`.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests build their own scenes"))]

pub mod agent;
pub mod browser;
pub mod checks;
pub mod crash;
pub mod disk;
pub mod engine;
pub mod evolution;
pub mod git;
pub mod offline;
pub mod probe;
pub mod process;
pub mod promote;
pub mod skill_files;
pub mod skill_folders;
pub mod snapshot;
pub mod store;
pub mod workers;
