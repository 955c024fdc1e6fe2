//! `outputs/`: the files of a trial that a page can show. Symlinks are never followed, and all names are made plain.

use std::collections::BTreeSet;

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::engine::EngineError;
use skilltune_orchestrator::snapshot::{Node, Objects};
use skilltune_phases::base::id::TreeId;

/// Further files of a trial are left out, and so are larger ones.
const MOST_FILES: usize = 20;
const LONGEST_FILE: u64 = 64 << 10;
const LONGEST_NAME: usize = 80;

/// The space for the outputs of all trials; the run's store has all of them.
pub(super) struct Room {
    bytes: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self { bytes: 4 << 20 }
    }
}

impl Room {
    fn take(&mut self, bytes: u64) -> bool {
        let fits = bytes <= self.bytes;
        self.bytes -= if fits { bytes } else { 0 };
        fits
    }
}

/// Writes the outputs. The viewer recognizes a run only by this folder, so an empty one is created too.
pub(super) fn write(
    objects: &Objects,
    place: &SafePath,
    artifacts: Option<TreeId>,
    room: &mut Room,
) -> Result<(), EngineError> {
    place.make()?;
    let Some(manifest) = artifacts.and_then(|tree| objects.manifest(tree).ok()) else { return Ok(()) };
    let mut names = BTreeSet::new();
    for entry in manifest.entries() {
        let Node::File { blob, size, .. } = entry.node else { continue };
        if names.len() == MOST_FILES || size > LONGEST_FILE || !room.take(size) {
            continue;
        }
        let Ok(Ok(bytes)) = objects.read_at_most(blob, LONGEST_FILE) else { continue };
        let name = name(&entry.path.to_string(), &bytes);
        if names.insert(name.clone()) {
            place.join(name).replace(&bytes, Durability::Order)?;
        }
    }
    Ok(())
}

/// Returns one safe file name for a path. The viewer puts texts into a script of its page unchanged: a text that could
/// end the script gets a name that the viewer offers for download instead.
fn name(path: &str, bytes: &[u8]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = path.chars().map(plain).collect();
    let name = &name[name.len().saturating_sub(LONGEST_NAME)..];
    let ends_script = bytes.windows(2).any(|two| two == b"</" || two == b"<!");
    let name = name.trim_start_matches('.');
    let name = if name.is_empty() { "file" } else { name };
    format!("{name}{}", if ends_script { ".bin" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_has_a_plain_name_and_cannot_end_the_viewers_script() {
        assert_eq!(name("reports/march.md", b"# March"), "reports-march.md");
        assert_eq!(name("../.x/\u{202e} a\nb.md", b""), "-.x---a-b.md");
        assert_eq!(name("...", b""), "file");
        assert_eq!(name("page.html", b"<b>x</b>"), "page.html.bin");
        assert_eq!(name(&"long/".repeat(50), b"").len(), LONGEST_NAME);
    }
}
