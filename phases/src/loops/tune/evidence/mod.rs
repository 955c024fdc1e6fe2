//! Evidence of the trials of a search: the beliefs about each statement, its faults, and the members to suspect.

pub mod beliefs;
pub(super) mod credit;
pub(super) mod faults;
pub(super) mod suspects;
