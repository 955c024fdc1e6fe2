//! The symlinks of a folder that agents do not get, because they lead out of it.

use skilltune_orchestrator::snapshot::{Entry, Manifest, Node};

/// The most symlinks that are listed; more are only counted.
const MOST: usize = 5;

/// Returns each of them with its target, as text.
pub fn outside(manifest: &Manifest) -> Vec<String> {
    let text = |Entry { path, node }: &Entry| match node {
        Node::Link { target } => format!("{path} (to {})", String::from_utf8_lossy(target)),
        Node::File { .. } | Node::Folder { .. } => path.to_string(),
    };
    let mut shown: Vec<String> = manifest.links_outside().take(MOST).map(text).collect();
    let more = manifest.links_outside().skip(MOST).count();
    shown.extend((more > 0).then(|| format!("and {more} more")));
    shown
}
