//! Compares the schemas in `docs/` with the code: both accept the same answers and have the same lists.

mod reflex;

use serde_json::{Value, json};

use crate::judging::contract::Verdict;
use crate::judging::judgement::{Ask, Priority, VerdictShape};
use crate::judging::{judgement, rubric};
use crate::skills::edit;
use crate::suites::checks::accepts;

const VERDICT: &str = include_str!("../../docs/schemas/verdict.schema.json");
const EDITS: &str = include_str!("../../docs/schemas/edits.schema.json");
const AGENT: &str = include_str!("../../docs/schemas/agent.schema.json");

fn parsed(schema: &str) -> Value {
    serde_json::from_str(schema).unwrap()
}

fn evidenced() -> Value {
    let entry = |criterion: &crate::judging::contract::Criterion| json!({"id": criterion.id, "member": null, "verdict": "pass", "evidence": "SKILL.md: x"});
    let criteria: Vec<_> = rubric::tune().criteria.iter().map(entry).collect();
    json!({"verdict_of": "n0nce", "criteria": criteria, "claimed_score": 80, "strengths": [], "suggestions": []})
}

fn claimed() -> Value {
    let entry = |dimension: &crate::judging::contract::Dimension| json!({"id": dimension.id, "name": dimension.name, "score": 70, "weight": 0.2, "feedback": "f"});
    let dimensions: Vec<_> = rubric::tune().dimensions.iter().map(entry).collect();
    json!({"composite_score": 70, "dimensions": dimensions, "strengths": []})
}

fn edits() -> Value {
    json!({"edits": [{"path": "a", "find": "b", "replace": "c"}, {"path": "a", "content": "d"}], "summary": "s"})
}

/// Returns the answer with one value replaced, added or removed.
fn damaged(answer: &Value, place: &str, by: Option<Value>) -> Value {
    let mut answer = answer.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match (answer.pointer_mut(parent).unwrap(), by) {
        (Value::Array(list), Some(value)) => list[key.parse::<usize>().unwrap()] = value,
        (Value::Array(list), None) => drop(list.remove(key.parse().unwrap())),
        (Value::Object(object), Some(value)) => drop(object.insert(key.into(), value)),
        (Value::Object(object), None) => drop(object.shift_remove(key)),
        (other, _) => panic!("{other} has no {key}"),
    }
    answer
}

/// Damages the answer in every way at every place. Fails if schema and reader disagree on a result.
fn agree(schema: &str, reads: impl Fn(&str) -> bool, answer: &Value, places: &[&str], strings: bool) {
    let schema = parsed(schema);
    let mut odd =
        vec![json!(null), json!(true), json!(50), json!(-1), json!(100.5), json!([]), json!({}), json!([1])];
    if strings {
        odd.extend([json!(""), json!("x"), json!("fail"), json!("FAIL")]);
    }
    assert!(accepts(&schema, answer) && reads(&answer.to_string()));
    for place in places {
        for by in odd.iter().cloned().map(Some).chain([None]) {
            let answer = damaged(answer, place, by.clone());
            assert_eq!(accepts(&schema, &answer), reads(&answer.to_string()), "{place} := {by:?}");
        }
    }
}

fn reads_judgement(text: &str) -> bool {
    let shape = VerdictShape::Evidenced;
    judgement::read(
        text,
        &Ask { contract: &rubric::tune(), nonce: "n0nce", members: &[], at_fault: &[], shape },
    )
    .is_ok()
}

#[test]
fn the_verdict_schema_accepts_what_is_read_and_nothing_else() {
    let anything =
        ["/criteria", "/criteria/3", "/criteria/0/id", "/criteria/0/verdict", "/criteria/18/evidence"];
    agree(VERDICT, reads_judgement, &evidenced(), &anything, true);
    let remarks = ["/claimed_score", "/strengths", "/weaknesses", "/suggestions", "/more"];
    agree(VERDICT, reads_judgement, &evidenced(), &remarks, true);
    // The schema cannot know which of these strings are right.
    agree(VERDICT, reads_judgement, &evidenced(), &["/verdict_of", "/criteria/0/member"], false);
}

#[test]
fn the_schema_that_a_model_is_held_to_accepts_what_is_read_and_nothing_else() {
    let contract = rubric::tune();
    let shape = VerdictShape::Evidenced;
    let schema = |members| {
        judgement::schema(&Ask { contract: &contract, nonce: "n0nce", members, at_fault: &[], shape })
    };
    let places =
        ["/criteria", "/criteria/3", "/criteria/0/id", "/criteria/0/verdict", "/criteria/18/evidence"];
    agree(&schema(&[]).to_string(), reads_judgement, &evidenced(), &places, true);
    // In a chain, each criterion is asked for the whole and for every member.
    let mut chain = evidenced();
    let entries = chain["criteria"].as_array().unwrap().clone();
    let of =
        |member: &str| entries.iter().cloned().map(move |entry| named(entry, member)).collect::<Vec<_>>();
    assert!(!accepts(&schema(&["a", "b"]), &chain));
    chain["criteria"] = [entries.clone(), of("a"), of("b")].concat().into();
    assert!(accepts(&schema(&["a", "b"]), &chain));
    assert!(!accepts(&schema(&["a", "c"]), &chain));
}

