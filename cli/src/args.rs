//! Arguments that several commands share. Each checks the form; the commands check the meaning.

pub mod examples;
pub mod lint;
pub mod overrides;
pub mod runs;
pub mod setup;
pub mod shared;

/// The hidden command that starts this program as a guardian.
pub const GUARDIAN: &str = "guardian";

/// The hidden command that starts this program as the built-in agent.
pub const OFFLINE: &str = "offline";
