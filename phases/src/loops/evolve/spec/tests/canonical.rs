//! What is written is read back.

use proptest::prelude::*;

use super::*;

/// Lines that mean something to the reader, or nearly.
const LINES: &[&str] = &[
    "## Goal",
    "# Title",
    "### Criteria",
    "## Constraints",
    "## Terms",
    "####",
    "- A1: a",
    "- a",
    "  - b",
    "- **x**: y",
    "- A2 (low) c",
    "* [ ] K3 (high): d",
    "12. e: f",
    "  check: [\"a\"]",
    "  from: a:1",
    "\tcheck: [\"b\", 1]",
    "  g",
    "h",
    "",
    "",
    "```",
    "  ```",
    "~~~~ x",
    "<!-- i",
    "j -->",
    "k `<!--` l",
    "<!-- m -->",
    "\\# n",
    "  \\check: o",
    "-",
    "    p",
    "<div>",
];
const FILES: &[&str] = &["a.md", "a.yaml"];

/// A specification with one text in all places that have texts.
fn everywhere(text: &str) -> Specification {
    Specification {
        goal: text.into(),
        constraints: vec![constraint("K1", text), constraint("small", text)],
        criteria: vec![
            criterion("A1", text),
            Criterion {
                priority: Some(Priority::Low),
                check: Some(vec!["grep".into(), "<!-- x -->".into(), "a\"b\n\\".into()]),
                source: Some(Source { file: "docs/a b:c.md".into(), line: 12 }),
                ..criterion("log-in", text)
            },
        ],
        vocabulary: vec![term("session", text), term("std::vec", text), term("\\# check", text)],
    }
}

#[test]
fn the_canonical_page_is_short_and_plain() {
    let read = Specification {
        goal: "Users can log in.".into(),
        constraints: vec![constraint("K1", "No new packages.")],
        criteria: vec![
            Criterion {
                priority: Some(Priority::Critical),
                check: Some(vec!["cargo".into(), "test".into()]),
                source: Some(Source { file: "a.md".into(), line: 3 }),
                ..criterion("A1", "It works\nwell.")
            },
            criterion("fast", "It is fast."),
        ],
        vocabulary: vec![term("session", "A time.")],
    };
    insta::assert_snapshot!(read.markdown(), @r#"
    ## Goal

    Users can log in.

    ## Constraints

    - K1: No new packages.

    ## Acceptance criteria

    - A1 (critical): It works
      well.
      check: ["cargo","test"]
      from: a.md:3
    - **fast**: It is fast.

    ## Vocabulary

    - session: A time.
    "#);
    assert_eq!(
        md(SMALL).markdown(),
        "## Goal\n\nAdd a login.\n\n## Acceptance criteria\n\n- A1: It works.\n"
    );
}

#[test]
fn the_canonical_page_is_read_back_whatever_the_texts_are() {
    for text in [
        "plain",
        "two\n\nparagraphs\n  - nested\n    - deeper",
        "# no heading",
        "a\n## Criteria\n- b\n### c",
        "a\n\\# b\n\\\\## Goal",
        "check: [\"rm\"]",
        "a\ncheck: [\"rm\"]\n  Check: x\n\\check: y",
        "a\nfrom: b.md:1\nfrom: nowhere\nfrom::x",
        "```\ncode\n# Goal\ncheck: [\"rm\"]\n\n\\# x\n```\nafter\ncheck: x",
        "a\n```rust\nno end\ncheck: [\"rm\"]",
        "a\n~~~~\n```\n~~~\n~~~~\n# b",
        "a ```b``` c\n``` a`b\n# c",
        "a <!-- b --> c",
        "<!-- a\nb",
        "a <\\!-- b --> <\\\\!-- c",
        "**A2** (high): text",
        "A2: text",
        "(low) text",
        "[ ] text",
        "[x] A2 (low): text",
        "- A2: text\n- A3: text",
        "1. text\n2. text",
        "a: b\n\tc\n      d\n---\n===\n> e\n| f | g |",
        "word: **b**: c",
        "\u{1f468}\u{200d}\u{1f469} \u{e9} \u{4e2d}\u{6587}",
        "a\n    # indented\n\t# tab\n    check: x",
        "<div>\na\n</div>\n\n[//]: # (b)",
        "a\\",
        "a\n\\\n\\\\",
    ] {
        let given = everywhere(text);
        let page = given.markdown();
        assert_eq!(read("spec.md", &page).as_ref(), Ok(&given), "{page}");
        assert_eq!(md(&page).markdown(), page);
    }
}

proptest! {
    #[test]
    fn any_page_is_read_or_refused_and_what_is_read_is_read_back(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..24),
        file in prop::sample::select(FILES),
    ) {
        let text = format!("## Goal\nz\n## Criteria\n- z\n{}", lines.join("\n"));
        for text in [text, lines.join("\n")] {
            if let Ok(given) = read(file, &text) {
                let page = given.markdown();
                prop_assert_eq!(read("a.md", &page), Ok(given), "{}\n---\n{}", text, page);
            }
        }
    }

    #[test]
    fn any_text_of_yaml_is_read_back_from_markdown(text in "[-# \\\\`~<!>:*()\\[\\]\n\tA1acehkfrom.\u{e9}]{1,40}") {
        let entry = serde_json::json!({"goal": text, "constraints": [text], "criteria": [text], "vocabulary": {"w": text}});
        if let Ok(given) = read("a.json", &entry.to_string()) {
            let page = given.markdown();
            prop_assert_eq!(read("a.md", &page), Ok(given), "{}", page);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(text in any::<String>(), more in any::<String>()) {
        for file in ["a.md", "a.yml", "a"] {
            let _ = read(file, &text).map_err(|fault| fault.to_string());
            let _ = read(file, &format!("## Goal\n{text}\n## Criteria\n- {more}"));
        }
    }
}

#[test]
fn a_journal_keeps_a_specification() {
    let given = everywhere("a");
    let json = serde_json::to_string(&given).unwrap();
    assert_eq!(serde_json::from_str::<Specification>(&json).unwrap(), given);
    assert!(!serde_json::to_string(&criterion("A1", "a")).unwrap().contains("null"));
}
