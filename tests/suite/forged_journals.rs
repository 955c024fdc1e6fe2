//! Journals by somebody else, with valid checksums: a record that names something outside its plan is refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skilltune_phases::base::id::Digest;

use crate::hostile_state::forge_plan;
use crate::scene::{Ran, Scene};

/// An index that no member, scenario or demand has.
const NOWHERE: u64 = 99;
/// Numbers that sums and loops must handle, too.
const ODD: [u64; 3] = [NOWHERE, u32::MAX as u64, u64::MAX];

fn chain() -> Scene {
    let improve = json!({ "improve": { "writer": { "40": 60, "60": 90 }, "editor": { "40": 90 } } });
    let scene = Scene::new(&[("writer", 40), ("editor", 40)], &improve);
    scene.tune("writer,editor", &["--chain", "--max-iterations", "3", "--apply", "never"]);
    scene
}

/// Fails unless both commands print the run or refuse with an error; neither panics.
fn assert_told_or_refused(scene: &Scene, what: &str) -> [Ran; 2] {
    ["history", "report"].map(|command| {
        let ran = scene.run(&[command]);
        assert!(
            matches!(ran.code, Some(0 | 2)) && !ran.stderr.contains("panicked"),
            "{what}: {command}: {ran:?}"
        );
        ran
    })
}

/// Returns a line of a journal with a valid checksum.
fn sealed(mut line: Value) -> String {
    line.as_object_mut().unwrap().remove("sum");
    let body = line.to_string();
    let body = body.strip_suffix('}').unwrap();
    format!("{body},\"sum\":\"{}\"}}\n", &Digest::of(body.as_bytes()).hex()[..16])
}

/// Collects the paths of all numbers in an event.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.is_u64() => found.push(at.to_owned()),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(nth, one)| numbers(one, &format!("{at}/{nth}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, one)| numbers(one, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

fn set(journal: &Path, nth: usize, at: &str, number: u64) {
    let text = fs::read_to_string(journal).unwrap();
    let lines = text.lines().enumerate().map(|(line, text)| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        if line == nth {
            *value.pointer_mut(at).unwrap() = number.into();
        }
        sealed(value)
    });
    fs::write(journal, lines.collect::<String>()).unwrap();
}

#[test]
fn no_number_in_a_journal_makes_a_command_panic() {
    let scene = chain();
    let journal = scene.run_folder().join("history.jsonl");
    let original = fs::read_to_string(&journal).unwrap();
    let mut met = BTreeSet::new();
    let mut refused = 0;
    for (nth, line) in original.lines().enumerate() {
        let mut found = Vec::new();
        numbers(&serde_json::from_str::<Value>(line).unwrap()["event"], "/event", &mut found);
        for at in found {
            // Try each field once, whatever its index in a list.
            if !met.insert(at.split('/').filter(|part| part.parse::<u32>().is_err()).collect::<String>()) {
                continue;
            }
            for number in ODD {
                set(&journal, nth, &at, number);
                let runs = assert_told_or_refused(&scene, &format!("line {nth}, {at} = {number}"));
                refused += usize::from(runs[0].code == Some(2));
                fs::write(&journal, &original).unwrap();
            }
        }
    }
    assert!(met.len() > 20 && refused > 5, "{refused} of {}", met.len());
}

#[test]
fn a_record_that_names_a_skill_which_the_plan_does_not_have_is_refused_by_its_number() {
    let scene = chain();
    let journal = scene.run_folder().join("history.jsonl");
    let original = fs::read_to_string(&journal).unwrap();
    let has_focus = |line: &str| line.contains("\"focus\"");
    let nth = original.lines().position(has_focus).expect("a chain has a focus");
    set(&journal, nth, "/event/decided/focus", NOWHERE);
    for ran in assert_told_or_refused(&scene, "focus") {
        let message =
            format!("record {nth} of the journal names a skill or a scenario that the plan does not have");
        assert!(ran.code == Some(2) && ran.stderr.contains(&message), "{ran:?}");
    }
    fs::write(&journal, &original).unwrap();
    forge_plan(&journal, &|plan| plan["target"]["members"] = json!([]));
    for ran in assert_told_or_refused(&scene, "no members") {
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}
