use super::super::manifest::Entry;
use super::super::trees::Place;
use super::LossKind::{Line, Missing, Mode, Unexpected};
use super::*;

fn file(place: &Place, text: &[u8], mode: u32) -> Node {
    Node::File { blob: place.objects.put(text).unwrap(), size: text.len() as u64, mode }
}

fn link(target: &str) -> Node {
    Node::Link { target: target.into() }
}

fn of_nodes(place: &Place, nodes: Vec<(&str, Node)>) -> TreeId {
    let entry = |(path, node): (&str, Node)| Entry { path: RelPath::parse(path.as_bytes()).unwrap(), node };
    let manifest = Manifest::new(nodes.into_iter().map(entry).collect()).unwrap();
    place.objects.put_manifest(&manifest).unwrap()
}

/// Stores files. The text has a line for each word.
fn of_words(place: &Place, files: &[(&str, &str)]) -> TreeId {
    let text = |words: &str| words.split_whitespace().flat_map(|word| [word, "\n"]).collect::<String>();
    let node = |words: &str| file(place, text(words).as_bytes(), 0o644);
    of_nodes(place, files.iter().map(|(path, words)| (*path, node(words))).collect())
}

type Shown = Vec<(String, LossKind)>;

fn losses(place: &Place, base: TreeId, accepted: &[(TreeId, TreeId)], merged: TreeId) -> Shown {
    let losses = census(&place.objects, base, accepted, merged).unwrap();
    losses.into_iter().map(|loss| (loss.path.to_string(), loss.kind)).collect()
}

fn one(path: &str, kind: LossKind) -> Shown {
    vec![(path.to_owned(), kind)]
}

fn line(path: &str, line: &str) -> Shown {
    one(path, Line(line.into()))
}

/// Two works changed one file, starting from the same base.
fn side_by_side(three: [&str; 3], merged: &str) -> Shown {
    let place = Place::new();
    let [base, first, second] = three.map(|words| of_words(&place, &[("f", words)]));
    losses(&place, base, &[(base, first), (base, second)], of_words(&place, &[("f", merged)]))
}

#[test]
fn each_line_that_both_sides_left_or_added_must_be_there() {
    let three = ["1 2 3 4 5 6 7 8", "1 one 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 two 8"];
    let merged = ["1", "one", "2", "3", "4", "5", "6", "7", "two", "8"];
    assert_eq!(side_by_side(three, &merged.join(" ")), []);
    for at in 0..merged.len() {
        let rest = [&merged[..at], &merged[at + 1..]].concat();
        assert_eq!(side_by_side(three, &rest.join(" ")), line("f", merged[at]));
    }
    assert_eq!(side_by_side(three, "1 one 2 3 5 4 6 7 two 8"), line("f", "5"));
}

#[test]
fn a_line_that_one_side_deleted_may_be_missing_and_no_other() {
    let three = ["1 } 3 4 5 } 7 8", "1 } 4 5 } 7 8", "1 } 3 4 5 } 7 new 8"];
    assert_eq!(side_by_side(three, "1 } 4 5 } 7 new 8"), []);
    assert_eq!(side_by_side(three, "1 } 4 5 } new 8"), line("f", "7"));
    assert_eq!(side_by_side(three, "1 } 4 5 7 new 8"), line("f", "}"));
    // Of equal lines, one may be missing for each that was deleted.
    let three = ["1 } 3 } 5 6", "1 } 3 5 6", "1 } 3 } 5 new 6"];
    assert_eq!(side_by_side(three, "1 } 3 5 new 6"), []);
    assert_eq!(side_by_side(three, "1 3 5 new 6"), line("f", "}"));
}

#[test]
fn a_change_that_two_made_alike_is_there_once() {
    let alike = "use 1 2 3 4";
    assert_eq!(side_by_side(["1 2 3 4", alike, alike], alike), []);
    assert_eq!(side_by_side(["1 2 3 4", alike, "use 1 2 3 new 4"], "use 1 2 3 new 4"), []);
    assert_eq!(side_by_side(["1 2 3 4", alike, "use 1 2 3 new 4"], "1 2 3 new 4"), line("f", "use"));
}

#[test]
fn a_block_that_moved_takes_the_lines_of_others_along() {
    let three = ["a b c d e f", "d e f a b c", "a b c d new e f"];
    assert_eq!(side_by_side(three, "d new e f a b c"), []);
    assert_eq!(side_by_side(three, "d e f a b c"), line("f", "new"));
}

/// A later branch that started from the base wrote its old version over the work of an earlier task.
#[test]
fn a_stale_branch_that_reverts_a_file_is_noticed() {
    let place = Place::new();
    let base = of_words(&place, &[("f", "1 2"), ("g", "1")]);
    let first = of_words(&place, &[("f", "1 one 2"), ("g", "1")]);
    let stale = of_words(&place, &[("f", "1 2"), ("g", "1 two")]);
    let whole = of_words(&place, &[("f", "1 one 2"), ("g", "1 two")]);
    let accepted = [(base, first), (base, stale)];
    assert_eq!(losses(&place, base, &accepted, whole), []);
    assert_eq!(losses(&place, base, &accepted, stale), line("f", "one"));
    assert_eq!(losses(&place, base, &accepted, first), line("g", "two"));
    // A work that saw the line and deleted it is another matter: `deleted_lines` finds that.
    assert_eq!(losses(&place, base, &[(base, first), (first, base)], base), []);
}

