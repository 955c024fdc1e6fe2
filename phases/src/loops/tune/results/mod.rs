//! Results of a run, for agents, people and scripts.

pub(super) mod activity;
pub mod ending;
pub(super) mod fail_on;
pub mod notes;
pub mod proposing;
pub mod state_file;
pub mod trials;
