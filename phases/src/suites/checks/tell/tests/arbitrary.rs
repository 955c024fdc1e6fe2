//! Every check gives a valid answer for every trial.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::suites::checks::fault;

const TEXTS: [&str; 16] = [
    "",
    "a",
    "a.md",
    "*",
    "**",
    "../a",
    "a.json",
    "/a",
    "/",
    "~",
    "(a|b)*",
    "#/$defs/a",
    "#",
    "http://x/",
    "Bash",
    "\u{0}",
];

const KEYS: [&str; 28] = [
    "type",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "$schema",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "uniqueItems",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "dependencies",
    "minLength",
    "maximum",
    "multipleOf",
    "pattern",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![select(&TEXTS[..]).prop_map(str::to_owned), ".{0,20}", any::<String>()]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(&KEYS[..]).prop_map(str::to_owned), 1 => text()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        select(&["string", "object", "array", "integer"][..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let object = |members: Vec<(String, Value)>| Value::Object(members.into_iter().collect());
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key(), inner), 0..4).prop_map(object),
        ]
    })
}

fn often() -> impl Strategy<Value = Times> {
    let count = || prop_oneof![0..4_u64, any::<u64>()];
    (count(), option::of(count())).prop_map(|(min, max)| Times { min, max })
}

fn call() -> impl Strategy<Value = Tool> {
    (text(), option::of(text())).prop_map(|(name, input)| tool(&name, input.as_deref()))
}

fn of_files() -> impl Strategy<Value = Check> {
    let number = || any::<i64>().prop_map(serde_json::Number::from);
    let is = prop_oneof![
        value().prop_map(Comparison::Equals),
        number().prop_map(Comparison::AtLeast),
        number().prop_map(Comparison::AtMost),
    ];
    let only = |only: Vec<String>| Check::Touches { only: only.into_iter().map(Into::into).collect() };
    let path = || prop_oneof![Just("a.json".to_owned()), text()];
    prop_oneof![
        (text(), often()).prop_map(|(path, times)| Check::File { path: path.into(), times }),
        (path(), value()).prop_map(|(path, schema)| Check::Schema { path: path.into(), schema }),
        (path(), text(), is).prop_map(|(path, at, is)| Check::Json {
            path: path.into(),
            pointer: at.into(),
            is
        }),
        vec(text(), 0..3).prop_map(only),
    ]
}

fn check() -> impl Strategy<Value = Check> {
    let of = prop_oneof![Just(Text::Answer), Just(Text::Transcript), text().prop_map(|glob| in_files(&glob))];
    let cost = prop_oneof![Just(Cost::Tokens), Just(Cost::Seconds), Just(Cost::Turns)];
    let command = |(argv, exit)| Check::Command { argv, exit, expected: "".into(), grader: None };
    prop_oneof![
        4 => of_files(),
        1 => (vec(text(), 0..4), any::<i32>()).prop_map(command),
        2 => (text(), of, often()).prop_map(|(text, of, times)| pattern(&text, of, times)),
        1 => any::<bool>().prop_map(|used| Check::Skill { used }),
        1 => (call(), often()).prop_map(|(call, times)| Check::Tool { call, times }),
        1 => (call(), call()).prop_map(|(before, after)| Check::ToolOrder { before, after }),
        1 => (cost, any::<u64>()).prop_map(|(of, most)| Check::AtMost { of, most }),
    ]
}

fn scene() -> impl Strategy<Value = Scene> {
    let bytes = || prop_oneof![value().prop_map(|value| value.to_string().into_bytes()), any::<Vec<u8>>()];
    let calls = option::of(vec((text(), text()), 0..4));
    (bytes(), btree_map(text(), bytes(), 0..3), option::of(text()), calls, option::of(any::<u64>())).prop_map(
        |(json, mut files, answer, calls, number)| {
            files.insert("a.json".to_owned(), json);
            let transcript = calls.map(|calls| {
                let calls: Vec<_> =
                    calls.iter().map(|(tool, input)| (tool.as_str(), input.as_str())).collect();
                called(&calls).transcript.unwrap_or_default()
            });
            let touched = files.keys().cloned().collect();
            let usage = Usage { ms: number, tokens: number, turns: number, skill: None };
            Scene { files, touched, answer, transcript, usage }
        },
    )
}

proptest! {
    #[test]
    fn no_check_and_no_trial_makes_a_panic(check in check(), scene in scene()) {
        let (met, details) = tell(&check, &scene);
        prop_assert!(!details.contains(char::is_control), "{:?}", details);
        prop_assert!(details.chars().count() <= 400, "{:?}", details);
        if fault(&check).is_some() {
            prop_assert_eq!(met, None);
        }
        prop_assert_eq!(tell(&check, &scene), (met, details));
        let line = serde_json::to_string(&check).unwrap();
        prop_assert_eq!(serde_json::from_str::<Check>(&line).unwrap(), check);
    }

    #[test]
    fn a_schema_accepts_what_is_equal_to_its_constant(value in value()) {
        let scene = files(&[("a.json", &value.to_string())]);
        let check = Check::Schema { path: "a.json".into(), schema: json!({ "const": value }) };
        prop_assert_eq!(tell(&check, &scene).0, Some(true));
        let check = Check::Json { path: "a.json".into(), pointer: "".into(), is: Comparison::Equals(value) };
        prop_assert_eq!(tell(&check, &scene).0, Some(true));
    }
}
