use super::super::trees::{Children, Place, Tree, children_of, file, folder};
use super::*;

mod git;

/// A path, its node, and its bytes.
type Shown = (String, Node, Vec<u8>);
type Kinds = Vec<(String, ConflictKind)>;

/// Merges three folders that are given by their contents.
fn merged(three: [&[(&str, Tree)]; 3]) -> Result<Vec<Shown>, Kinds> {
    let place = Place::new();
    let trees: Vec<TreeId> = three
        .iter()
        .zip(["base", "ours", "theirs"])
        .map(|(children, name)| place.capture(&place.build(name, &children_of(children))).tree())
        .collect();
    match merge(&place.objects, trees[0], trees[1], trees[2]).unwrap() {
        Merged::Clean(whole) => {
            assert!(place.objects.contains_tree(whole));
            let entries = place.objects.manifest(whole).unwrap();
            let shown = |entry: &Entry| {
                let bytes = File::of(Some(&entry.node)).map(|file| place.objects.read(file.blob).unwrap());
                (entry.path.to_string(), entry.node.clone(), bytes.unwrap_or_default())
            };
            Ok(entries.entries().iter().map(shown).collect())
        }
        Merged::Conflicts(conflicts) => {
            Err(conflicts.into_iter().map(|one| (one.path.to_string(), one.kind)).collect())
        }
    }
}

fn conflict(three: [&[(&str, Tree)]; 3]) -> Kinds {
    let [base, ours, theirs] = three;
    let conflicts = merged(three).expect_err("the sides do not go together");
    assert_eq!(merged([base, theirs, ours]).expect_err("nor the other way round"), conflicts);
    conflicts
}

fn one(path: &str, kind: ConflictKind) -> Kinds {
    vec![(path.to_owned(), kind)]
}

fn link(target: &str) -> Tree {
    Tree::Link(target.into())
}

fn texts(three: [&[u8]; 3]) -> Result<String, ConflictKind> {
    let [base, ours, theirs] = three;
    text::merge(base, ours, theirs).map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn edits_of_different_lines_and_of_different_files_are_put_together() {
    let base = [("SKILL.md", file("1\n2\n3\n")), ("gone", file("x")), ("run", file("x"))];
    let ours = [("SKILL.md", file("one\n2\n3\n")), ("run", file("x")), ("new", folder(&[("a", file("a"))]))];
    let theirs = [
        ("SKILL.md", file("1\n2\nthree\n")),
        ("gone", file("x")),
        ("run", Tree::File(b"x".to_vec(), 0o755)),
        ("new", folder(&[("b", link("a"))])),
        ("empty", folder(&[])),
    ];
    let merged = merged([&base, &ours, &theirs]).unwrap();
    let shown: Vec<_> = merged
        .iter()
        .map(|(path, node, bytes)| (path.as_str(), node.mode(), String::from_utf8_lossy(bytes)))
        .collect();
    assert_eq!(
        shown,
        [
            ("SKILL.md", Some(0o644), "one\n2\nthree\n".into()),
            ("empty", Some(0o755), "".into()),
            ("new", Some(0o755), "".into()),
            ("new/a", Some(0o644), "a".into()),
            ("new/b", None, "".into()),
            ("run", Some(0o755), "x".into()),
        ]
    );
}

#[test]
fn versions_are_put_on_another_base_each_with_its_own_changes() {
    let place = Place::new();
    let text =
        |name: &str, text: &str| place.capture(&place.build(name, &children_of(&[("x", file(text))]))).tree();
    let (base, onto) = (text("base", "1\n2\n3\n4\n5\n"), text("onto", "one\n2\n3\n4\n5\n"));
    let first = text("first", "1\n2\nthree\n4\n5\n");
    let second = text("second", "1\n2\nthree\n4\nfive\n");
    let other = text("other", "uno\n2\n3\n4\n5\n");
    let both = [text("both", "one\n2\nthree\n4\n5\n"), text("all", "one\n2\nthree\n4\nfive\n")];
    for (versions, expected) in [
        (vec![], Ok(vec![])),
        (vec![base], Ok(vec![onto])),
        (vec![first, second], Ok(both.to_vec())),
        (vec![first, other, second], Err(one("x", ConflictKind::Text))),
    ] {
        let found = rebase(&place.objects, base, onto, &versions).unwrap();
        let kinds = |all: Vec<Conflict>| -> Kinds {
            all.into_iter().map(|one| (one.path.to_string(), one.kind)).collect()
        };
        assert_eq!(found.map_err(kinds), expected, "{versions:?}");
    }
}

#[test]
fn a_mode_of_one_side_joins_a_text_of_the_other() {
    let with = |text: &str, mode| [("run", Tree::File(text.into(), mode))];
    let merged = merged([&with("1", 0o644), &with("2", 0o644), &with("1", 0o4755)]).unwrap();
    assert_eq!((merged[0].1.mode(), merged[0].2.as_slice()), (Some(0o4755), &b"2"[..]));
    let modes = [&with("1", 0o644)[..], &with("1", 0o600), &with("1", 0o755)];
    assert_eq!(conflict(modes), one("run", ConflictKind::Mode));
}

#[test]
fn changes_that_do_not_go_together_are_conflicts_of_their_kind() {
    let with = |tree: Tree| [("x", tree)];
    let big = |byte: u8| with(Tree::File(vec![byte; 5 << 20], 0o644));
    let of = |base: &[(&str, Tree)], ours: &[(&str, Tree)], theirs: &[(&str, Tree)]| {
        conflict([base, ours, theirs])
    };
    let kind = |kind| one("x", kind);
    assert_eq!(of(&with(file("1")), &with(file("2")), &with(file("3"))), kind(ConflictKind::Text));
    assert_eq!(of(&[], &with(file("2")), &with(file("3"))), kind(ConflictKind::Text));
    assert_eq!(of(&with(file("1")), &with(file("2")), &[]), kind(ConflictKind::Deleted));
    assert_eq!(of(&with(file("1")), &with(file("2")), &with(file("\0"))), kind(ConflictKind::Binary));
    assert_eq!(of(&with(link("1")), &with(link("2")), &with(link("3"))), kind(ConflictKind::Link));
    assert_eq!(of(&with(link("1")), &with(link("2")), &with(file("3"))), kind(ConflictKind::Type));
    assert_eq!(of(&with(file("1")), &with(file("2")), &with(folder(&[]))), kind(ConflictKind::Deleted));
    assert_eq!(of(&[], &with(file("2")), &with(folder(&[]))), kind(ConflictKind::Folder));
    assert_eq!(of(&big(b'1'), &big(b'2'), &big(b'3')), kind(ConflictKind::TooLarge));
}

#[test]
fn a_file_makes_room_for_a_folder_and_back_unless_something_is_left_there() {
    let flat = [("x", file("1"))];
    let deep = [("x", folder(&[("a", file("a"))]))];
    let deeper = [("x", folder(&[("a", file("a")), ("b", file("b"))]))];
    let paths =
        |three| -> Vec<String> { merged(three).unwrap().into_iter().map(|(path, ..)| path).collect() };
    assert_eq!(paths([&flat, &deep, &flat]), ["x", "x/a"]);
    assert_eq!(paths([&flat, &deep, &[]]), ["x", "x/a"]);
    assert_eq!(paths([&deep, &deep, &flat]), ["x"]);
    assert_eq!(conflict([&deep, &deeper, &flat]), one("x", ConflictKind::Folder));
}

#[test]
fn a_folder_is_back_when_the_other_side_has_put_something_in_it() {
    let with = |children: &[(&str, Tree)]| vec![("d", Tree::Folder(children_of(children), 0o700))];
    let (base, empty) = (with(&[("a", file("a"))]), with(&[]));
    let theirs = with(&[("a", file("a")), ("b", file("b"))]);
    let result = merged([&base, &[], &theirs]).unwrap();
    assert_eq!(result.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), ["d", "d/b"]);
    assert_eq!(result[0].1.mode(), Some(0o700));
    assert_eq!(merged([&base, &[], &empty]).unwrap(), []);
    let changed = with(&[("a", file("b"))]);
    assert_eq!(conflict([&base, &[], &changed]), one("d/a", ConflictKind::Deleted));
}

