//! Tests of edited copies, and the trees, drafts and refusals that the tests of gates share.

use std::fs;

use skilltune_phases::asking::order::Access;

use super::*;
use crate::snapshot::{Limits, scan};

pub(in super::super) fn tree(objects: &Objects, files: &[(&str, &str)]) -> TreeId {
    let file = |(path, text): &(&str, &str)| {
        let blob = objects.put(text.as_bytes()).unwrap();
        let node = Node::File { blob, size: text.len() as u64, mode: 0o644 };
        (RelPath::parse(path.as_bytes()).unwrap(), node)
    };
    objects.put_manifest(&Manifest::of_files(files.iter().map(file))).unwrap()
}

pub(in super::super) fn draft(at: &str, tree: TreeId) -> Placement {
    Placement {
        at: at.into(),
        tree,
        access: Access::Draft,
        hidden: Vec::new(),
        picked: Vec::new(),
        links_outside: false,
    }
}

/// Returns why these gates refuse files in place of others, if they do.
pub(in super::super) fn why_refused(
    from: &[(&str, &str)],
    to: &[(&str, &str)],
    gates: impl FnOnce(&Objects, &EditedCopy) -> Result<TreeId, ReadError>,
) -> Option<String> {
    let store = tempfile::tempdir().unwrap();
    let objects = Objects::at(store.path());
    let made = tree(&objects, to);
    let placed = draft("copy", tree(&objects, from));
    let copy = EditedCopy::returned(&objects, &placed, made).unwrap();
    match gates(&objects, &copy) {
        Ok(stored) => {
            assert_eq!(stored, made);
            None
        }
        Err(ReadError::Agent(failure)) => Some(failure.why),
        Err(ReadError::Ours(error)) => panic!("{error}"),
    }
}

#[test]
fn what_a_setup_command_did_and_the_agent_left_is_no_part_of_the_edit() {
    let space = tempfile::tempdir().unwrap();
    let at = |name: &str| space.path().join(name);
    let write = |name: &str, text: &str| {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), text).unwrap();
    };
    for name in ["lock", "old/only", "both", "work", "gone"] {
        write(name, "base");
    }
    let look = || scan(space.path(), None, Limits::default()).unwrap();
    let base = look();
    // The setup command.
    write("lock", "setup");
    write("both", "setup");
    write("made/left", "setup");
    write("made/changed", "setup");
    write("empty/left", "setup");
    fs::remove_dir_all(at("old")).unwrap();
    let after = look();
    // The agent.
    write("both", "agent");
    write("work", "agent");
    write("made/changed", "agent");
    fs::remove_file(at("gone")).unwrap();
    let edit = own_changes(&look(), &base, Some(&after), &Manifest::default()).unwrap();
    let names: Vec<String> = edit.entries().iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(names, ["both", "lock", "made", "made/changed", "old", "old/only", "work"]);
    let get = |of: &Manifest, name: &str| of.get(&RelPath::parse(name.as_bytes()).unwrap()).cloned();
    assert_eq!(get(&edit, "lock"), get(&base, "lock"));
    assert_eq!(get(&edit, "both"), get(&look(), "both"));
}

#[test]
fn a_brought_file_is_in_no_edit_and_its_content_at_no_other_path() {
    let space = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = space.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let look = || scan(space.path(), None, Limits::default()).unwrap();
    write(".env", "secret");
    write("conf/local/key", "other secret");
    write("conf/known", "known");
    write("conf/empty", "");
    let brought = look();
    fs::remove_dir_all(space.path().join("conf")).unwrap();
    fs::remove_file(space.path().join(".env")).unwrap();
    write("a", "known");
    let base = look();
    write(".env", "changed");
    write("conf/local/key/below", "replaced");
    write("conf/local/new", "new");
    let edit = own_changes(&look(), &base, None, &brought).unwrap();
    let names: Vec<String> = edit.entries().iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(names, ["a", "conf", "conf/local", "conf/local/new"]);
    for (name, text, refused) in
        [("b", "secret", Some(".env")), ("b", "known", None), ("b", "", None), ("b", "other", None)]
    {
        write(name, text);
        let edit = own_changes(&look(), &base, None, &brought).unwrap();
        let found = disclosed(&base, &edit, &brought);
        let found = found.map(|(path, from)| (path.to_string(), from.to_string()));
        assert_eq!(found, refused.map(|from| (name.to_owned(), from.to_owned())), "{text}");
    }
}

#[test]
fn a_returned_edit_leaves_alone_what_was_not_placed_and_shows_no_brought_file() {
    let store = tempfile::tempdir().unwrap();
    let objects = Objects::at(store.path());
    let tree = |files: &[(&str, &str)]| tree(&objects, files);
    let copy = draft("copy", tree(&[("a", "1"), ("evals/x", "key")]));
    let copy = Placement { hidden: vec!["evals".into()], ..copy };
    let brought = draft("copy", tree(&[(".env", "secret")]));
    let returned = |files: &[(&str, &str)]| {
        let made = tree(files);
        let copy = EditedCopy::returned(&objects, &copy, made)
            .and_then(|copy| copy.without_theirs(&objects, Some(&brought), None));
        let copy = match copy {
            Ok(copy) => copy,
            Err(ReadError::Agent(failure)) => return failure.why,
            Err(ReadError::Ours(error)) => panic!("{error}"),
        };
        let whole = copy.completed(&copy.made.manifest).unwrap();
        if objects.put_manifest(&whole).unwrap() == made { "same".to_owned() } else { "other".to_owned() }
    };
    assert_eq!(returned(&[("a", "2"), ("b", "3"), ("evals/x", "key")]), "same");
    let alone = "a worker returned an edit of files that it must leave alone";
    for evals in [&[][..], &[("evals/x", "other")], &[("evals/x", "key"), ("evals/y", "more")]] {
        assert_eq!(returned(&[&[("a", "2")], evals].concat()), alone);
    }
    assert_eq!(returned(&[("a", "2"), (".env", "x"), ("evals/x", "key")]), "other", "it is left out");
    let disclosed = returned(&[("a", "secret"), ("evals/x", "key")]);
    assert_eq!(disclosed, "a has the content of .env, which must stay out of the result");
}

#[test]
fn a_scan_of_a_copy_is_what_would_be_stored_of_it() {
    let (space, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let copy = space.path().join("copy");
    fs::create_dir_all(copy.join("node_modules")).unwrap();
    fs::create_dir_all(copy.join("logs")).unwrap();
    let base = scan_edited(space.path(), "copy", (&Manifest::default(), None), Limits::default()).unwrap();
    fs::write(copy.join(".gitignore"), "*.o\n").unwrap();
    for name in ["a.c", "a.o", "node_modules/x", "logs/b.o"] {
        fs::write(copy.join(name), "text").unwrap();
    }
    let rules = || Some(IgnoreRules::of_copy(&copy, &base).unwrap());
    let scanned = scan_edited(space.path(), "copy", (&base, rules()), Limits::default()).unwrap();
    let objects = Objects::at(store.path());
    let stored = capture_edited(&objects, space.path(), "copy", (&base, rules()), Limits::default());
    assert_eq!(scanned, stored.unwrap().manifest);
    let names: Vec<String> = scanned.entries().iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(names, [".gitignore", "a.c", "logs"], "a folder of the start stays");
}
