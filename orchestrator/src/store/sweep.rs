//! What no run of a project needs any more is removed from its store.

use std::collections::HashSet;

use skilltune_phases::id::{CallKey, Digest, TreeId};

use super::answers;
use super::layout::Home;
use crate::crash;
use crate::disk::DiskError;
use crate::snapshot::{Node, Objects};

/// What the runs that stay name.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    pub calls: HashSet<CallKey>,
    pub trees: HashSet<TreeId>,
}

impl Home {
    /// Removes what is not needed, and tells how many objects went; nothing while anybody adds to the store.
    ///
    /// Answers go before the trees that they name, so that a sweep that was killed leaves no answer that cannot be used.
    pub fn sweep(&self, needed: &Needed) -> Result<usize, DiskError> {
        let Some(_alone) = self.hold_alone()? else { return Ok(0) };
        for (answer, call) in answers::cached(self)? {
            if !needed.calls.contains(&call) {
                crash::point("sweep an answer");
                answer.remove()?;
            }
        }
        let objects = Objects::at(self.objects());
        objects.sweep(&parts(&objects, &needed.trees))
    }
}

/// Every object that the trees are made of.
fn parts(objects: &Objects, trees: &HashSet<TreeId>) -> HashSet<Digest> {
    let mut parts: HashSet<Digest> = trees.iter().map(|tree| tree.0).collect();
    for &tree in trees {
        let Ok(manifest) = objects.manifest(tree) else { continue };
        parts.extend(manifest.entries().iter().filter_map(|entry| match &entry.node {
            Node::File { blob, .. } => Some(blob.0),
            Node::Folder { .. } | Node::Link { .. } => None,
        }));
    }
    parts
}
