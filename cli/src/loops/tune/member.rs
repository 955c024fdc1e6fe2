//! Describes a skill's content before it is tried: its pages, its programs, and the files hidden from agents.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::snapshot::{Manifest, Node};
use skilltune_phases::base::material::{Body, LARGEST_SHOWN};
use skilltune_phases::skills::lint::{File, Files, is_markdown, is_script};
use skilltune_phases::skills::target::Member;
use skilltune_phases::suites::leak::{AnswerKeys, Held};
use skilltune_phases::suites::scenario::Scenario;

use crate::inputs::links;
use crate::inputs::suite::{EVALS, answers};

/// A version of a skill: its files, and the texts of those that are small enough.
#[derive(Debug, Default)]
pub struct Content {
    pub manifest: Manifest,
    pub files: Files,
}

/// A file of a version that holds answers of the suite.
#[derive(Debug)]
pub struct Key {
    pub path: String,
    pub held: Held,
}

/// The files that are hidden from agents because they hold answers of a suite.
#[derive(Debug, Default)]
pub struct Withheld {
    /// The hidden paths.
    pub paths: Vec<String>,
    /// Notes for the user, one line each.
    pub notes: Vec<String>,
}

/// Returns the member with a description of its start.
pub fn described(member: Member, content: &Content, hidden: Vec<String>) -> Member {
    let own = || content.files.files().iter().filter(|file| !is_below(&file.path, &hidden));
    let is_page = |file: &&File| is_markdown(&file.path) && !matches!(file.body, Body::Link { .. });
    let has_scripts = own().any(is_script);
    let files = own().filter(is_page).map(|file| file.path.clone()).collect();
    let links_outside = links::outside(&content.manifest);
    let too_long = too_long(&content.manifest);
    Member { files, start: content.manifest.tree(), has_scripts, too_long, hidden, links_outside, ..member }
}

const MAIN: &str = "SKILL.md";

/// Returns the size of `SKILL.md` if that is too long for a prompt.
fn too_long(manifest: &Manifest) -> Option<u64> {
    let main = manifest.entries().iter().find(|entry| entry.path.as_path() == Path::new(MAIN))?;
    match main.node {
        Node::File { size, .. } => Some(size).filter(|size| *size > LARGEST_SHOWN),
        Node::Folder { .. } | Node::Link { .. } => None,
    }
}

/// Returns the test files inside the skill's folder, which agents must not see.
pub fn hidden(skill: &Path, tests: &[PathBuf], manifest: &Manifest) -> Vec<String> {
    let own = tests.iter().filter_map(|path| path.strip_prefix(skill).ok()?.to_str());
    with_evals(own.map(str::to_owned).collect(), manifest)
}

/// Returns the paths, with the folder of the skill's own suite if it has one.
pub fn with_evals(paths: Vec<String>, manifest: &Manifest) -> Vec<String> {
    let evals = manifest.entries().iter().any(|entry| entry.path.as_path() == Path::new(EVALS));
    let is_apart = |path: &String| !path.is_empty() && !Path::new(path).starts_with(EVALS);
    let mut own: Vec<String> = paths.into_iter().filter(is_apart).collect();
    own.extend(evals.then(|| EVALS.to_owned()));
    own.sort_unstable();
    own.dedup();
    own
}

/// Returns the answer keys among the files that are not yet hidden. Text of `SKILL.md` is not secret in other files.
pub fn keys(files: &Files, hidden: &[String], scenarios: &[Scenario]) -> Vec<Key> {
    let page = files.get(MAIN).and_then(File::text).unwrap_or_default();
    let keys = AnswerKeys::new(scenarios, page);
    let others = files.files().iter().filter(|file| file.path != MAIN && !is_below(&file.path, hidden));
    let mut found: Vec<Key> = others
        .filter_map(|file| Some(Key { path: file.path.clone(), held: keys.held(&file.path, file.text()?)? }))
        .collect();
    keys.unite(&mut found.iter_mut().map(|key| &mut key.held).collect::<Vec<_>>());
    let of_page = AnswerKeys::new(scenarios, "").held_by_page(page);
    found.extend(of_page.map(|held| Key { path: MAIN.to_owned(), held }));
    found.retain(|key| key.held.is_key);
    found
}

/// Hides the answer keys, but never `SKILL.md`: that it holds answers is only reported.
pub fn withheld(files: &Files, hidden: &[String], scenarios: &[Scenario]) -> Withheld {
    let mut withheld = Withheld::default();
    for Key { path, held } in keys(files, hidden, scenarios) {
        let (line, answers) = (held.line, answers(&held.scenarios));
        if path == MAIN {
            withheld.notes.push(format!("{path}:{line} holds {answers}"));
        } else {
            withheld.notes.push(format!("no agent sees {path}:{line}: it holds {answers}"));
            withheld.paths.push(path);
        }
    }
    withheld
}

fn is_below(path: &str, folders: &[String]) -> bool {
    folders.iter().any(|folder| Path::new(path).starts_with(folder))
}
