use serde_json::json;

use super::*;
use crate::suites::checks::pattern::Work;

fn judged(schema: &Value, value: &Value) -> Judged {
    Schema::read(schema).unwrap().judge(value, &mut Work(16 << 20))
}

fn refused(schema: &Value) -> String {
    Schema::read(schema).map(drop).unwrap_err()
}

/// The accepted and the rejected values of each schema.
#[test]
fn every_keyword_accepts_and_refuses() {
    for (schema, good, bad) in [
        (json!(true), json!([json!(1), json!(null)]), json!([])),
        (json!({"type": "integer"}), json!([1, 1.0, -3, 1e300]), json!([1.5, "1", null])),
        (json!({"type": ["string", "null"]}), json!(["", null]), json!([0, [], {}])),
        (json!({"type": "object"}), json!([{}]), json!([[]])),
        (json!({"enum": [1, "a", [1], {"b": 2}]}), json!([1.0, "a", [1], {"b": 2.0}]), json!([2, [2], {}])),
        (json!({"const": null}), json!([null]), json!([0, false])),
        (json!({"minimum": 1, "exclusiveMaximum": 3}), json!([1, 2.9, "x"]), json!([0.9, 3])),
        (json!({"maximum": 3, "exclusiveMinimum": 1}), json!([1.1, 3]), json!([1, 3.1])),
        (json!({"multipleOf": 0.01}), json!([0.07, 19.99, 4]), json!([0.075])),
        (json!({"multipleOf": 3}), json!([9, 0, "x"]), json!([10, 9.5])),
        (json!({"minLength": 2, "maxLength": 3}), json!(["éé", "abc", 1]), json!(["é", "abcd"])),
        (json!({"pattern": "^a+$"}), json!(["aa", 1]), json!(["", "b\naa"])),
        (json!({"minItems": 1, "maxItems": 2}), json!([[1], [1, 2], {}]), json!([[], [1, 2, 3]])),
        (json!({"uniqueItems": true}), json!([[1, 2], [{"a": 1}, {"a": 2}]]), json!([[1, 1.0], [[], []]])),
        (json!({"items": {"type": "string"}}), json!([["a"], [], 1]), json!([["a", 1]])),
        (
            json!({"prefixItems": [true, {"type": "null"}], "items": false}),
            json!([[1, null], [1]]),
            json!([[1, 1], [1, null, 2]]),
        ),
        (
            json!({"items": [{"type": "null"}], "additionalItems": {"type": "string"}}),
            json!([[null, "a"]]),
            json!([[1], [null, 1]]),
        ),
        (json!({"contains": {"type": "null"}}), json!([[1, null]]), json!([[], [1]])),
        (
            json!({"contains": {"type": "null"}, "minContains": 2, "maxContains": 3}),
            json!([[null, null]]),
            json!([[null], [null, null, null, null]]),
        ),
        (json!({"required": ["a"]}), json!([{"a": null}, []]), json!([{}, {"b": 1}])),
        (json!({"minProperties": 1, "maxProperties": 1}), json!([{"a": 1}]), json!([{}, {"a": 1, "b": 2}])),
        (
            json!({"properties": {"a": {"type": "null"}}, "additionalProperties": false}),
            json!([{"a": null}, {}]),
            json!([{"a": 1}, {"b": null}]),
        ),
        (
            json!({"patternProperties": {"^x": {"type": "null"}}, "additionalProperties": {"type": "string"}}),
            json!([{"xa": null, "b": ""}]),
            json!([{"xa": 1}, {"b": null}]),
        ),
        (json!({"propertyNames": {"maxLength": 1}}), json!([{"a": 1}]), json!([{"ab": 1}])),
        (json!({"dependentRequired": {"a": ["b"]}}), json!([{"b": 1}, {"a": 1, "b": 1}]), json!([{"a": 1}])),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!([{}, {"a": 1, "b": 1}]),
            json!([{"a": 1}]),
        ),
        (
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            json!([{}]),
            json!([{"a": 1}, {"c": 1}]),
        ),
        (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), json!(["a"]), json!(["", 1])),
        (json!({"anyOf": [{"type": "string"}, {"minimum": 1}]}), json!(["a", 1]), json!([0])),
        (json!({"oneOf": [{"type": "number"}, {"minimum": 1}]}), json!([0, "a"]), json!([1])),
        (json!({"not": {"type": "null"}}), json!([1]), json!([null])),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}}),
            json!(["a", null]),
            json!(["", 1]),
        ),
        (json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}), json!([null]), json!([1])),
        (
            json!({"properties": {"next": {"$ref": "#"}}, "required": ["id"]}),
            json!([{"id": 1, "next": {"id": 2}}]),
            json!([{"id": 1, "next": {}}]),
        ),
        (
            json!({"title": "t", "format": "date", "x-own": 1, "$comment": "c", "$id": "https://example.com/a"}),
            json!(["x"]),
            json!([]),
        ),
    ] {
        for value in good.as_array().unwrap() {
            assert_eq!(judged(&schema, value), Judged::Met, "{schema} {value}");
        }
        for value in bad.as_array().unwrap() {
            assert!(matches!(judged(&schema, value), Judged::Unmet { .. }), "{schema} {value}");
        }
    }
}