#[test]
fn hunks_that_touch_are_a_conflict_and_equal_ones_are_not() {
    assert_eq!(texts([b"1\n2\n3\n", b"one\n2\n3\n", b"1\ntwo\n3\n"]), Err(ConflictKind::Text));
    assert_eq!(texts([b"1\n2\n3\n", b"one\n2\n3\n", b"1\n2\nthree\n"]), Ok("one\n2\nthree\n".into()));
    assert_eq!(texts([b"1\n2\n", b"one\n2\n", b"one\n2\nthree\n"]), Ok("one\n2\nthree\n".into()));
    assert_eq!(texts([b"", b"a\n", b"b\n"]), Err(ConflictKind::Text));
}

#[test]
fn line_ends_and_a_missing_last_one_are_kept() {
    assert_eq!(texts([b"1\r\n2\r\n3", b"1\r\n2\r\n3\n", b"one\r\n2\r\n3"]), Ok("one\r\n2\r\n3\n".into()));
    assert_eq!(texts([b"1\n2\n", b"1\r\n2\r\n", b"1\n2\n3\n"]), Err(ConflictKind::Text));
    assert_eq!(texts([b"\xff\n2\n3\n", b"\xff\n2\n3\n4\n", b"1\n2\n3\n"]), Ok("1\n2\n3\n4\n".into()));
}

#[test]
fn a_text_of_too_many_lines_is_not_compared() {
    let (base, ours) = ("a\n".repeat(20_001), "b\n".repeat(20_001));
    assert_eq!(texts([base.as_bytes(), ours.as_bytes(), b"c"]), Err(ConflictKind::TooLarge));
}

#[test]
fn a_conflict_names_the_stored_versions_of_all_sides() {
    let place = Place::new();
    let tree = |name: &str, text: &str| {
        place.capture(&place.build(name, &Children::from([(b"SKILL.md".to_vec(), file(text))]))).tree()
    };
    let [base, ours, theirs] = ["1", "2", "3"].map(|text| tree(text, text));
    let Merged::Conflicts(conflicts) = merge(&place.objects, base, ours, theirs).unwrap() else {
        panic!("both changed the same line")
    };
    let texts = [&conflicts[0].base, &conflicts[0].ours, &conflicts[0].theirs]
        .map(|node| place.objects.read(File::of(node.as_ref()).unwrap().blob).unwrap());
    assert_eq!(texts, [b"1", b"2", b"3"]);
}
