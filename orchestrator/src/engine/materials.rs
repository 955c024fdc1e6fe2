//! Loads a stored tree as the texts that a prompt can show.

use std::path::Path;

use skilltune_phases::base::material::{Body, Folder, LARGEST_SHOWN, Material};

use crate::snapshot::{Manifest, Node, ObjectError, Objects};

/// Only so much text of a folder is read. A prompt shows less, and chooses what it shows.
const MOST_BYTES: u64 = 4 << 20;
/// A binary has a zero byte near its start.
const SNIFFED: usize = 8 << 10;

pub(super) fn load(objects: &Objects, manifest: &Manifest, at: &str) -> Result<Folder, ObjectError> {
    let mut room = MOST_BYTES;
    let mut files = Vec::new();
    // The skill's own page comes first, so that other files never take its room.
    let mut entries: Vec<_> = manifest.entries().iter().collect();
    entries.sort_by_key(|entry| entry.path.as_path() != Path::new("SKILL.md"));
    for entry in entries {
        let body = match &entry.node {
            Node::Folder { .. } => continue,
            Node::Link { target } => Body::Link { target: String::from_utf8_lossy(target).into_owned() },
            Node::File { size, .. } if *size > LARGEST_SHOWN.min(room) => Body::Large { bytes: *size },
            Node::File { blob, size, .. } => body(objects.read(*blob)?, *size, &mut room),
        };
        files.push(Material { path: entry.path.to_string(), body });
    }
    Ok(Folder { at: at.to_owned(), files })
}

fn body(bytes: Vec<u8>, size: u64, room: &mut u64) -> Body {
    if bytes[..bytes.len().min(SNIFFED)].contains(&0) {
        return Body::Binary { bytes: size };
    }
    match String::from_utf8(bytes) {
        Ok(text) => {
            *room -= size;
            Body::Text(text)
        }
        Err(_) => Body::Binary { bytes: size },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skills_own_page_is_first_and_more_texts_are_loaded_than_a_prompt_shows() {
        let store = tempfile::TempDir::new().unwrap();
        let objects = Objects::at(store.path());
        let long = vec![b'x'; usize::try_from(LARGEST_SHOWN).unwrap()];
        let longer = [&long[..], b"x"].concat();
        let names: Vec<String> = (0..9).map(|nth| format!("A{nth}.md")).collect();
        let pages = names.iter().map(String::as_str).chain(["SKILL.md"]).map(|name| (name, &long[..]));
        let files: Vec<(&str, &[u8])> = pages.chain([("longer.md", &longer[..])]).collect();
        let placed = objects.manifest(objects.put_files(&files).unwrap()).unwrap();
        let folder = load(&objects, &placed, "skill").unwrap();
        let is_text = |body: &Body| matches!(body, Body::Text(_));
        let all: Vec<_> = folder.files.iter().map(|file| (file.path.as_str(), is_text(&file.body))).collect();
        assert_eq!(all[0], ("SKILL.md", true));
        assert!(all[1..10].iter().all(|(_, is_text)| *is_text), "{all:?}");
        assert_eq!(all[10..], [("longer.md", false)]);
    }
}
