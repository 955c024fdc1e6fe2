//! `[evolve] bring`: ignored files that copies of the project need to build, such as local settings.
//!
//! They are stored as a tree of their own. No result, diff or prompt has them.

use std::collections::BTreeMap;
use std::path::Path;

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{Entry, Manifest, Node, Objects, RelPath};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::Task;
use skilltune_phases::skills::edit::is_git;

use crate::terminal::complaint::{Complaint, ErrorKind, ours};

const MOST_FILES: usize = 16;
const LARGEST: u64 = 1 << 20;
/// A shorter text occurs by itself.
const SHORTEST: usize = 8;
/// A longer text without digits or signs is no ordinary word.
const LONGEST_WORD: usize = 16;
/// The most texts of one file that are hidden. A file with more has data.
const MOST_SECRETS: usize = 200;

/// Stores these files of the project. Fails if one is missing, large, not a plain file, or outside of the project.
pub fn bring(objects: &Objects, root: &Path, names: &[String]) -> Result<Option<TreeId>, Complaint> {
    if names.is_empty() {
        return Ok(None);
    }
    if names.len() > MOST_FILES {
        return Err(Complaint::input(format!("`evolve.bring` names more than {MOST_FILES} files")));
    }
    let (mut nodes, mut missing) = (BTreeMap::new(), Vec::new());
    for name in names {
        let path = below_project(name)?;
        let bytes = SafePath::below(root, path.as_path()).read(LARGEST).map_err(|error| {
            Complaint::of(ErrorKind::Input, &error).after(format!("cannot bring `{name}` into copies"))
        })?;
        let Some(bytes) = bytes else {
            missing.push(name.as_str());
            continue;
        };
        for above in path.lineage() {
            nodes.entry(above).or_insert(Node::Folder { mode: 0o700 });
        }
        let blob = objects.put(&bytes).map_err(ours)?;
        nodes.insert(path, Node::File { blob, size: bytes.len() as u64, mode: 0o600 });
    }
    if !missing.is_empty() {
        let what = format!("`evolve.bring` names missing files: {}", missing.join(", "));
        return Err(Complaint::input(what).hint("create them, or take them out of `evolve.bring`"));
    }
    let entries = nodes.into_iter().map(|(path, node)| Entry { path, node }).collect();
    let manifest = Manifest::new(entries).map_err(|error| Complaint::of(ErrorKind::Input, &error))?;
    objects.put_manifest(&manifest).map(Some).map_err(ours)
}

/// Returns the lines of brought files, and the values in them: what a command or an agent repeats of them is hidden.
/// Ordinary words and texts of the specification are none, because answers would not fit what they are about without them.
pub fn secrets(objects: &Objects, task: &Task) -> Vec<String> {
    let Some(manifest) = task.brought.and_then(|tree| objects.manifest(tree).ok()) else { return Vec::new() };
    let spec = task.spec.markdown();
    let is_secret = |text: &str| text.len() >= SHORTEST && !is_word(text) && !spec.contains(text);
    let mut all = Vec::new();
    for entry in manifest.entries() {
        let Node::File { blob, .. } = &entry.node else { continue };
        let Ok(bytes) = objects.read(*blob) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let said = text.lines().flat_map(line_and_value).filter(|text| is_secret(text));
        all.extend(said.take(MOST_SECRETS).map(ToOwned::to_owned));
    }
    all
}

/// Returns a line, and what it sets if it has the form `name=value` or `name: value`.
fn line_and_value(line: &str) -> impl Iterator<Item = &str> {
    let ends = [("=", line.find('=')), (": ", line.find(": "))];
    let ends = ends.into_iter().filter_map(|(sign, at)| Some(at? + sign.len()));
    let value = ends.min().map(|at| line[at..].trim().trim_matches(['"', '\'', ',', ';']));
    [line.trim()].into_iter().chain(value)
}

/// Whether a text may be an ordinary word, such as `development`.
fn is_word(text: &str) -> bool {
    text.len() < LONGEST_WORD && text.chars().all(char::is_alphabetic)
}

fn below_project(name: &str) -> Result<RelPath, Complaint> {
    let is_plain = |path: &RelPath| {
        let mut parts = path.as_path().iter();
        !path.is_reserved() && !parts.any(|part| is_git(&part.to_string_lossy()))
    };
    RelPath::parse(name.as_bytes()).ok().filter(is_plain).ok_or_else(|| {
        Complaint::input(format!("`evolve.bring` names `{name}`, which is not a file of the project"))
            .hint("write paths from the folder of the project, such as `config/local.toml`")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_stored_for_their_owner_and_nothing_else_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("project");
        fs::create_dir_all(root.join("conf/deep")).unwrap();
        fs::write(root.join(".env"), "A=1").unwrap();
        fs::write(root.join("conf/deep/key"), "k").unwrap();
        fs::write(place.path().join("own"), "precious").unwrap();
        symlink("../own", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        fs::File::create(root.join("huge")).unwrap().set_len(LARGEST + 1).unwrap();
        let objects = Objects::at(place.path().join("objects"));
        let bring = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            bring(&objects, &root, &names).map_err(|complaint| complaint.in_one_line())
        };
        assert_eq!(bring(&[]).unwrap(), None);
        let tree = bring(&["conf/deep/key", ".env", ".env"]).unwrap().unwrap();
        let manifest = objects.manifest(tree).unwrap();
        let stored: Vec<_> =
            manifest.entries().iter().map(|entry| (entry.path.to_string(), entry.node.mode())).collect();
        let wanted = [(".env", 0o600), ("conf", 0o700), ("conf/deep", 0o700), ("conf/deep/key", 0o600)];
        assert_eq!(stored, wanted.map(|(path, mode)| (path.to_owned(), Some(mode))));
        for (name, why) in [
            ("../own", "is not a file of the project"),
            ("/etc/passwd", "is not a file of the project"),
            ("conf/../.env", "is not a file of the project"),
            (".git/config", "is not a file of the project"),
            ("sub/.GIT/config", "is not a file of the project"),
            (".skilltune/runs", "is not a file of the project"),
            ("link", "cannot bring `link` into copies"),
            ("up/own", "cannot bring `up/own` into copies"),
            ("conf", "cannot bring `conf` into copies"),
            ("huge", "cannot bring `huge` into copies"),
            ("none", "missing files: none"),
        ] {
            let refused = bring(&[".env", name]).unwrap_err();
            assert!(refused.contains(why), "{name}: {refused}");
        }
        assert!(bring(&["a", ".env", "b"]).unwrap_err().contains("missing files: a, b"));
        assert!(bring(&[".env"; MOST_FILES + 1]).unwrap_err().contains("more than 16"));
    }

    #[test]
    fn lines_and_their_values_are_secrets_and_words_are_not() {
        let of = |line: &'static str| -> Vec<&'static str> {
            line_and_value(line).filter(|text| text.len() >= SHORTEST && !is_word(text)).collect()
        };
        assert_eq!(of("KEY=abcd-1234"), ["KEY=abcd-1234", "abcd-1234"]);
        assert_eq!(of("  token: 'abcd=1234',"), ["token: 'abcd=1234',", "abcd=1234"]);
        assert_eq!(of("\"token\": \"abcd-1234\","), ["\"token\": \"abcd-1234\",", "abcd-1234"]);
        assert_eq!(of("NODE_ENV=development"), ["NODE_ENV=development"]);
        assert_eq!(of("correcthorsebatterystaple"), ["correcthorsebatterystaple"]);
        assert_eq!(of("A=1"), [""; 0]);
        assert_eq!(of("production"), [""; 0]);
    }
}
