//! What a person sees of oracles: the names that the work has to provide, the commands, and the files of each.

use std::borrow::Cow;

use serde_json::json;
use skilltune_orchestrator::snapshot::{Entry, Node, ObjectError, Objects};
use skilltune_phases::base::id::{BlobId, TreeId};
use skilltune_phases::loops::evolve::Run;
use skilltune_phases::loops::evolve::oracle::Oracle;

use crate::loops::evolve::repeated;
use crate::text::figures::{bytes, count};
use crate::text::plain::{one_line, pictured};

/// A larger file is not shown.
const LARGEST: u64 = 1 << 20;

/// Whether the run has oracles besides the checks of the specification, or will have some.
pub fn may_have(run: &Run) -> bool {
    run.asks_for_oracles() || run.plan.task.verify.is_some()
}

/// Returns the newest oracle of a criterion, and how often it was mended.
pub fn newest<'r>(run: &'r Run, criterion: &str) -> Option<(u32, Cow<'r, Oracle>)> {
    let is_fixed = run.is_check(criterion) || run.plan.task.verify.is_some();
    let goes = if is_fixed { 0..1 } else { 0..2 };
    goes.rev().find_map(|go| Some((go, run.oracle(criterion, go)?)))
}

/// Returns the lines that a person needs to decide whether checks and oracles may run.
pub fn asked(run: &Run, objects: &Objects) -> Vec<String> {
    names(run).into_iter().chain(commands(run, objects)).chain(hint(run)).collect()
}

/// Returns the names that the work has to provide, below a line that says so.
pub fn names(run: &Run) -> Vec<String> {
    let note = run.interface().map(|interface| &*interface.note).unwrap_or_default();
    let lines = note.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("  {line}"));
    let lines: Vec<String> = lines.collect();
    let head = (!lines.is_empty()).then(|| "names that the work has to provide, for the oracles:".to_owned());
    head.into_iter().chain(lines).collect()
}

/// Returns the checks and the oracles as they would run, one per line.
pub fn commands(run: &Run, objects: &Objects) -> Vec<String> {
    if run.plan.task.verify.is_some() {
        return repeated::commands(run);
    }
    let all = run.plan.task.spec.criteria.iter();
    let line = all.filter_map(|one| {
        let (_, oracle) = newest(run, &one.id)?;
        let about = if run.is_check(&one.id) { String::new() } else { about(&oracle, objects) };
        Some(format!("{}: {}{about}", one.id, json!(oracle.argv)))
    });
    line.collect()
}

fn about(oracle: &Oracle, objects: &Objects) -> String {
    let files = match oracle.files.map(|tree| files_of(objects, tree)) {
        None => "no file".to_owned(),
        Some(Ok(files)) => count(files.len(), "file"),
        Some(Err(_)) => "its files are missing".to_owned(),
    };
    format!(" ({files}; shows: {})", oracle.shows)
}

/// Says how to see the files of oracles.
pub fn hint(run: &Run) -> Option<String> {
    let hint = || format!("`skilltune show {} oracles` shows their files", run.plan.run);
    may_have(run).then(hint)
}

/// Returns all names, oracles and their files as text; none if there is no oracle. Texts of agents are indented, so that none
/// looks like a part of ours.
pub fn page(run: &Run, objects: &Objects) -> Result<Option<String>, ObjectError> {
    let mut lines = names(run);
    if let Some(stub) = run.interface().and_then(|interface| interface.stub) {
        lines.push("stub, which has these names and no behaviour, and which no result has:".to_owned());
        lines.extend(texts(objects, stub)?);
    }
    let mut has_oracles = false;
    for one in &run.plan.task.spec.criteria {
        let Some((_, oracle)) = newest(run, &one.id) else { continue };
        has_oracles = true;
        lines.push(one_line(&format!("{}: {}", one.id, one.text)));
        lines.push(format!("  command: {}", json!(oracle.argv)));
        if run.is_check(&one.id) {
            lines.push("  it is a check of the specification".to_owned());
        } else {
            lines.push(format!("  shows: {}", one_line(&oracle.shows)));
        }
        lines.extend(oracle.files.map(|tree| texts(objects, tree)).transpose()?.unwrap_or_default());
    }
    Ok(has_oracles.then(|| pictured(&lines.join("\n"))))
}

/// Returns each file of a tree with its lines.
fn texts(objects: &Objects, tree: TreeId) -> Result<Vec<String>, ObjectError> {
    let mut lines = Vec::new();
    for (path, blob) in files_of(objects, tree)? {
        lines.push(format!("  file {}:", one_line(&path)));
        match objects.read_at_most(blob, LARGEST)? {
            Ok(text) => {
                lines.extend(String::from_utf8_lossy(&text).lines().map(|line| format!("    {line}")));
            }
            Err(size) => lines.push(format!("    {}, which is too much to show", bytes(size))),
        }
    }
    Ok(lines)
}

fn files_of(objects: &Objects, tree: TreeId) -> Result<Vec<(String, BlobId)>, ObjectError> {
    let file = |Entry { path, node }: &Entry| match node {
        Node::File { blob, .. } => Some((path.to_string(), *blob)),
        Node::Folder { .. } | Node::Link { .. } => None,
    };
    Ok(objects.manifest(tree)?.entries().iter().filter_map(file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_an_oracle_are_counted_and_shown_with_an_indent() {
        let place = tempfile::tempdir().unwrap();
        let objects = Objects::at(place.path().join("objects"));
        let large = vec![b'x'; (1 << 20) + 1];
        let files: [(&str, &[u8]); 3] =
            [("a.py", b"A2: ok\n\nprint(6)\n"), ("b.txt", large.as_slice()), ("c", b"")];
        let tree = objects.put_files(&files).unwrap();
        let argv = vec!["python3".to_owned(), "a.py".to_owned()];
        let oracle = Oracle { argv, files: Some(tree), uses_names: false, shows: "it prints 6".into() };
        assert_eq!(about(&oracle, &objects), " (3 files; shows: it prints 6)");
        assert_eq!(about(&Oracle { files: None, ..oracle }, &objects), " (no file; shows: it prints 6)");
        let shown = [
            "  file a.py:",
            "    A2: ok",
            "    ",
            "    print(6)",
            "  file b.txt:",
            "    1 MiB, which is too much to show",
            "  file c:",
        ];
        assert_eq!(texts(&objects, tree).unwrap(), shown);
    }
}
