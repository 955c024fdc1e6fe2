//! An agent's edit of its copy of a person's folder: what it got, what it left, and what is kept without being placed.

use std::path::Path;

use skilltune_phases::asking::order::Placement;
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::refusal::link_outside;
use super::{ReadError, Services, call_dir, unreadable};
use crate::snapshot::{Captured, Manifest, Node, RelPath, capture_edited};

pub(super) struct EditedCopy {
    /// The whole folder before the edit.
    whole: Manifest,
    /// The part of the folder that the agent got.
    pub(super) base: Manifest,
    /// The copy as the agent left it.
    pub(super) made: Captured,
    at: String,
    /// The paths that were not placed, and what the folder has there.
    withheld: Vec<RelPath>,
    kept: Manifest,
}

impl EditedCopy {
    pub(super) fn read(services: &Services, copy: &Placement, space: &Path) -> Result<Self, ReadError> {
        let whole = services.objects.manifest(copy.tree)?;
        let withheld = call_dir::withheld(&whole, copy);
        let (base, kept) = whole.split(&withheld);
        let made = capture_edited(&services.objects, space, &copy.at, &base, services.limits.artifacts);
        let made = made.map_err(|error| unreadable(error, space))?;
        Ok(Self { whole, base, made, at: copy.at.clone(), withheld, kept })
    }

    /// Adds the parts that were not placed to an edit. Fails if the edit has a file at one of their paths.
    pub(super) fn completed(&self, edited: &Manifest) -> Result<Manifest, Failure> {
        if let Some(entry) = edited.split(&self.withheld).1.entries().first() {
            let why = match self.whole.get(&entry.path) {
                Some(Node::Link { .. }) => "is a symlink out of the folder, which stays as it is",
                _ => "belongs to the suite that the skill is tried on",
            };
            return Err(gate(format!("{} {why}; leave it alone", entry.path)));
        }
        let completed = edited.joined(&self.kept, &self.base).map_err(|why| gate(why.to_string()))?;
        match link_outside(&self.whole, &completed) {
            Some(path) => Err(gate(format!("the link {path} leads outside of `{}/`", self.at))),
            None => Ok(completed),
        }
    }
}

pub(super) fn gate(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Gate, why.into())
}
