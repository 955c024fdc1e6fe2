//! What there is to say of a skill's content before it is tried: its pages, its programs, and what of it is no part of it.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::snapshot::{Entry, Manifest, Node};
use skilltune_phases::target::Member;

/// A member with what there is to say of its start.
pub fn described(
    member: Member,
    manifest: &Manifest,
    hidden: Vec<String>,
    names_interpreter: impl Fn(&Path) -> bool,
) -> Member {
    let is_hidden = |entry: &&Entry| hidden.iter().any(|path| entry.path.as_path().starts_with(path));
    let own = || manifest.entries().iter().filter(|entry| !is_hidden(entry));
    let has_scripts = own().any(|entry| is_script(entry, &names_interpreter));
    let pages = own().filter(|entry| matches!(entry.node, Node::File { .. }));
    let pages = pages.map(|entry| entry.path.to_string()).filter(|path| is_markdown(path));
    Member { files: pages.collect(), start: manifest.tree(), has_scripts, hidden, ..member }
}

/// Where skills keep their suites.
const EVALS: &str = "evals";

/// Test files inside the skill's folder, which agents must not see.
pub fn hidden(skill: &Path, tests: &[PathBuf], manifest: &Manifest) -> Vec<String> {
    let own = tests.iter().filter_map(|path| path.strip_prefix(skill).ok()?.to_str());
    with_evals(own.map(str::to_owned).collect(), manifest)
}

/// The same with the folder of the skill's own suite, if it has one.
pub fn with_evals(paths: Vec<String>, manifest: &Manifest) -> Vec<String> {
    let evals = manifest.entries().iter().any(|entry| entry.path.as_path() == Path::new(EVALS));
    let is_apart = |path: &String| !path.is_empty() && !Path::new(path).starts_with(EVALS);
    let mut own: Vec<String> = paths.into_iter().filter(is_apart).collect();
    own.extend(evals.then(|| EVALS.to_owned()));
    own.sort_unstable();
    own.dedup();
    own
}

/// A file that is there to be run: it is executable, names its interpreter, or stands among scripts.
fn is_script(entry: &Entry, names_interpreter: impl Fn(&Path) -> bool) -> bool {
    let Node::File { mode, .. } = entry.node else { return false };
    if is_markdown(&entry.path.to_string()) {
        return false;
    }
    let path = entry.path.as_path();
    mode & 0o111 != 0 || path.starts_with("scripts") || names_interpreter(path)
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}
