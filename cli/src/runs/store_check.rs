//! Checks that the store still has all of a version of the target, before anything is done with it.

use skilltune_orchestrator::snapshot::{Node, ObjectError, Objects};
use skilltune_phases::base::id::TreeId;

use crate::terminal::complaint::{Complaint, ErrorKind, ours};

/// Fails if the store has lost a part of these versions, so that no operation stops halfway.
pub fn require(objects: &Objects, trees: &[TreeId]) -> Result<(), Complaint> {
    trees.iter().try_for_each(|&tree| read_all(objects, tree)).map_err(|error| match error {
        ObjectError::Disk(_) => ours(error),
        ObjectError::Missing(_) | ObjectError::Damaged(_) | ObjectError::NotAManifest { .. } => {
            Complaint::of(ErrorKind::Input, &error)
                .hint(format!("nothing was changed; the store is {}", objects.place().path().display()))
                .hint("restore the store from a backup, or start a new run")
        }
    })
}

fn read_all(objects: &Objects, tree: TreeId) -> Result<(), ObjectError> {
    for entry in objects.manifest(tree)?.entries() {
        match entry.node {
            Node::File { blob, .. } => drop(objects.read(blob)?),
            Node::Folder { .. } | Node::Link { .. } => {}
        }
    }
    Ok(())
}