#[test]
fn what_is_not_as_it_should_be_is_quoted_with_its_place() {
    let schema = json!({"properties": {"a/b": {"items": {"anyOf": [{"type": "null"}, {"minimum": 5}]}}}});
    let Judged::Unmet { place, value } = judged(&schema, &json!({"a/b": [9, null, 3]})) else { panic!() };
    assert_eq!((place.as_str(), value.as_str()), ("/a~1b/2", "3"));
    // A failed alternative is not an error.
    let schema = json!({"if": {"required": ["x"]}, "else": {"properties": {"y": false}}});
    let Judged::Unmet { place, value } = judged(&schema, &json!({"y": [1]})) else { panic!() };
    assert_eq!((place.as_str(), value.as_str()), ("/y", "[1]"));
}

#[test]
fn a_schema_that_refers_to_something_else_is_refused_and_nothing_is_fetched() {
    for to in [
        "http://127.0.0.1:1/s.json",
        "https://example.com/s#/a",
        "file:///etc/passwd",
        "other.json",
        "//host/a",
        "#anchor",
        "../a",
    ] {
        let refused = refused(&json!({"properties": {"a": {"$ref": to}}}));
        assert_eq!(refused, "the schema refers to something outside itself; `$ref` must start with `#/`");
    }
    assert_eq!(refused(&json!({"$ref": "#/$defs/none"})), "a `$ref` of the schema has no target");
    assert!(refused(&json!({"$schema": "http://127.0.0.1:1/meta"})).starts_with("`$schema` must be one of"));
    assert!(refused(&json!({"items": {"$id": "http://127.0.0.1:1/"}})).contains("`$id`"));
    for keyword in
        ["$dynamicRef", "$recursiveRef", "$anchor", "$vocabulary", "unevaluatedProperties", "requierd"]
    {
        assert_eq!(
            refused(&json!({keyword: "x"})),
            format!("the schema's keyword `{keyword}` is not supported")
        );
    }
    for ours in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        assert!(Schema::read(&json!({"$schema": ours})).is_ok(), "{ours}");
    }
}

#[test]
fn beside_a_reference_of_an_old_draft_nothing_can_stand_that_it_would_ignore() {
    let schema = |draft: &str| json!({"$schema": draft, "$ref": "#/definitions/a", "minimum": 5, "definitions": {"a": {}}});
    assert!(refused(&schema("http://json-schema.org/draft-07/schema#")).contains("allOf"));
    let new = schema("https://json-schema.org/draft/2020-12/schema");
    assert!(matches!(judged(&new, &json!(4)), Judged::Unmet { .. }));
}

