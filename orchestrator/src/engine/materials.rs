//! Loads a stored tree as the texts that a prompt can show.

use std::path::Path;

use skilltune_phases::base::material::{Body, Folder, LARGEST_SHOWN, Material};

use crate::snapshot::{Manifest, Node, ObjectError, Objects, RelPath};

/// The texts of a folder beyond this limit are only in the workspace.
const SHOWN_FOLDER: u64 = 384 << 10;
/// A binary has a zero byte near its start.
const SNIFFED: usize = 8 << 10;

pub(super) fn load(objects: &Objects, manifest: &Manifest, at: &str) -> Result<Folder, ObjectError> {
    let mut room = SHOWN_FOLDER;
    let mut files = Vec::new();
    // The skill's own page comes first, so that other files never take its room.
    let mut entries: Vec<_> = manifest.entries().iter().collect();
    entries.sort_by_key(|entry| entry.path.as_path() != Path::new("SKILL.md"));
    for entry in entries {
        let body = match &entry.node {
            Node::Folder { .. } => continue,
            Node::Link { target } => Body::Link { target: String::from_utf8_lossy(target).into_owned() },
            Node::File { size, .. }
                if *size > LARGEST_SHOWN.min(room) || is_bystander(&entry.path, *size) =>
            {
                Body::Large { bytes: *size }
            }
            Node::File { blob, size, .. } => body(objects.read(*blob)?, *size, &mut room),
        };
        files.push(Material { path: entry.path.to_string(), body });
    }
    Ok(Folder { at: at.to_owned(), files })
}

/// Whether a file is long and no judge or improver has to read it: a license or a lock file.
fn is_bystander(path: &RelPath, size: u64) -> bool {
    const LONG: u64 = 2 << 10;
    let name = path.name().to_string_lossy().to_lowercase();
    let is_legal = ["licence", "license", "copying", "notice"].iter().any(|word| name.starts_with(word));
    let is_lock = [".lock", "-lock.json", "-lock.yaml"].iter().any(|end| name.ends_with(end));
    size > LONG && (is_legal || is_lock)
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
    fn licences_and_locks_are_named_and_everything_else_is_shown() {
        let store = tempfile::TempDir::new().unwrap();
        let objects = Objects::at(store.path());
        let long = [b'x'; 3000];
        let files: Vec<(&str, &[u8])> = vec![
            ("COPYING", &long),
            ("LICENSE.txt", &long),
            ("NOTICE", b"short"),
            ("SKILL.md", &long),
            ("licences-of-animals.md", b"short"),
            ("package-lock.json", &long),
        ];
        let placed = objects.manifest(objects.put_files(&files).unwrap()).unwrap();
        let folder = load(&objects, &placed, "skill").unwrap();
        let long: Vec<_> =
            folder.files.iter().filter(|file| matches!(file.body, Body::Large { .. })).collect();
        let names: Vec<_> = long.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["COPYING", "LICENSE.txt", "package-lock.json"]);
    }

    #[test]
    fn the_skills_own_page_is_shown_even_if_files_before_it_fill_the_prompt() {
        let store = tempfile::TempDir::new().unwrap();
        let objects = Objects::at(store.path());
        let long = vec![b'x'; usize::try_from(LARGEST_SHOWN).unwrap()];
        let names: Vec<String> = (0..9).map(|nth| format!("A{nth}.md")).collect();
        let pages = names.iter().map(String::as_str).chain(["SKILL.md"]);
        let files: Vec<(&str, &[u8])> = pages.map(|name| (name, &long[..])).collect();
        let placed = objects.manifest(objects.put_files(&files).unwrap()).unwrap();
        let folder = load(&objects, &placed, "skill").unwrap();
        let shown = folder.files.iter().filter(|file| matches!(file.body, Body::Text(_)));
        let shown: Vec<_> = shown.map(|file| file.path.as_str()).collect();
        assert_eq!(shown, ["SKILL.md", "A0.md", "A1.md", "A2.md", "A3.md", "A4.md", "A5.md", "A6.md"]);
    }
}
