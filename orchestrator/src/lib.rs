//! What skilltune does: processes, disk, time and money, at the word of `skilltune-phases`.

pub mod agent;
pub mod atomic;
pub mod clear;
pub mod crash;
pub mod disk;
pub mod engine;
pub mod evolution;
pub mod lean;
mod listing;
pub mod offline;
pub mod probe;
pub mod process;
pub mod promote;
pub mod safe_path;
pub mod skill_files;
pub mod snapshot;
pub mod store;
