use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

fn keys(given: &[&str]) -> Keys {
    Keys::new(given.iter().map(|&key| key.to_owned()))
}

/// Returns a likely key, assembled here so that scanners do not find one in this file.
fn likely() -> String {
    ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..36]].concat()
}

#[test]
fn given_keys_and_likely_ones_are_hidden_and_the_rest_stays_byte_for_byte() {
    let keys = keys(&["k3y-of-ours", "k3y-of-ours-and-more", "with \"quotes\""]);
    let said = format!(
        "a\u{7}b k3y-of-ours-and-more k3y-of-ours {{\"q\":\"with \\\"quotes\\\"\"}} {}\r\n",
        likely()
    );
    assert_eq!(keys.hide(&said), "a\u{7}b [hidden] [hidden] {\"q\":\"[hidden]\"} [hidden]\r\n");
}

#[test]
fn words_and_numbers_that_occur_by_themselves_are_no_keys() {
    for value in ["", "   ", "a1b2c", "password", "localhost", "12345678", "       x"] {
        let text = format!("<{value}>");
        assert_eq!(keys(&[value]).hide(&text), text);
    }
    for value in ["hunter2", "pass-word", "topsecretkey", "1234567890", "line-end\n"] {
        assert_eq!(keys(&[value]).hide(&format!("<{}>", value.trim())), "<[hidden]>");
    }
}

#[test]
fn a_value_loses_the_keys_in_all_its_texts_however_they_are_spelled() {
    let said = r#"{"a":["\u006b3y-of-ours",{"k3y-of-ours":1.5}],"b":null}"#;
    let said: Value = serde_json::from_str(said).unwrap();
    let clean = keys(&["k3y-of-ours"]).hide_in(said).unwrap();
    assert_eq!(clean, json!({ "a": ["[hidden]", { "[hidden]": 1.5 }], "b": null }));
}

#[test]
fn every_key_in_a_text_is_found_at_its_place() {
    let text = format!("x\nk3y-of-ours\n{}", likely());
    let found = keys(&["k3y-of-ours"]).find(&text);
    assert_eq!(found, [(2, "k3y-of-ours"), (14, likely().as_str())]);
}

#[test]
fn the_keys_and_passwords_of_an_environment_are_known_by_the_names_of_their_variables() {
    let env = [
        ("ANTHROPIC_API_KEY", "key-1"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "key-2"),
        ("HTTPS_PROXY", "http://me:pass@word@proxy:80/x"),
        ("ANTHROPIC_BASE_URL", "http://localhost:80/a@b"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/login.json"),
        ("PATH", "/usr/bin"),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(of_environment(&env), ["key-1", "key-2", "pass@word"]);
}

#[test]
fn a_variable_that_is_handed_on_holds_a_key_where_its_value_looks_random() {
    let is_key = |value: &str| {
        let env = BTreeMap::from([("LOGIN".to_owned(), value.to_owned())]);
        !of_named(["LOGIN", "MISSING"].into_iter(), &env).is_empty()
    };
    for key in ["s3cr3t-value", "550e8400-e29b-41d4-a716-446655440000", "hunter2hunter2", "q7Rt2Xw9/Kb4+Zm1="]
    {
        assert!(is_key(key), "{key}");
    }
    for word in [
        "us-east-1",
        "gpt-4.1-mini-2025-04-14",
        "claude-opus-4-1",
        "java-17-openjdk-amd64",
        "/opt/q7Rt2Xw9/bin",
        "https://a1b2c3d4.example",
        "production",
        "2026-11-26",
        "aarch64-linux",
        "v1beta1",
    ] {
        assert!(!is_key(word), "{word}");
    }
}

#[test]
fn arguments_are_shown_without_their_keys() {
    let command = [
        "agent",
        "--api-key=one",
        "--token",
        "two",
        "-H",
        "Authorization: Bearer three",
        "--proxy",
        "http://me:four@proxy",
        "--max-tokens=4096",
        "--key-file",
        "/home/me/key",
        "--token",
        "{model}",
        "--tokenizer",
        "words",
        &likely(),
    ]
    .map(str::to_owned);
    assert_eq!(of_arguments(&command), ["one", "two", "three", "four"]);
    assert_eq!(
        without_keys_in_arguments(&command),
        [
            "agent",
            "--api-key=[hidden]",
            "--token",
            "[hidden]",
            "-H",
            "Authorization: Bearer [hidden]",
            "--proxy",
            "http://me:[hidden]@proxy",
            "--max-tokens=4096",
            "--key-file",
            "/home/me/key",
            "--token",
            "{model}",
            "--tokenizer",
            "words",
            "[hidden]",
        ]
    );
}
