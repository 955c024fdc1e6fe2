//! Removes objects from a project's store that none of its runs needs.
//!
//! Many may add to the store, but a sweep needs it alone: the journal of a run names a stored object only a moment later,
//! and a sweep in between would remove it.

use std::collections::HashSet;

use rustix::fs::FlockOperation;
use skilltune_phases::base::id::{CallKey, Digest, TreeId};

use super::answers;
use super::layout::Home;
use crate::crash;
use crate::disk::{DiskError, Lock};
use crate::snapshot::{Node, Objects};

/// The objects that the remaining runs refer to.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    pub calls: HashSet<CallKey>,
    pub trees: HashSet<TreeId>,
}

impl Home {
    /// Locks the store for adding objects. Waits for a sweep to end.
    pub fn hold(&self) -> Result<Lock, DiskError> {
        Ok(self.lock_file().lock(FlockOperation::LockShared)?.expect("this lock is waited for"))
    }

    /// Locks the store for a sweep; `None` while it is being added to.
    pub fn hold_alone(&self) -> Result<Option<Lock>, DiskError> {
        self.lock_file().lock(FlockOperation::NonBlockingLockExclusive)
    }

    /// Removes what is not needed and returns the number of removed objects; zero while the store is being added to.
    ///
    /// Answers are removed before the trees that they name, so that a killed sweep leaves no unusable answer.
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

/// Returns every object that the trees consist of.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_added_to_is_not_swept() {
        let project = tempfile::tempdir().unwrap();
        let home = Home::of(project.path());
        home.create().unwrap();
        let (one, two) = (home.hold().unwrap(), home.hold().unwrap());
        assert!(home.hold_alone().unwrap().is_none());
        drop(one);
        assert!(home.hold_alone().unwrap().is_none());
        drop(two);
        assert!(home.hold_alone().unwrap().is_some());
    }
}
