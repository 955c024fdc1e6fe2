//! The agents that need no settings, one line each.

use std::fmt;

use super::profile::Profile;
use super::{claude, codex, gemini, opencode};

/// One of the agents that need no settings.
#[derive(Clone, Copy)]
pub struct Real(&'static Profile);

impl Real {
    pub const ALL: [Self; 4] =
        [Self(&claude::PROFILE), Self(&gemini::PROFILE), Self(&codex::PROFILE), Self(&opencode::PROFILE)];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|real| real.name() == name)
    }

    /// Returns the name of the agent and of its program.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the agent's model family, if it always has the same one.
    pub fn family(self) -> Option<&'static str> {
        self.0.family
    }

    /// Returns how to install the agent.
    pub fn get(self) -> &'static str {
        self.0.get
    }

    /// Returns the version that the adapter was tested with.
    pub fn tested(self) -> &'static str {
        self.0.tested
    }

    /// Returns what the agent's commands cannot do, beyond the limits of all agents.
    pub fn shell_limit(self) -> Option<&'static str> {
        self.0.shell_limit
    }

    /// Returns the variables that hold a key, the usual one first.
    pub fn keys(self) -> &'static [&'static str] {
        self.0.keys
    }

    pub(super) fn profile(self) -> &'static Profile {
        self.0
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}
