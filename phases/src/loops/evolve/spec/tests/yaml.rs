//! The YAML and the JSON of a specification.

use super::*;

#[test]
fn yaml_and_json_have_the_same_content() {
    let yaml = "goal: |\n  Add a login.\n\n  Soon.\nconstraints: [text, {id: K1, text: more}]\nCRITERIA:\n  - text only\n  - {id: A1, text: a, \
        priority: critical, check: [cargo, test, --test, login], from: 'a.md:3'}\nvocabulary: {session: a time, 'a b': c}\n";
    let expected = Specification {
        goal: "Add a login.\n\nSoon.".into(),
        constraints: vec![constraint("K2", "text"), constraint("K1", "more")],
        criteria: vec![
            criterion("A2", "text only"),
            Criterion {
                priority: Some(Priority::Critical),
                check: Some(["cargo", "test", "--test", "login"].map(String::from).to_vec()),
                source: Some(Source { file: "a.md".into(), line: 3 }),
                ..criterion("A1", "a")
            },
        ],
        vocabulary: vec![term("session", "a time"), term("a b", "c")],
    };
    for key in ["criteria", "acceptance_criteria", "acceptanceCriteria"] {
        for file in ["a.yaml", "a.YML", "x/y.z.json"] {
            assert_eq!(read(file, &yaml.replace("CRITERIA", key)).as_ref(), Ok(&expected), "{key} in {file}");
        }
    }
    let list = yaml.replace("CRITERIA", "criteria").replace(
        "{session: a time, 'a b': c}",
        "\n  - {word: session, meaning: a time}\n  - {word: a b, meaning: c}",
    );
    assert_eq!(read("a.yaml", &list).as_ref(), Ok(&expected));
    let null = "{\"goal\": \"a\", \"constraints\": null, \"criteria\": [{\"text\": \"b\", \"id\": null}], \"vocabulary\": null}";
    let small = Specification {
        goal: "a".into(),
        constraints: Vec::new(),
        criteria: vec![criterion("A1", "b")],
        vocabulary: Vec::new(),
    };
    assert_eq!(read("a.json", null), Ok(small));
}

#[test]
fn yaml_that_no_run_can_work_with_is_refused() {
    let unknown = |key: &str| {
        let hint = "write id, text, priority, check, from, and put a text with `: ` in quotes";
        format!("criterion 1: unknown key `{key}`: {hint}")
    };
    let (prio, note) = (unknown("prio"), unknown("Note"));
    for (text, why) in [
        ("", "no goal is there: write what the run has to reach below `## Goal`, or in YAML as `goal: ...`"),
        ("- a", "no keys are there: write `goal: ...` and `criteria: [...]`"),
        ("goal: 7", "`goal` is not text: put it in quotes"),
        ("goal: ''\ncriteria: [a]", "the goal is empty: write what it says in words"),
        ("goal: a\ncriteria: a", "`criteria` is not a list: write each entry after a dash"),
        ("goal: a\ncriteria: [a, 7]", "criterion 2: it is not text: put it in quotes"),
        (
            "goal: a\ncriteria: [{id: A1}]",
            "criterion 1: this criterion is empty: write what it says in words",
        ),
        (
            "goal: a\ncriteria: [a]\nacceptance_criteria: [b]",
            "`criteria` and `acceptance_criteria` are the same list: keep one",
        ),
        ("goal: a\ncritera: [a]", "unknown key `critera`: did you mean `criteria`?"),
        (
            "goal: a\nacceptanceCritera: [a]",
            "unknown key `acceptanceCritera`: did you mean `acceptanceCriteria`?",
        ),
        ("goal: a\ncriteria: [{text: a, prio: low}]", prio.as_str()),
        (
            "goal: a\ncriteria: [{text: a, chekc: [b]}]",
            "criterion 1: unknown key `chekc`: did you mean `check`?",
        ),
        ("goal: a\ncriteria:\n  - Note: the text", note.as_str()),
        (
            "goal: a\ncriteria: [{text: a, priority: 1}]",
            "criterion 1: `priority` is not text: put it in quotes",
        ),
        (
            "goal: a\ncriteria: [{text: a, priority: urgent}]",
            "criterion 1: `urgent` is not a priority: write critical, high, medium or low",
        ),
        (
            "goal: a\ncriteria: [{text: a, id: -a}]",
            "criterion 1: `-a` is not an id: write up to 64 letters, digits, `.`, `_` and `-`, a letter or a digit first",
        ),
        (
            "goal: a\ncriteria: [{text: a, id: X}, {text: b, id: X}]",
            "criterion 2: the id `X` is there twice: give each entry an id of its own",
        ),
        (
            "goal: a\ncriteria: [{text: a, check: cargo test}]",
            "criterion 1: write the command of `check` as a list of words, such as `[\"cargo\", \"test\"]`, because no shell reads it",
        ),
        (
            "goal: a\ncriteria: [{text: a, check: [sleep, 5]}]",
            "criterion 1: word 2 of `check` is not text: put it in quotes",
        ),
        (
            "goal: a\ncriteria: [{text: a, check: []}]",
            "criterion 1: `check` is empty: write a program and its arguments, or delete it",
        ),
        ("goal: a\ncriteria: [\"a\\u200b\"]", "criterion 1: U+200B is invisible: delete it"),
        ("goal: a\ncriteria: [a]\nvocabulary: {\"a\\u001b\": b}", "word 1: U+001B is invisible: delete it"),
        (
            "goal: a\ncriteria: [a]\nvocabulary: {'a: b': c}",
            "word 1: a word is one line without `: `, and not bold: write `word: meaning`",
        ),
        (
            "goal: a\nconstraints: [{text: a, priority: low}]",
            "constraint 1: unknown key `priority`: write id, text, and put a text with `: ` in quotes",
        ),
    ] {
        assert_eq!(fault("a.yaml", text), why, "{text}");
    }
    let broken = fault("a.yaml", "goal: a\ncriteria: [a\n");
    assert!(broken.contains("not valid YAML") && broken.starts_with("line "), "{broken}");
    let hidden = fault("a.yaml", "goal: a\n\"\\u001b[2J\\u202e\": b\n");
    assert!(!hidden.contains(is_invisible), "{hidden:?}");
}
