use super::*;

/// Returns the queries in order, each with whether the skill should be used.
fn queries(text: &str) -> Vec<(String, bool)> {
    let suite = read("evals.json", text);
    assert_eq!(suite.format, Format::Triggers, "{text}");
    let query = |scenario: &Scenario| match checks(scenario)[..] {
        [Check::Skill { used }] => (scenario.description.clone(), *used),
        ref other => panic!("{other:?}"),
    };
    suite.scenarios.iter().map(query).collect()
}

#[test]
fn a_trigger_set_is_read_in_each_of_its_shapes() {
    let both = [("a".to_owned(), true), ("b".to_owned(), false)];
    for text in [
        r#"[{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]"#,
        r#"[{"prompt": "a", "should_trigger": true}, {"input": "b", "should_trigger": false}]"#,
        r#"{"skill_name": "s", "cases": [{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]}"#,
        r#"{"queries": [{"query": "a", "shouldTrigger": true}, {"query": "b", "shouldTrigger": false}]}"#,
        r#"{"should_trigger": ["a"], "should_not_trigger": ["b"]}"#,
        r#"{"shouldTrigger": ["a"], "shouldNotTrigger": [{"query": "b"}]}"#,
        r#"{"positive": ["a"], "negative": ["b"]}"#,
        r#"[{"query": "a", "expected": "trigger"}, {"query": "b", "expected": "no-trigger"}]"#,
        r#"{"skill": "s", "cases": [{"query": "a", "expect": "s"}, {"query": "b", "expect": "other"}]}"#,
        r#"[{"query": "a", "polarity": "positive"}, {"query": "b", "polarity": "negative"}]"#,
        "- {query: a, should_trigger: true}\n- {query: b, should_trigger: false}\n",
    ] {
        assert_eq!(queries(text), both, "{text}");
    }
}

#[test]
fn ids_and_kinds_of_queries_are_kept() {
    let suite = read(
        "triggers.json",
        r#"[{"id": 7, "query": "a", "should_trigger": true, "category": "near miss", "note": "x"},
            {"id": "b c", "query": "b", "should_trigger": false}]"#,
    );
    assert_eq!(suite.scenarios.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["7", "b-c"]);
    assert_eq!(suite.scenarios[0].tags, ["near miss".into()]);
    assert_eq!(ids(&suite.scenarios[0].demands), ["skill-used-1"]);
    assert_eq!(notes(&suite), ["7: `note` is not read", "b-c: its id is \"b c\" in the suite"]);
}