#[test]
fn what_is_no_schema_is_refused_with_the_keyword() {
    for (schema, why) in [
        (json!("x"), "a schema must be"),
        (json!({"type": "float"}), "`type` of the schema must be"),
        (json!({"type": []}), "`type` of the schema must be"),
        (json!({"enum": 1}), "`enum` of the schema must be a list"),
        (json!({"items": [1]}), "a schema must be"),
        (json!({"properties": []}), "`properties` of the schema must be an object"),
        (json!({"minimum": true}), "`minimum` of the schema must be a number"),
        (json!({"exclusiveMinimum": true}), "`exclusiveMinimum` of the schema must be a number"),
        (json!({"multipleOf": 0}), "`multipleOf` of the schema must be a number above 0"),
        (json!({"minLength": -1}), "`minLength` of the schema must be a whole number"),
        (json!({"allOf": []}), "`allOf` of the schema must be a list that is not empty"),
        (json!({"required": [1]}), "`required` of the schema must be a list of names"),
        (json!({"pattern": "("}), "a pattern of the schema: the pattern cannot be used"),
        (json!({"pattern": r"\w{1,2000}"}), "a pattern of the schema: the pattern cannot be used"),
        (json!({"pattern": "(?=a)"}), "a pattern of the schema: the pattern cannot be used: look-around"),
    ] {
        let refused = refused(&schema);
        assert!(refused.starts_with(why), "{schema}: {refused}");
    }
}

#[test]
fn a_schema_that_goes_in_circles_or_is_too_large_is_refused() {
    let circle = "the schema refers to itself endlessly";
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"not": {"$ref": "#"}}]}),
        json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"if": {"$ref": "#/$defs/a"}}}}),
    ] {
        assert_eq!(refused(&schema), circle, "{schema}");
    }
    let many: Vec<Value> = vec![json!({}); MOST_NODES];
    assert!(refused(&json!({"allOf": many})).contains("more than 5000 parts"));
    let patterns: Vec<Value> = (0..=MOST_PATTERNS).map(|nth| json!({"pattern": format!("a{nth}")})).collect();
    assert!(refused(&json!({"allOf": patterns})).contains("more than 50 patterns"));
    assert!(refused(&json!({"const": "x".repeat(LARGEST)})).contains("larger than 256 KiB"));
    let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(refused(&deep).contains("nested too deeply"));
}

#[test]
fn a_schema_that_doubles_at_every_level_ends_soon_and_tells_nothing() {
    let level = |nth: usize| {
        let next = json!({"$ref": format!("#/$defs/{}", nth + 1)});
        (nth.to_string(), json!({"allOf": [next, next]}))
    };
    let mut parts: serde_json::Map<String, Value> = (0..60).map(level).collect();
    parts.insert("60".to_owned(), json!({"type": "integer"}));
    let schema = json!({"$ref": "#/$defs/0", "$defs": parts});
    assert_eq!(judged(&schema, &json!(1)), Judged::TooLong);
}

#[test]
fn the_deepest_value_by_the_longest_way_is_told_or_refused_without_an_overflow() {
    let parts = json!({
        "a": {"allOf": [{"$ref": "#/$defs/b"}]},
        "b": {"anyOf": [{"$ref": "#/$defs/c"}]},
        "c": {"oneOf": [{"items": {"$ref": "#/$defs/a"}}]},
    });
    let schema = json!({"$ref": "#/$defs/a", "$defs": parts});
    let nested = |depth: usize| (0..depth).fold(json!([]), |inner, _| json!([inner]));
    assert_eq!(judged(&schema, &nested(40)), Judged::Met);
    assert_eq!(judged(&schema, &nested(json::DEEPEST)), Judged::TooLong);
}

#[test]
fn comparing_much_with_much_is_paid_for() {
    let values: Vec<Value> = (0..20_000).map(|nth| json!(nth)).collect();
    let schema = json!({"items": {"enum": values}});
    assert_eq!(
        judged(&schema, &json!(vec![-1; 100_000])),
        Judged::Unmet { place: "/0".into(), value: "-1".into() }
    );
    assert_eq!(judged(&schema, &json!(vec![19_999; 100_000])), Judged::TooLong);
    let items: Vec<Value> = (0..100_000).map(|nth| json!(nth)).collect();
    assert_eq!(judged(&json!({"uniqueItems": true}), &json!(items)), Judged::Met);
}
