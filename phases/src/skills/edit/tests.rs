use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn folder() -> BTreeMap<String, String> {
    let files = [("SKILL.md", "one\ntwo\ntwo\nthree\n"), ("phases/01.md", "a\r\nb\r\n")];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

fn replace(path: &str, find: &str, replace: &str) -> Edit {
    Edit::Replace { path: path.into(), find: find.into(), replace: replace.into() }
}

fn write(path: &str, content: &str) -> Edit {
    Edit::Write { path: path.into(), content: content.into() }
}

fn applied(edits: &[Edit]) -> Result<BTreeMap<String, String>, EditError> {
    apply(edits, &folder())
}

#[test]
fn an_answer_holds_both_kinds_of_edit_and_a_report() {
    let answer = json!({
        "edits": [
            {"path": "SKILL.md", "find": "one", "replace": ""},
            {"path": "new.md", "content": "fresh {braces}"},
        ],
        "summary": "shorter",
        "changes": [{"priority": "high", "description": "dropped one", "file": "SKILL.md"}],
        "skipped": ["no such file: x.md"],
    });
    let read = read(&format!("Sure {{here}}:\n```json\n{answer:#}\n```")).unwrap();
    assert_eq!(read.edits, [replace("SKILL.md", "one", ""), write("new.md", "fresh {braces}")]);
    assert_eq!(read.report.summary.as_deref(), Some("shorter"));
    assert_eq!(read.report.changes[0].priority, Some(Priority::High));
    assert_eq!(read.report.skipped, ["no such file: x.md".into()]);
}

#[test]
fn an_edit_of_neither_kind_is_named() {
    let odd = [
        json!({"path": "a", "find": "x"}),
        json!({"path": "a"}),
        json!({"path": "a", "find": "x", "content": ""}),
    ];
    for entry in odd {
        let text = json!({"edits": [{"path": "b", "content": ""}, entry]}).to_string();
        insta::allow_duplicates! {
            insta::assert_snapshot!(
                read(&text).unwrap_err(),
                @"edits[1]: give either `find` and `replace`, or `content` alone"
            );
        }
    }
    assert_eq!(read("nothing"), Err(OffSchema::Absent));
    assert_eq!(
        read(r#"{"edits": []} {"edits": [{"path": "a", "content": ""}]}"#),
        Err(OffSchema::Ambiguous(2))
    );
    assert_eq!(read(r#"{"edits": 1}"#).unwrap_err().to_string(), "`edits` must be a list");
}

#[test]
fn an_odd_report_is_an_empty_one_and_never_costs_the_edits() {
    let text =
        json!({"edits": [], "summary": 3, "changes": [1, {"file": "x"}], "skipped": "all"}).to_string();
    assert_eq!(read(&text).unwrap().report, EditReport::default());
    assert_eq!(read_report("I changed a few things."), EditReport::default());
    assert_eq!(read_report(&text), EditReport::default());
    let last =
        read_report(r#"{"summary": "plan"} then {"summary": "done", "changes": [{"description": "d"}]}"#);
    assert_eq!(last.summary.as_deref(), Some("done"));
    assert_eq!(last.changes.len(), 1);
}

#[test]
fn edits_are_applied_in_order_and_only_changed_files_come_back() {
    let changed = applied(&[
        replace("SKILL.md", "one", "zero"),
        replace("SKILL.md", "zero\n", ""),
        write("phases/01.md", "a\r\nb\r\n"),
        write("refs/new.md", "n"),
        replace("refs/new.md", "n", "new"),
    ]);
    let expected = [("SKILL.md", "two\ntwo\nthree\n"), ("refs/new.md", "new")];
    assert_eq!(changed.unwrap(), expected.map(|(path, text)| (path.to_owned(), text.to_owned())).into());
}

#[test]
fn a_passage_must_be_there_exactly_once() {
    let times = |find: &str| match applied(&[replace("SKILL.md", find, "x")]) {
        Err(EditError::NotOnce { times, .. }) => times,
        other => panic!("{other:?}"),
    };
    assert_eq!((times("four"), times("two")), (0, 2));
    let overlapping = [write("a.md", "ababa"), replace("a.md", "aba", "x")];
    assert!(matches!(applied(&overlapping), Err(EditError::NotOnce { times: 2, .. })));
    insta::assert_snapshot!(
        applied(&[replace("SKILL.md", "two\n", "x")]).unwrap_err(),
        @r#"SKILL.md: the passage must occur exactly once but occurs 2 times: "two""#
    );
    assert!(matches!(applied(&[replace("SKILL.md", "", "x")]), Err(EditError::EmptyFind { .. })));
    assert!(matches!(applied(&[replace("none.md", "a", "x")]), Err(EditError::NoFile { .. })));
}

#[test]
fn a_file_with_carriage_returns_keeps_them() {
    let changed = applied(&[replace("phases/01.md", "a\nb", "a\nnew\nb")]).unwrap();
    assert_eq!(changed["phases/01.md"], "a\r\nnew\r\nb\r\n");
}

#[test]
fn a_path_that_leaves_the_folder_or_hides_in_it_is_refused() {
    let odd = [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "./a",
        "a//b",
        "a/",
        "a\\b",
        "a\0b",
        "a\nb",
        ".git/config",
        "x/.GIT/y",
        ".skilltune/z",
        "C:/x",
    ];
    for path in odd {
        assert!(matches!(applied(&[write(path, "x")]), Err(EditError::Path(_))), "{path:?}");
    }
    assert!(applied(&[write(".github/a.md", "x"), write("ä/ö ü.md", "x"), write("..a", "x")]).is_ok());
}

#[test]
fn a_new_file_cannot_stand_below_a_file_or_in_place_of_a_folder() {
    assert!(matches!(applied(&[write("SKILL.md/a", "x")]), Err(EditError::Clash { .. })));
    assert!(matches!(applied(&[write("phases", "x")]), Err(EditError::Clash { .. })));
    assert!(matches!(applied(&[write("n", "x"), write("n/m", "x")]), Err(EditError::Clash { .. })));
}

#[test]
fn too_much_is_refused() {
    let huge = "x".repeat((1 << 20) + 1);
    assert!(matches!(applied(&[write("a.md", &huge)]), Err(EditError::TooLong { .. })));
    assert_eq!(applied(&vec![write("a.md", "x"); 201]), Err(EditError::TooMany));
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = read(&text);
        let _ = read_report(&text);
    }

    #[test]
    fn a_damaged_answer_is_read_and_applied_without_panic(
        at in any::<prop::sample::Index>(), gone in 0_usize..12, put in "[\\PC{}\\[\\]\":,\\\\./]{0,6}",
    ) {
        let text = r#"{"edits":[{"path":"SKILL.md","find":"one","replace":"1"},{"path":"n/a.md","content":"c"}],"skipped":["s"]}"#;
        let mut chars: Vec<char> = text.chars().collect();
        let start = at.index(chars.len());
        chars.splice(start..(start + gone).min(text.len()), put.chars());
        let text: String = chars.into_iter().collect();
        if let Ok(answer) = read(&text) {
            for path in applied(&answer.edits).unwrap_or_default().keys() {
                prop_assert!(!path.starts_with('/') && path.split('/').all(|part| part != ".."));
            }
        }
    }

    #[test]
    fn what_is_replaced_and_put_back_is_no_change(text in "[a-c\n]{0,30}", find in "[a-c]{1,3}") {
        let files = BTreeMap::from([("f".to_owned(), text)]);
        let there = [replace("f", &find, "Z")];
        let back = [replace("f", &find, "Z"), replace("f", "Z", &find)];
        if apply(&there, &files).is_ok() {
            prop_assert!(apply(&back, &files).unwrap().is_empty());
        }
    }
}
