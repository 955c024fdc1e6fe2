//! The documents of `--from`. Somebody else may have written them: nothing in a folder is read through a symlink.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::loops::expert::Document;

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

const MOST_FILES: usize = 50;
/// The most bytes of all documents together.
const MOST_BYTES: u64 = 1 << 20;
/// More entries than any folder of documents has.
const MOST_ENTRIES: usize = 10_000;
const ENDINGS: [&str; 4] = ["md", "yaml", "json", "txt"];
const FEWER: &str = "pass the files that matter, or a smaller folder, to --from";

/// Reads these files, and the documents in these folders.
pub fn read(paths: &[PathBuf], env: &Environment) -> Result<Vec<Document>, Complaint> {
    let (mut documents, mut room) = (Vec::<Document>::new(), MOST_BYTES);
    for path in paths {
        for file in files(path, env)? {
            let shown = file.path().strip_prefix(&env.cwd).unwrap_or(file.path());
            let path = one_line(&shown.to_string_lossy());
            if documents.iter().any(|one| one.path == path) {
                continue;
            }
            if documents.len() == MOST_FILES {
                return Err(
                    Complaint::input(format!("these are more than {MOST_FILES} documents")).hint(FEWER)
                );
            }
            let text = text(&file, room)?;
            room -= text.len() as u64;
            documents.push(Document { path, text });
        }
    }
    Ok(documents)
}

fn text(file: &SafePath, room: u64) -> Result<String, Complaint> {
    let cannot = || Complaint::input(format!("cannot read {}", file.path().display()));
    let read = file.read(room).map_err(|error| {
        cannot().caused_by(error).hint(format!("documents may have 1 MiB in all; {FEWER}"))
    })?;
    let bytes = read.ok_or_else(|| cannot().caused_by("it is no longer there"))?;
    String::from_utf8(bytes).map_err(|_| cannot().caused_by("it is not text in UTF-8"))
}

/// Returns a file, or the documents of a folder, sorted by their paths.
fn files(typed: &Path, env: &Environment) -> Result<Vec<SafePath>, Complaint> {
    let path = env.named(typed)?;
    let cannot = |why: &str| Complaint::input(format!("cannot read {}: {why}", path.display()));
    let real = path.canonicalize().map_err(|error| cannot("it cannot be opened").caused_by(error))?;
    let folder = real.parent().zip(real.file_name()).filter(|_| !env.holds_everything(&real));
    let (folder, name) = folder.ok_or_else(|| cannot("it holds all of your files").hint(FEWER))?;
    let top = SafePath::below(folder, name);
    if top.is_file() {
        return Ok(vec![top]);
    }
    let (mut open, mut found, mut entries) = (vec![top], Vec::new(), 0);
    while let Some(folder) = open.pop() {
        for name in folder.names().map_err(|error| cannot("a folder cannot be read").caused_by(error))? {
            entries += 1;
            if entries > MOST_ENTRIES {
                return Err(cannot("it has too many entries").hint(FEWER));
            }
            let entry = folder.join(&name);
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if entry.is_folder() {
                open.push(entry);
            } else if is_document(Path::new(&name)) && entry.is_file() {
                found.push(entry);
            }
        }
    }
    if found.is_empty() {
        return Err(cannot("it has no .md, .yaml, .json or .txt file").hint(FEWER));
    }
    found.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(found)
}

fn is_document(name: &Path) -> bool {
    name.extension().is_some_and(|end| ENDINGS.iter().any(|ending| end.eq_ignore_ascii_case(ending)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Environment) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let env = Environment::fake(root.path().canonicalize().unwrap(), &[]);
        (root, env)
    }

    fn paths(env: &Environment, typed: &[&str]) -> Result<Vec<String>, String> {
        let typed: Vec<PathBuf> = typed.iter().map(PathBuf::from).collect();
        let read = read(&typed, env).map_err(|complaint| complaint.in_one_line())?;
        Ok(read.into_iter().map(|one| one.path).collect())
    }

    #[test]
    fn a_folder_gives_its_documents_in_order_and_through_no_symlink() {
        let (root, env) = project(&[
            ("s/b.md", "b"),
            ("s/a/deep/x.YAML", "x"),
            ("s/a.txt", "a"),
            ("s/p.json", "{}"),
            ("s/code.rs", "no"),
            ("s/.hidden/h.md", "no"),
            ("out.md", "out"),
        ]);
        symlink(root.path().join("out.md"), root.path().join("s/link.md")).unwrap();
        symlink(root.path(), root.path().join("s/all")).unwrap();
        assert_eq!(paths(&env, &["s"]).unwrap(), ["s/a/deep/x.YAML", "s/a.txt", "s/b.md", "s/p.json"]);
        assert_eq!(paths(&env, &["out.md", "s/code.rs", "out.md"]).unwrap(), ["out.md", "s/code.rs"]);
    }

    #[test]
    fn too_much_and_what_is_no_text_is_refused() {
        let large = "x".repeat((1 << 19) + 1);
        let (root, env) = project(&[("l/a.md", &large), ("l/b.md", &large), ("e/x.rs", "")]);
        fs::write(root.path().join("bad.md"), b"\xff").unwrap();
        for number in 0..=MOST_FILES {
            fs::create_dir_all(root.path().join("m")).unwrap();
            fs::write(root.path().join(format!("m/{number}.md")), "").unwrap();
        }
        for (typed, why) in [
            ("l", "l/b.md"),
            ("m", "more than 50 documents"),
            ("bad.md", "not text in UTF-8"),
            ("e", "it has no .md"),
            ("gone", "it cannot be opened"),
            ("/", "it holds all of your files"),
        ] {
            let refused = paths(&env, &[typed]).unwrap_err();
            assert!(refused.contains(why), "{typed}: {refused}");
        }
        assert_eq!(paths(&env, &["l/a.md"]).unwrap(), ["l/a.md"]);
    }
}
