//! Lists and stores the parts of trees: only those that a side lacks, and only if their hash is right.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use skilltune_phases::base::id::TreeId;

use super::frame::Part;
use super::inbox::invalid;
use crate::snapshot::{Node, ObjectError, Objects};

/// Returns the manifest of a tree as a part.
pub fn manifest(objects: &Objects, tree: TreeId) -> Result<Part, ObjectError> {
    let bytes = objects.size(tree.0).ok_or(ObjectError::Missing(tree.0))?;
    Ok(Part { digest: tree.0, bytes })
}

/// Returns the files of trees, each once.
pub fn files(objects: &Objects, trees: &[TreeId]) -> Result<BTreeSet<Part>, ObjectError> {
    let mut parts = BTreeSet::new();
    for &tree in trees {
        parts.extend(objects.manifest(tree)?.entries().iter().filter_map(|entry| match entry.node {
            Node::File { blob, size, .. } => Some(Part { digest: blob.0, bytes: size }),
            Node::Folder { .. } | Node::Link { .. } => None,
        }));
    }
    Ok(parts)
}

/// Returns all parts of trees: the manifests, then the files.
pub fn all(objects: &Objects, trees: &[TreeId]) -> Result<Vec<Part>, ObjectError> {
    let manifests = trees.iter().map(|&tree| manifest(objects, tree));
    let files = files(objects, trees)?.into_iter().map(Ok);
    manifests.chain(files).collect()
}

/// Returns the parts that the store lacks.
pub fn lacking<'a>(objects: &Objects, parts: impl IntoIterator<Item = &'a Part>) -> Vec<Part> {
    parts.into_iter().copied().filter(|part| objects.size(part.digest) != Some(part.bytes)).collect()
}

/// Stores a part that arrives. The inner error is the other side's.
pub fn store(objects: &Objects, part: Part, from: impl Read) -> Result<io::Result<()>, ObjectError> {
    let mut from = Noting { from, failed: None };
    let stored = objects.put_reader(&mut from, part.bytes, Path::new("a part of a tree"));
    if let Some(error) = from.failed {
        return Ok(Err(error));
    }
    let is_right = stored?.blob == part.blob();
    Ok(if is_right { Ok(()) } else { Err(invalid("it sent a part that has another hash")) })
}

/// A reader that keeps its error: the store would take it for one of the disk.
struct Noting<R> {
    from: R,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Noting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.from.read(into).map_err(|error| self.failed.insert(error).kind().into())
    }
}
