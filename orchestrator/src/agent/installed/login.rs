//! Where an agent's key or login is, and what is removed from a transcript.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::skills::keys::{self, Keys};
use skilltune_phases::suites::transcript::Redaction;

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
        let missing = needs && !self.is_elsewhere() && !(real.profile().has_key)(&self.env);
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

    /// Returns the keys that the agent gets, by variable or by argument.
    pub fn keys(&self) -> Vec<String> {
        let mut given = keys::of_environment(&self.env);
        if let AgentKind::Command(settings) = &self.kind {
            let named = settings.env.pass.iter().chain(settings.env.set.keys());
            given.extend(keys::of_named(named.map(String::as_str), &self.env));
            given.extend(keys::of_arguments(&settings.command));
        }
        given.extend(self.wrap.iter().flat_map(|wrap| keys::of_arguments(wrap.words())));
        given
    }
}

fn below_of(folder: &str, below: &str) -> PathBuf {
    if below.is_empty() { PathBuf::from(folder) } else { Path::new(folder).join(below) }
}

pub(super) fn redaction(keys: &Keys, workspace: &Path) -> Redaction {
    let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let mut paths = [real.as_path(), workspace].map(|path| path.to_string_lossy().into_owned());
    // If one path is a prefix of the other, the shorter one goes last.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    Redaction { keys: keys.clone(), workspace: paths.into() }
}
