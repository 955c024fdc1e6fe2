//! Skills: their files and versions, their faults, and their edits.

pub mod candidate;
pub mod context;
pub mod edit;
pub mod keys;
pub mod lint;
pub mod offline;
pub mod skill;
pub mod target;
