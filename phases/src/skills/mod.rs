//! Skills: what they are, what is wrong with them, and how edits change them.

pub mod candidate;
pub mod context;
pub mod edit;
pub mod keys;
pub mod lint;
pub mod offline;
pub mod skill;
pub mod target;
