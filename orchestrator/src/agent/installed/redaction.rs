//! Which keys an agent is given, and what a transcript must not keep of a call.

use std::path::Path;

use skilltune_phases::keys::{self, Keys};
use skilltune_phases::transcript::Redaction;

use super::{Agent, Kind};

impl Agent {
    /// The keys that it is given, by variable or by argument.
    pub fn keys(&self) -> Vec<String> {
        let mut given = keys::of_environment(&self.env);
        if let Kind::Command(settings) = &self.kind {
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
    // A path that the other one begins with goes last.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    Redaction { keys: keys.clone(), workspace: paths.into() }
}
