//! The parts of a folder that agents do not get: symlinks that lead out of it, and files that a program reads by itself.

use skilltune_orchestrator::snapshot::{Entry, Manifest, Node};
use skilltune_phases::skills::edit::acts_by_itself;

/// The most symlinks that are listed; more are only counted.
const MOST: usize = 5;

/// Returns each such symlink with its target, as text.
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

/// Returns the paths that a program reads by itself.
pub fn acting(manifest: &Manifest) -> Vec<String> {
    let acts = |Entry { path, node }: &Entry| {
        let path = path.to_string();
        acts_by_itself(&if node.is_folder() { format!("{path}/") } else { path.clone() }).then_some(path)
    };
    manifest.entries().iter().filter_map(acts).collect()
}