#[test]
fn a_path_that_no_work_touched_must_stay_as_it_is() {
    let place = Place::new();
    let base = of_words(&place, &[("f", "1 2"), ("g", "1")]);
    let made = of_words(&place, &[("f", "1 2"), ("g", "1 new")]);
    let of = |files: &[(&str, &str)]| losses(&place, base, &[(base, made)], of_words(&place, files));
    assert_eq!(of(&[("f", "1 2"), ("g", "1 new")]), []);
    assert_eq!(of(&[("f", "1"), ("g", "1 new")]), line("f", "2"));
    assert_eq!(of(&[("f", "1 2 3"), ("g", "1 new")]), one("f", LossKind::Content));
    assert_eq!(of(&[("g", "1 new")]), one("f", Missing));
    assert_eq!(of(&[("f", "1 2")]), one("g", Missing));
    assert_eq!(of(&[("f", "1 2"), ("g", "1 new"), ("h", "1")]), one("h", Unexpected));
}

#[test]
fn entries_without_lines_are_compared_whole() {
    let place = Place::new();
    let of = |mode, binary: &[u8], target, folder: Option<u32>| {
        let folder = folder.map(|mode| ("folder", Node::Folder { mode }));
        let (binary, run) = (file(&place, binary, 0o644), file(&place, b"x", mode));
        let others = [("binary", binary), ("link", link(target)), ("run", run)];
        of_nodes(&place, others.into_iter().chain(folder).collect())
    };
    let base = of(0o644, b"\0", "a", Some(0o755));
    let made = of(0o755, b"\0\0", "b", Some(0o700));
    let of_merged = |merged| losses(&place, base, &[(base, made)], merged);
    assert_eq!(of_merged(made), []);
    assert_eq!(of_merged(of(0o644, b"\0\0", "b", Some(0o700))), one("run", Mode));
    assert_eq!(of_merged(of(0o755, b"\0", "b", Some(0o700))), one("binary", LossKind::Content));
    assert_eq!(of_merged(of(0o755, b"\0\0", "a", Some(0o700))), one("link", LossKind::Content));
    assert_eq!(of_merged(of(0o755, b"\0\0", "b", Some(0o755))), one("folder", Mode));
    assert_eq!(of_merged(of(0o755, b"\0\0", "b", None)), one("folder", Missing));
}

#[test]
fn a_file_that_a_work_deleted_or_emptied_is_as_the_work_left_it() {
    let place = Place::new();
    let base = of_words(&place, &[("f", "1 2"), ("g", "1")]);
    let [gone, empty] = [&[("g", "1")][..], &[("f", ""), ("g", "1")]].map(|files| of_words(&place, files));
    assert_eq!(losses(&place, base, &[(base, gone)], gone), []);
    assert_eq!(losses(&place, base, &[(base, gone)], base), one("f", Unexpected));
    assert_eq!(losses(&place, base, &[(base, empty)], empty), []);
    assert_eq!(losses(&place, base, &[(base, empty)], gone), one("f", Missing));
}

#[test]
fn a_binary_that_became_a_text_has_the_lines_since_then() {
    let place = Place::new();
    let base = of_nodes(&place, vec![("f", file(&place, b"\0", 0o644))]);
    let words = ["1 2 3 4 5", "one 1 2 3 4 5", "1 2 3 4 5 two", "one 1 2 3 4 5 two", "one 1 2 3 4 5"];
    let [text, first, second, merged, lossy] = words.map(|words| of_words(&place, &[("f", words)]));
    let accepted = [(base, text), (text, first), (text, second)];
    assert_eq!(losses(&place, base, &accepted, merged), []);
    assert_eq!(losses(&place, base, &accepted, lossy), line("f", "two"));
    assert_eq!(losses(&place, base, &accepted, base), one("f", LossKind::Content));
}

/// The merge of this program does not follow renames. A person or a later merge may.
#[test]
fn a_file_is_followed_through_a_rename_with_an_edit() {
    let place = Place::new();
    let base = of_words(&place, &[("f", "1 2 3 4 5 6"), ("g", "x")]);
    let renamed = of_words(&place, &[("g", "x"), ("new", "one 2 3 4 5 6")]);
    let edited = of_words(&place, &[("f", "1 2 3 4 5 six"), ("g", "x")]);
    let accepted = [(base, renamed), (base, edited)];
    let of = |files: &[(&str, &str)]| losses(&place, base, &accepted, of_words(&place, files));
    assert_eq!(of(&[("g", "x"), ("new", "one 2 3 4 5 six")]), []);
    assert_eq!(of(&[("g", "x"), ("new", "one 2 3 4 5")]), line("f", "six"));
    assert_eq!(of(&[("g", "x"), ("new", "2 3 4 5 six")]), line("f", "one"));
    assert_eq!(of(&[("g", "x")]), one("f", Missing));
}

#[test]
fn each_loss_is_a_sentence() {
    let path = RelPath::parse(b"src/a.rs").unwrap();
    let shown = |kind| Loss { path: path.clone(), kind }.to_string();
    assert_eq!(shown(Line("say \"x\"".into())), r#"src/a.rs lost the line "say \"x\"""#);
    assert_eq!(shown(Missing), "src/a.rs is missing");
    assert_eq!(shown(Unexpected), "src/a.rs should not exist");
}
