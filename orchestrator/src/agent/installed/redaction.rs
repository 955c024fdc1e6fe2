//! The keys that an agent gets, and what is removed from a transcript.

use std::path::Path;

use skilltune_phases::skills::keys::{self, Keys};
use skilltune_phases::suites::transcript::Redaction;

use super::{Agent, AgentKind};

impl Agent {
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

pub(super) fn redaction(keys: &Keys, workspace: &Path) -> Redaction {
    let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let mut paths = [real.as_path(), workspace].map(|path| path.to_string_lossy().into_owned());
    // If one path is a prefix of the other, the shorter one goes last.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    Redaction { keys: keys.clone(), workspace: paths.into() }
}
