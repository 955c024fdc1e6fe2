//! Where an agent's key or login is.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skilltune_phases::runs::plan::Isolation;

use super::super::profile::is_set;
use super::{Agent, AgentKind};

/// The place of an agent's login, as far as it is known without using it. Its names are a public interface of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Login {
    /// A variable of this name.
    Key(&'static str),
    /// A file that exists.
    File(PathBuf),
    /// No known place; the system's key store is not asked.
    Unseen,
}

impl Agent {
    /// Returns the variable that should hold the agent's key, if the key is required and missing.
    pub fn missing_key(&self) -> Option<&'static str> {
        let AgentKind::Real(real) = self.kind else { return None };
        let needs = match self.isolation {
            Isolation::Fresh => true,
            Isolation::Partial | Isolation::User => false,
        };
        let missing = needs && !(real.profile().has_key)(&self.env);
        real.keys().first().copied().filter(|_| missing)
    }

    /// Returns the place of the agent's login; none if its way to log in is unknown.
    pub fn login(&self) -> Option<Login> {
        let AgentKind::Real(real) = self.kind else { return None };
        let profile = real.profile();
        let is_set = |name: &&'static str| is_set(&self.env, name);
        if let Some(key) = profile.keys.iter().copied().find(is_set).filter(|_| (profile.has_key)(&self.env))
        {
            return Some(Login::Key(key));
        }
        let decides = profile.logins.iter().find(|(variable, _)| is_set(variable));
        let file = decides.map(|(variable, below)| below_of(&self.env[*variable], below));
        Some(file.filter(|file| file.is_file()).map_or(Login::Unseen, Login::File))
    }
}

fn below_of(folder: &str, below: &str) -> PathBuf {
    if below.is_empty() { PathBuf::from(folder) } else { Path::new(folder).join(below) }
}