fn named(mut entry: Value, member: &str) -> Value {
    entry["member"] = member.into();
    entry
}

#[test]
fn the_verdict_schema_accepts_the_originals_shape_as_it_is_read_from_an_agent_set_to_it() {
    let contract = rubric::tune();
    let ask = Ask {
        contract: &contract,
        nonce: "n0nce",
        members: &[],
        at_fault: &[],
        shape: VerdictShape::Original,
    };
    let reads = |text: &str| judgement::read(text, &ask).is_ok();
    let anything =
        ["/dimensions", "/dimensions/1", "/dimensions/0/score", "/dimensions/0/name", "/composite_score"];
    agree(VERDICT, reads, &claimed(), &anything, true);
    agree(VERDICT, reads, &claimed(), &["/dimensions/0/weight", "/chain_scores", "/weaknesses"], true);
}

#[test]
fn the_edits_schema_accepts_what_is_read_and_nothing_else() {
    let reads = |text: &str| edit::read(text).is_ok();
    let places =
        ["/edits", "/edits/0", "/edits/0/path", "/edits/0/find", "/edits/0/replace", "/edits/0/content"];
    agree(EDITS, reads, &edits(), &places, true);
    let more = [
        "/edits/1/content",
        "/edits/1/find",
        "/edits/1/replace",
        "/summary",
        "/changes",
        "/skipped",
        "/more",
    ];
    agree(EDITS, reads, &edits(), &more, true);
}

#[test]
fn ids_and_verdicts_in_the_schema_are_those_of_the_code() {
    let schema = parsed(VERDICT);
    let entry = schema.pointer("/anyOf/0/properties/criteria/items/properties").unwrap();
    let contract = rubric::tune();
    let ids: Vec<_> = contract.criteria.iter().map(|criterion| &criterion.id).collect();
    assert_eq!(entry["id"]["enum"], json!(ids));
    assert_eq!(entry["verdict"]["enum"], json!(Verdict::ALL));
    let dimensions =
        schema.pointer("/anyOf/1/properties/dimensions/items/properties/id/description").unwrap();
    for dimension in &contract.dimensions {
        assert!(dimensions.as_str().unwrap().contains(dimension.id.as_str()), "{}", dimension.id);
    }
    let priorities = Priority::ALL.map(Priority::as_str).join(" | ");
    assert_eq!(VERDICT.matches(&priorities).count(), 2);
    assert_eq!(EDITS.matches(&priorities).count(), 1);
}

#[test]
fn the_agent_schema_accepts_agents_and_no_keys_that_nobody_reads() {
    let schema = parsed(AGENT);
    let full = json!({
        "command": ["prog", "--model", "{model}", "--json", "{\"a\": 1}"], "output": "/result", "timeout": 600,
        "env": {"pass": ["KEY"], "set": {"MODE": "x"}},
        "cost": {"usd": "/cost", "input_tokens": "/usage/in", "output_tokens": "/usage/out"},
        "writes": ["~/.cache/mine", "/var/mine"],
        "verdict": "original",
    });
    assert!(accepts(&schema, &full));
    assert!(accepts(&schema, &json!({"command": ["prog"], "output": "text"})));
    assert_eq!(schema["properties"]["verdict"]["enum"], json!(VerdictShape::ALL));
    let odd = [
        ("/command", Some(json!([]))),
        ("/command", Some(json!("prog --json"))),
        ("/command", None),
        ("/output", Some(json!("result"))),
        ("/output", Some(json!("texts"))),
        ("/timeout", Some(json!(0))),
        ("/timeout", Some(json!(1.5))),
        ("/env/set/MODE", Some(json!(1))),
        ("/env/pass/0", Some(json!("A=B"))),
        ("/env/inherit", Some(json!(true))),
        ("/cost/usd", Some(json!("cost"))),
        ("/writes", Some(json!(true))),
        ("/writes/0", Some(json!("cache"))),
        ("/verdict", Some(json!("claimed"))),
        ("/shell", Some(json!("sh"))),
    ];
    for (place, by) in odd {
        assert!(!accepts(&schema, &damaged(&full, place, by.clone())), "{place} := {by:?}");
    }
}
