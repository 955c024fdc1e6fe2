//! Tests how the test scenarios of a draft are read, and the error that each faulty one gets.

use serde_json::{Value, json};

use super::answers::{CODE, drafted, faults, long};
use super::*;
use crate::base::answer::OffSchema;
use crate::loops::gan::answers;
use crate::loops::gan::negotiation::Draft;

fn tested(test: &Value) -> Result<Draft, OffSchema> {
    let mut answer = drafted();
    answer["test_scenarios"] = json!([test]);
    answers::draft(&answer.to_string(), CODE, &contract())
}

fn clicking() -> Value {
    json!({
        "id": "polite", "criterion": "a.polite", "description": "It thanks.", "tool": "browser",
        "steps": [{ "act": "click", "on": "Order" }, { "act": "see", "on": "Thank you" }], "argv": [],
    })
}

#[test]
fn a_draft_may_have_test_scenarios_for_its_own_criteria() {
    let draft = tested(&clicking()).unwrap();
    assert_eq!(draft.test_scenarios[0].run.words(), "click “Order”, see “Thank you”");
    let mut command = clicking();
    (command["tool"], command["argv"]) = (json!("command"), json!(["npm", "test"]));
    assert_eq!(tested(&command).unwrap().test_scenarios[0].run.words(), r#"["npm","test"]"#);
}

#[test]
fn each_fault_of_a_test_scenario_has_its_error() {
    let messages = faults(
        &clicking(),
        &[
            ("of the profile", |test| test["criterion"] = json!("a.1")),
            ("of nothing", |test| test["criterion"] = json!("a.rude")),
            ("no plain id", |test| test["id"] = json!("A B")),
            ("silent", |test| test["description"] = json!(" ")),
            ("no steps", |test| test["steps"] = json!([])),
            ("too many steps", |test| test["steps"] = json!(vec![clicking()["steps"][1].clone(); 13])),
            ("nothing to see", |test| test["steps"] = json!([{ "act": "click", "on": "Order" }])),
            ("no such step", |test| test["steps"][0]["act"] = json!("wait")),
            ("a step on nothing", |test| test["steps"][0]["on"] = json!(" ")),
            ("a long step", |test| test["steps"][0]["on"] = json!(long(201))),
            ("another site", |test| test["steps"][0] = json!({ "act": "open", "on": "https://a.example/" })),
            ("out of the site", |test| test["steps"][0] = json!({ "act": "open", "on": "../secret.html" })),
            ("no width", |test| test["steps"][0] = json!({ "act": "width", "on": "wide" })),
            ("another tool", |test| test["tool"] = json!("shell")),
            ("no command", |test| test["tool"] = json!("command")),
            ("a shell", |test| {
                (test["tool"], test["argv"]) = (json!("command"), json!(["sh", "-c", "true"]));
            }),
        ],
        |text| tested(&serde_json::from_str(text).unwrap()),
    );
    insta::assert_snapshot!(messages, @"
    of the profile: a.1 belongs to the profile, which is not negotiable
    of nothing: unknown criterion a.rude
    no plain id: `A B` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all
    silent: polite: `description` says nothing
    no steps: the test scenario polite: it must have 1 to 12 steps
    too many steps: the test scenario polite: it must have 1 to 12 steps
    nothing to see: the test scenario polite: no step says what to `see`
    no such step: test_scenarios[0]: unknown variant `wait`, expected one of `open`, `width`, `click`, `fill`, `see`, `miss`
    a step on nothing: the test scenario polite: `on` must have 1 to 200 characters, and `text` no more
    a long step: the test scenario polite: `on` must have 1 to 200 characters, and `text` no more
    another site: the test scenario polite: `https://a.example/` cannot be used with open
    out of the site: the test scenario polite: `../secret.html` cannot be used with open
    no width: the test scenario polite: `wide` cannot be used with width
    another tool: test_scenarios[0]: unknown variant `shell`, expected `browser` or `command`
    no command: the test scenario polite: a command is a list of 1 to 64 arguments, the first of them a program
    a shell: the test scenario polite: sh is a shell or starts other programs; name the program itself in `argv`, with each argument as an entry of its own
    ");
}
