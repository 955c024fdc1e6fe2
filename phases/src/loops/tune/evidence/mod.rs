//! What the trials of a search say about each statement, and where a fault may come from.

pub mod beliefs;
pub(super) mod credit;
pub(super) mod faults;
pub(super) mod shown;
pub(super) mod suspects;
