use std::collections::BTreeSet;

use skilltune_orchestrator::snapshot::{Entry, Manifest, Node, Objects, RelPath};
use skilltune_phases::base::id::TreeId;

use super::*;
use crate::inputs::suite::append::derived_id;

fn entry(objects: &Objects, path: &str, link: bool) -> Entry {
    let blob = objects.put(b"text").unwrap();
    let file = Node::File { blob, size: 4, mode: 0o755 };
    let node = if link { Node::Link { target: b"/etc/passwd".to_vec() } } else { file };
    Entry { path: RelPath::parse(path.as_bytes()).unwrap(), node }
}

/// Stores a tree of one file and its parent folders.
fn tree(objects: &Objects, path: &str, link: bool) -> TreeId {
    let last = entry(objects, path, link);
    let above = last.path.lineage().filter(|above| *above != last.path).collect::<Vec<_>>();
    let folder = |path| Entry { path, node: Node::Folder { mode: 0o755 } };
    let entries = above.into_iter().map(folder).chain([last.clone()]).collect();
    objects.put_manifest(&Manifest::new(entries).unwrap()).unwrap()
}

fn appended(folder: &Folder, scenario: &Scenario, objects: &Objects) -> Result<Appended, Complaint> {
    let suite = appendable(&folder.path("suite.toml")).unwrap();
    append(&suite, scenario, "from a test\nid = 1", objects)
}

fn names(folder: &Folder) -> BTreeSet<String> {
    let names = fs::read_dir(folder.path("")).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn links_and_repositories_of_a_run_are_not_taken_over_and_leave_nothing() {
    let folder = Folder::new(&[]);
    let store = tempfile::tempdir().unwrap();
    let objects = Objects::at(store.path());
    for (path, link) in
        [("a", true), ("deep/a", true), ("deep/.git/config", false), ("deep/.GIT/hooks/x", false)]
    {
        let files = Some(tree(&objects, path, link));
        let scenario = Scenario { files, ..Scenario::new("one".parse().unwrap(), "Write") };
        let complaint = appended(&folder, &scenario, &objects).unwrap_err();
        assert!(
            complaint.what.starts_with("cannot copy ") && complaint.what.contains(" from the run: "),
            "{complaint:?}"
        );
        assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    }
    let files = Some(tree(&objects, "deep/run.sh", false));
    let scenario = Scenario { files, ..Scenario::new("one".parse().unwrap(), "Write") };
    assert_eq!(appended(&folder, &scenario, &objects).unwrap(), Appended::Added("one".parse().unwrap()));
    assert_eq!(fs::read(folder.path("cases/one/files/deep/run.sh")).unwrap(), b"text");
    let suite = folder.read("suite.toml");
    assert_eq!(suite.drafts.len(), 1);
    assert_eq!(suite.starts.as_planned(&suite.drafts[0]).files, files, "it is the same starting state");
    // Other files make it another task.
    let other = Some(tree(&objects, "deep/other.sh", false));
    let other = Scenario { id: "two".parse().unwrap(), files: other, ..scenario.clone() };
    assert_eq!(appended(&folder, &other, &objects).unwrap(), Appended::Added("two".parse().unwrap()));
    let same = Scenario { id: "three".parse().unwrap(), ..scenario };
    assert_eq!(appended(&folder, &same, &objects).unwrap(), Appended::Known("one".parse().unwrap()));
}

#[test]
fn a_derived_id_is_plain_and_short_whatever_it_is_made_of() {
    for (from, id) in [
        ("one", "one-12345678"),
        ("\u{1b}[31m\n", "31m-12345678"),
        ("\n", "scenario-12345678"),
        (&"x".repeat(250), &format!("{}-12345678", "x".repeat(55))),
    ] {
        assert_eq!(derived_id(&from.parse().unwrap(), "12345678"), id);
    }
}
