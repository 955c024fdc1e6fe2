//! A scenario's workspace as it begins: what checks are held against that should tell something.

use std::collections::BTreeMap;

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{Limits, Manifest, Node, RelPath, gathered};
use skilltune_phases::checks::{Bytes, Facts, Usage};
use skilltune_phases::name::Name;
use skilltune_phases::transcript::Transcript;
use skilltune_phases::vacuous::Untouched;

use super::files::Starts;

#[derive(Debug)]
pub struct Start<'a> {
    starts: &'a Starts,
    brought: &'a [RelPath],
    /// Sizes by the paths in the workspace.
    files: BTreeMap<String, u64>,
}

impl Starts {
    pub fn untouched(&self, scenario: &Name) -> Start<'_> {
        let brought = self.of(scenario);
        let mut files = BTreeMap::new();
        // What cannot be read is told when a run begins.
        let all = gathered(self.base(), brought, Limits::default());
        for entry in all.iter().flat_map(Manifest::entries) {
            if let Node::File { size, .. } = entry.node {
                files.insert(entry.path.to_string(), size);
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
        let Some(size) = self.files.get(path) else { return Bytes::Missing };
        if *size > most {
            return Bytes::TooLarge(*size);
        }
        let (first, below) = path.split_once('/').map_or((path, None), |(first, below)| (first, Some(below)));
        let brought = self.brought.iter().find(|brought| brought.name() == first);
        let place = brought.map(|brought| SafePath::below(self.starts.base(), brought.as_path()));
        let place = place.map(|place| below.map_or_else(|| place.clone(), |below| place.join(below)));
        place.and_then(|place| place.read(most).ok()?).map_or(Bytes::Missing, Bytes::Whole)
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
        self.brought.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }
}
