//! Where an agent's key or login is.

use std::path::{Path, PathBuf};

use skilltune_phases::plan::Isolation;

use super::super::profile::is_set;
use super::{Agent, Kind};

/// Where an agent's login is, as far as it can be told without using it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// In a variable of this name.
    Key(&'static str),
    /// In a file, which is there.
    File(PathBuf),
    /// Nowhere that we know of; a system's own store of keys is not asked.
    Unseen,
}

impl Agent {
    /// The variable that would hold its key, if there is none and it cannot do without.
    pub fn missing_key(&self) -> Option<&'static str> {
        let Kind::Real(real) = self.kind else { return None };
        let needs = match self.isolation {
            Isolation::Fresh => true,
            Isolation::Partial | Isolation::User => false,
        };
        let missing = needs && !(real.profile().has_key)(&self.env);
        real.keys().first().copied().filter(|_| missing)
    }

    /// Where its login is; nothing of an agent of which we do not know how it logs in.
    pub fn login(&self) -> Option<Login> {
        let Kind::Real(real) = self.kind else { return None };
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
