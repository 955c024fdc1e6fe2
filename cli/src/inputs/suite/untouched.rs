//! A scenario's initial workspace. A check that passes on it shows nothing.

use std::collections::BTreeMap;

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{Brought, Node, RelPath};
use skilltune_phases::base::name::Name;
use skilltune_phases::loops::vacuous::Untouched;
use skilltune_phases::suites::checks::{Bytes, Facts, Usage};
use skilltune_phases::suites::transcript::Transcript;

use super::files::Starts;

#[derive(Debug)]
pub struct Start<'a> {
    starts: &'a Starts,
    brought: &'a [Brought],
    /// The origin and the size of each file, by its path in the workspace.
    files: BTreeMap<String, (RelPath, u64)>,
}

impl Starts {
    pub fn untouched(&self, scenario: &Name) -> Start<'_> {
        let brought = self.of(scenario);
        let mut files = BTreeMap::new();
        // A run reports unreadable files when it begins.
        let gathering = self.gathering(scenario);
        let placed = gathering.and_then(|gathering| gathering.manifest().ok()).unwrap_or_default();
        for Brought { from, at } in gathering.and_then(|gathering| gathering.files().ok()).unwrap_or_default()
        {
            if let Some(Node::File { size, .. }) = placed.get(&at) {
                files.insert(at.to_string(), (from, *size));
            }
        }
        Start { starts: self, brought, files }
    }
}

impl Facts for Start<'_> {
    fn files(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn bytes(&self, path: &str, most: u64) -> Bytes {
        let Some((from, size)) = self.files.get(path) else { return Bytes::Missing };
        if *size > most {
            return Bytes::TooLarge(*size);
        }
        let read = SafePath::below(self.starts.base(), from.as_path()).read(most).ok().flatten();
        read.map_or(Bytes::Missing, Bytes::Whole)
    }

    fn touched(&self) -> Vec<&str> {
        Vec::new()
    }

    fn answer(&self) -> Option<&str> {
        Some("")
    }

    fn transcript(&self) -> Option<&Transcript> {
        None
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}

impl Untouched for Start<'_> {
    fn brought(&self) -> String {
        self.brought.iter().map(|brought| brought.from.to_string()).collect::<Vec<_>>().join("\n")
    }
}
