use skilltune_phases::suites::checks::{Text, Times};

use super::*;

/// Reads the only case of a suite.
fn case(entry: &str) -> (Scenario, Vec<String>) {
    let suite = read("evals.json", &format!(r#"{{"skill_name": "s", "evals": [{entry}]}}"#));
    assert_eq!(suite.format, Format::Evals, "{entry}");
    let notes = notes(&suite).into_iter().filter(|note| !note.starts_with("it is for the skill")).collect();
    (suite.scenarios.into_iter().next().unwrap(), notes)
}

#[test]
fn the_list_of_cases_is_found_wherever_it_is() {
    let one = r#"[{"id": 1, "prompt": "do", "expected_output": "done"}]"#;
    for text in [
        one.to_owned(),
        format!(r#"{{"evals": {one}}}"#),
        format!(r#"{{"skill": "s", "cases": {one}}}"#),
        format!(r#"{{"evaluations": {one}}}"#),
        format!(r#"{{"version": 1, "test_cases": {one}}}"#),
    ] {
        let suite = read("evals.json", &text);
        assert_eq!((suite.format, suite.scenarios.len()), (Format::Evals, 1), "{text}");
        assert_eq!(suite.scenarios[0].description, "do");
    }
}

#[test]
fn the_task_and_the_goal_have_several_names() {
    for (entry, expected) in [
        (r#"{"prompt": "do", "expected_output": "a table"}"#, "a table"),
        (r#"{"input": "do", "expected_behavior": "a table"}"#, "a table"),
        (r#"{"query": "do", "expected_behavior": ["a table", "a sum"]}"#, "- a table\n- a sum"),
        (r#"{"prompt": "do", "expected_outputs": ["a.csv"]}"#, "- a.csv"),
    ] {
        let (scenario, _) = case(entry);
        assert_eq!(scenario.description, "do");
        assert_eq!(scenario.expected.as_deref(), Some(expected), "{entry}");
        assert_eq!(questions(&scenario), ["The result is what the expected output describes."]);
    }
}

#[test]
fn statements_are_expectations_in_each_of_their_forms() {
    for (assertion, expected) in [
        (r#""It sums""#, "It sums"),
        (r#"{"id": 1, "text": "It sums"}"#, "It sums"),
        (r#"{"name": "sums", "description": "It sums"}"#, "It sums"),
        (r#"{"text": "It sums", "description": "all columns"}"#, "It sums (all columns)"),
        (r#"{"text": "It sums", "type": "semantic"}"#, "It sums"),
        (r#"{"name": "sums", "type": "qualitative", "check": "rows", "description": "It sums"}"#, "It sums"),
        (r#"{"name": "sums", "check": "It sums"}"#, "It sums"),
        (r#"{"text": "It sums"}"#, "It sums"),
        (r#"{"type": "contains", "text": "It sums", "pattern": "Total"}"#, "It sums (contains: \"Total\")"),
        (
            r#"{"type": "code_contains", "pattern": "sum("}"#,
            "The result fulfils this: code_contains: \"sum(\".",
        ),
    ] {
        for key in ["assertions", "expectations"] {
            let (scenario, _) =
                case(&format!(r#"{{"prompt": "do", "expected_output": "x", "{key}": [{assertion}]}}"#));
            assert_eq!(questions(&scenario), [expected], "{key}: {assertion}");
        }
    }
}

#[test]
fn ids_of_assertions_are_kept_and_what_is_not_read_is_noted() {
    let (scenario, notes) = case(
        r#"{"id": "x", "prompt": "do", "owner": "c", "script_checks": [],
            "assertions": [{"id": "A1", "text": "one", "trap": "t"}, "two", {"trap": 1}]}"#,
    );
    assert_eq!(ids(&scenario.demands), ["A1", "expectation-2"]);
    assert_eq!(
        notes,
        [
            "x: `trap` of assertions is not read",
            "x: an assertion without a text is left out",
            "x: `owner` is not read",
            "x: `script_checks` is not read",
        ]
    );
}

#[test]
fn a_text_is_looked_for_by_machine_only_where_a_file_is_named() {
    let (scenario, _) = case(
        r#"{"prompt": "do", "assertions": [
            {"type": "contains", "path": "a.md", "value": "1.5 (net)"},
            {"type": "not_contains", "file": "a.md", "pattern": "TODO"}]}"#,
    );
    let pattern = |pattern: &str, times| Check::Pattern {
        pattern: pattern.into(),
        of: Text::Files("a.md".into()),
        times,
    };
    assert_eq!(
        checks(&scenario),
        [&pattern(r"1\.5 \(net\)", Times::ONCE_OR_MORE), &pattern("TODO", Times::NEVER)]
    );
}

#[test]
fn what_must_not_be_and_what_must_be_in_it_are_expectations() {
    let (scenario, _) = case(
        r#"{"prompt": "do", "anti_expectations": ["It invents sums"], "must_include": ["Total"], "required_regex": "T.t"}"#,
    );
    assert_eq!(
        questions(&scenario),
        [
            "This is not so: It invents sums",
            "The result includes \"Total\".",
            "A part of the result matches the regular expression \"T.t\".",
        ]
    );
}

#[test]
fn a_case_that_should_trigger_is_checked_for_it_too() {
    let (scenario, _) = case(r#"{"prompt": "do", "should_trigger": false, "expectations": ["It asks"]}"#);
    assert_eq!(checks(&scenario), [&Check::Skill { used: false }]);
    assert_eq!(questions(&scenario), ["It asks"]);
}

#[test]
fn files_are_looked_for_in_the_skill_then_its_repository_then_beside_the_file() {
    let evals = r#"{"skill_name": "writer", "evals": [{"id": 1, "prompt": "do", "files":
        ["data/a.csv", "shared/b.csv", {"path": "c.csv", "purpose": "p"}, "evals/d.csv", "none.csv", "../../e", "/etc/passwd", ".env", ".own"]}]}"#;
    let folder = Folder::new(&[
        ("skills/writer/evals/evals.json", evals),
        ("skills/writer/data/a.csv", "skill"),
        ("data/a.csv", "repository"),
        ("shared/b.csv", ""),
        ("skills/writer/evals/c.csv", ""),
        ("skills/writer/evals/d.csv", ""),
        (".env", "KEY=1"),
        ("skills/writer/.own", ""),
        ("e", ""),
        (".git/HEAD", ""),
    ]);
    let suite = Suite::beside(&folder.path("skills/writer")).unwrap().unwrap();
    let found: Vec<String> =
        suite.starts.of(&suite.scenarios[0].id).iter().map(|brought| brought.from.to_string()).collect();
    assert_eq!(
        found,
        [
            "skills/writer/data/a.csv",
            "shared/b.csv",
            "skills/writer/evals/c.csv",
            "skills/writer/evals/d.csv",
            "skills/writer/.own"
        ]
    );
    assert_eq!(suite.starts.base(), folder.path(""));
    assert_eq!(
        notes(&suite),
        ["none.csv", "../../e", "/etc/passwd", ".env"].map(|name| format!("1: the file {name:?} is missing"))
    );
    let objects = skilltune_orchestrator::snapshot::Objects::at(folder.path("objects"));
    let gathered = suite.starts.scenarios(&suite.scenarios, &objects).unwrap();
    let manifest = objects.manifest(gathered[0].files.unwrap()).unwrap();
    let names: Vec<String> = manifest.entries().iter().map(|entry| entry.path.to_string()).collect();
    let placed = [".own", "c.csv", "data", "data/a.csv", "evals", "evals/d.csv", "shared", "shared/b.csv"];
    assert_eq!(names, placed, "each where the suite has it");
}

#[test]
fn a_skill_without_a_suite_has_none() {
    let folder = Folder::new(&[("SKILL.md", "")]);
    assert!(Suite::beside(&folder.path("")).unwrap().is_none());
    std::os::unix::fs::symlink("/etc", folder.path("evals")).unwrap();
    assert!(Suite::beside(&folder.path("")).unwrap().is_none(), "a link is nothing of the skill's");
}

#[test]
fn something_else_of_that_name_is_refused_with_what_it_looks_like() {
    let refusal_of = |text: &str| refusal("evals.json", text);
    assert_eq!(
        refusal_of(r#"[{"slug": "a", "title": "A"}, {"slug": "b", "title": "B"}]"#),
        "evals.json: not a suite: it is a list of 2 entries, the first with the keys `slug`, `title`"
    );
    assert_eq!(refusal_of(r#"{"site": 1}"#), "evals.json: not a suite: it is an object with the keys `site`");
    assert_eq!(refusal_of("[]"), "evals.json: not a suite: it is an empty list");
    assert_eq!(
        refusal_of(r#"{"evals": []}"#),
        "evals.json: not a suite: it is an object with the keys `evals`"
    );
    assert_eq!(refusal_of("3"), "evals.json: not a suite: it is a single value");
    assert!(refusal_of("{").starts_with("evals.json: not valid JSON: EOF"), "{}", refusal_of("{"));
}

#[test]
fn ids_become_plain_names_and_each_is_given_once() {
    let ids = ["1", "\"1\"", "\"1-2\"", "\"a/b: c\"", "\"../..\"", "\"日本\"", "null"];
    let entries: Vec<String> =
        ids.iter().map(|id| format!(r#"{{"id": {id}, "prompt": "do", "expected_output": "x"}}"#)).collect();
    let suite = read("evals.json", &format!("[{}]", entries.join(",")));
    let names: Vec<&str> = suite.scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
    assert_eq!(names, ["1", "1-3", "1-2", "a-b-c", "scenario-5", "scenario-6", "scenario-7"]);
    assert_eq!(
        notes(&suite),
        [
            "1-3: its id is \"1\" in the suite",
            "a-b-c: its id is \"a/b: c\" in the suite",
            "scenario-5: its id is \"../..\" in the suite",
            "scenario-6: its id is \"日本\" in the suite",
        ]
    );
}
