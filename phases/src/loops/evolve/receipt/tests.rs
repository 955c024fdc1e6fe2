use serde_json::{Value, json};

use super::*;
use crate::suites::checks::accepts;

const SCHEMA: &str = include_str!("../../../../../docs/schemas/evolve-receipts.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn receipt(word: Word) -> Receipt {
    let end = |light| Some(Probed { light, exit: None, said: "the end".into() });
    let oracle = OracleReceipt {
        argv: vec!["python3".to_owned(), "oracle.py".to_owned()],
        is_check: false,
        uses_names: true,
        shows: "it prints 6".into(),
        before: end(Light::Red),
        after: None,
        strength: Some(Strength { rejected: 2, passed: vec!["it prints 0".into()], not_counted: 1 }),
    };
    Receipt {
        id: "A1".into(),
        text: "it works".into(),
        priority: Priority::High,
        word,
        why: Some("no machine can tell".into()),
        evidence: Some(Evidence { path: "a.txt".into(), line: Some(1), quote: "6".into() }),
        oracle: Some(oracle),
    }
}

fn sample() -> Receipts {
    let bare = Receipt { why: None, evidence: None, oracle: None, ..receipt(Word::NotMet) };
    let command =
        CommandReceipt { stage: Stage::Test, argv: vec!["make".to_owned()], before: None, after: Some(0) };
    Receipts {
        version: VERSION,
        run: "pump-20261121-213000".parse().unwrap(),
        name: "spec".to_owned(),
        goal: "It works.".into(),
        base: TreeId::EMPTY,
        tree: TreeId::EMPTY,
        commits: 2,
        names: Some("`area`: prints an area".into()),
        criteria: Word::ALL.into_iter().map(receipt).chain([bare]).collect(),
        commands: vec![command],
        control: Some(ControlReceipt {
            tree: TreeId::EMPTY,
            score: None,
            is_done: false,
            verified: vec!["A1".into()],
        }),
        not_looked_at: vec!["the project has no command to lint it".into()],
    }
}

#[test]
fn the_schema_accepts_what_is_written_and_nothing_else() {
    let (schema, receipts) = (schema(), sample());
    let full = serde_json::to_value(&receipts).unwrap();
    assert!(accepts(&schema, &full));
    assert_eq!(serde_json::from_value::<Receipts>(full.clone()).unwrap(), receipts);
    let short = Receipts { names: None, control: None, criteria: Vec::new(), ..receipts };
    assert!(accepts(&schema, &serde_json::to_value(&short).unwrap()));
    for (place, key, value) in [
        ("", "version", json!(2)),
        ("", "other", json!(1)),
        ("", "tree", json!("abc")),
        ("/criteria/0", "word", json!("proved")),
        ("/criteria/0", "oracle", json!(null)),
        ("/criteria/0/oracle", "argv", json!([])),
        ("/criteria/0/oracle/before", "light", json!("amber")),
        ("/commands/0", "stage", json!("deploy")),
        ("/control", "score", json!(1.5)),
    ] {
        let mut damaged = full.clone();
        damaged.pointer_mut(place).unwrap()[key] = value;
        assert!(!accepts(&schema, &damaged), "{place} {key}");
    }
}

#[test]
fn words_of_the_schema_are_those_of_the_code() {
    let schema = schema();
    let listed = |place: &str| schema.pointer(&format!("/$defs/{place}/enum")).unwrap().clone();
    assert_eq!(listed("criterion/properties/word"), json!(Word::ALL));
    assert_eq!(listed("criterion/properties/priority"), json!(Priority::ALL));
    assert_eq!(listed("end/properties/light"), json!([Light::Red, Light::Green, Light::Neither]));
    assert_eq!(listed("command/properties/stage"), json!(Stage::ALL));
    assert_eq!(schema["properties"]["version"]["const"], json!(VERSION));
}

#[test]
fn words_are_counted_in_their_order() {
    let receipts = sample();
    assert_eq!(receipts.counted(Word::ALL), "1 verified, 1 already met, 1 judged, 1 disputed, 2 not met");
    let met = Word::ALL.into_iter().filter(|word| word.is_met());
    assert_eq!(receipts.counted(met), "1 verified, 1 already met, 1 judged");
    assert_eq!(receipts.of(Word::NotMet), ["A1", "A1"]);
}

#[test]
fn a_check_names_a_file_at_all_or_only_a_program() {
    for argument in ["./check", "tests/test_area.py", "tests.test_area", "check.sh"] {
        assert!(is_file_like(argument), "{argument}");
    }
    for argument in
        ["make", "area", "-q", "--file=a.py", "/usr/bin/python3", "for one in tests/*.sh; do sh $one; done"]
    {
        assert!(!is_file_like(argument), "{argument}");
    }
    for (file, expected) in
        [("Makefile", true), ("web/package.json", true), ("src/main.rs", false), ("make.rs", false)]
    {
        assert_eq!(is_recipe(file), expected, "{file}");
    }
}

#[test]
fn a_check_names_a_file_by_path_name_stem_folder_module_or_test() {
    let file = "tests/test_area.py";
    for argument in [
        "tests/test_area.py",
        "./tests/test_area.py",
        "test_area.py",
        "test_area",
        "tests",
        "tests/",
        "./tests/...",
        "--file=tests/test_area.py",
        "tests.test_area",
        "tests.test_area.TestArea.test_one",
    ] {
        assert!(is_named(argument, file), "{argument}");
    }
    assert!(is_named("tests/test_area.py::test_one", file));
    for argument in
        ["tests.test_area", "tests.test_area.Area.test_one", "./tests/...", "--file=tests/test_area.py"]
    {
        assert!(is_named(argument, file), "{argument}");
    }
    assert!(is_named("com.acme.AreaTest", "src/test/java/com/acme/AreaTest.java"));
    for argument in [
        "test",
        "area",
        "python3",
        "/usr/bin/python3",
        "-q",
        "",
        ".",
        "test_area.pyc",
        "tests.test_areas",
        "src",
    ] {
        assert!(!is_named(argument, file), "{argument}");
    }
    assert!(!is_named("/usr/bin/python3", ".gitignore"));
}
