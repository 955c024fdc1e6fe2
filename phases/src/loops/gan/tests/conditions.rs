//! Tests the levels that dimensions must reach by the contract: how they are drafted, negotiated, kept and shown.

use serde_json::{Value, json};

use super::answers::{CODE, Fault, drafted, faults};
use super::*;
use crate::base::answer::OffSchema;
use crate::loops::gan::answers;
use crate::loops::gan::contract::{Change, Faulty};
use crate::loops::gan::evaluation::{Block, evaluate};
use crate::loops::gan::negotiation::{Draft, Foul, Negotiation, Proposal, Ruling};
use crate::loops::gan::rules::Rules;

fn with_conditions() -> Value {
    let mut answer = drafted();
    answer["pass_conditions"] = json!([
        { "dimension": "a", "minimum": 0.5 },
        { "dimension": "b", "minimum": 1.0 },
    ]);
    answer
}

fn draft(text: &str) -> Result<Draft, OffSchema> {
    answers::draft(text, CODE, &contract())
}

#[test]
fn a_draft_may_say_which_levels_dimensions_must_reach() {
    let read = draft(&with_conditions().to_string()).unwrap();
    assert_eq!(read.pass_conditions, BTreeMap::from([("a".into(), score(50.0)), ("b".into(), Score::FULL)]));
    assert!(draft(&drafted().to_string()).unwrap().pass_conditions.is_empty(), "none are asked for");
    let agreed = Negotiation::begin(&contract(), read.clone()).unwrap().contract(&contract()).unwrap();
    assert_eq!(agreed.pass_conditions, read.pass_conditions);
    assert_ne!(agreed.hash(), Contract { pass_conditions: BTreeMap::new(), ..agreed.clone() }.hash());
}

#[test]
fn a_contract_without_them_has_the_hash_that_it_had_before_there_were_any() {
    let text = serde_json::to_string(&contract()).unwrap();
    assert!(!text.contains("pass_conditions"), "{text}");
}

#[test]
fn each_fault_of_pass_conditions_has_its_error() {
    let changes: [Fault; 6] = [
        ("no list", |all| all["pass_conditions"] = json!("a")),
        ("no minimum", |all| drop(all["pass_conditions"][0].as_object_mut().unwrap().remove("minimum"))),
        ("no level", |all| all["pass_conditions"][0]["minimum"] = json!(0.7)),
        ("the lowest level", |all| all["pass_conditions"][0]["minimum"] = json!(0.25)),
        ("twice", |all| all["pass_conditions"][0]["dimension"] = json!("b")),
        ("no dimension", |all| all["pass_conditions"][0]["dimension"] = json!("c")),
    ];
    insta::assert_snapshot!(faults(&with_conditions(), &changes, draft), @"
    no list: `pass_conditions` must be a list
    no minimum: pass_conditions[0]: missing field `minimum`
    no level: a: give a `minimum` of 0.50, 0.75 or 1.00
    the lowest level: a: give a `minimum` of 0.50, 0.75 or 1.00
    twice: b has two pass conditions
    no dimension: a pass condition names c, which is not a dimension of the contract
    ");
}

/// Returns a negotiation whose draft requires everything of the second dimension.
fn talk() -> Negotiation {
    let criteria = vec![criterion("b.hours")];
    let pass_conditions = BTreeMap::from([("b".into(), Score::FULL)]);
    Negotiation::begin(&contract(), Draft { criteria, pass_conditions, ..Draft::default() }).unwrap()
}

#[test]
fn the_builder_may_propose_another_level_and_the_evaluator_decides() {
    let proposed = |dimension: &str, minimum: f64| {
        let one = json!({
            "change": "pass_condition", "dimension": dimension, "minimum": minimum, "why": "too much",
        });
        answers::proposals(
            &json!({ "answer_to": CODE, "proposals": [one] }).to_string(),
            CODE,
            (&contract(), &talk()),
        )
    };
    for (minimum, is_accepted, least) in
        [(0.75, true, Some(75.0)), (0.25, true, None), (0.5, false, Some(100.0))]
    {
        let mut talk = talk();
        talk.propose(&contract(), proposed("b", minimum).unwrap()).unwrap();
        let ruling = Ruling { is_accepted, cites: "see the hours".into(), why: "".into() };
        talk.rule(&contract(), "Visitors see the hours.", vec![ruling]).unwrap();
        let agreed = talk.contract(&contract()).unwrap();
        assert_eq!(agreed.pass_conditions.values().next().copied(), least.map(score), "{minimum}");
    }
    for (dimension, minimum, why) in [
        ("b", 0.7, "pass_condition: give a `minimum` of 0.25, 0.50, 0.75 or 1.00"),
        ("c", 0.75, "a pass condition names c, which is not a dimension of the contract"),
        ("b", 1.0, "nothing is changed"),
    ] {
        assert_eq!(proposed(dimension, minimum).unwrap_err().to_string(), why);
    }
}

#[test]
fn a_person_may_change_them_too() {
    let base = contract();
    let at = |points: f64| Change::PassCondition { dimension: "a".into(), minimum: score(points) };
    let amended = base.amended(&[at(80.0)]).unwrap();
    assert_eq!(amended.pass_conditions, BTreeMap::from([("a".into(), score(80.0))]));
    assert_eq!(amended.amended(&[at(0.0)]).as_ref(), Ok(&base));
    assert_eq!(base.amended(&[at(25.0)]), Err(Faulty::Unchanged));
    let other = Change::PassCondition { dimension: "c".into(), minimum: Score::FULL };
    assert_eq!(base.amended(&[other]), Err(Faulty::NoDimension("c".into())));
    let read: Vec<Change> =
        serde_json::from_str(r#"[{"pass_condition": {"dimension": "a", "minimum": 80}}]"#).unwrap();
    assert_eq!(read, [at(80.0)]);
}

#[test]
fn what_the_profile_asks_stays_when_a_pass_condition_is_proposed() {
    let drop = Proposal { change: Change::Drop { criterion: id("a.1") }, why: "no need".into() };
    assert_eq!(talk().propose(&contract(), vec![drop]), Err(Foul::Frozen("a.1".into())));
}

#[test]
fn the_higher_of_what_was_agreed_on_and_what_a_person_set_keeps_a_result_from_passing() {
    let contract = Contract {
        pass_conditions: BTreeMap::from([("a".into(), score(50.0)), ("b".into(), score(75.0))]),
        ..contract()
    };
    let all_but_two = ["a.1", "a.2", "a.3", "a.4", "b.1", "b.2"];
    let evaluation = evaluate(&contract, &raw_verdicts(&contract, &all_but_two), &none(), score(50.0));
    assert_eq!(evaluation.score, score(87.5));
    let below = |minimum: f64| {
        [Block::BelowMinimum { dimension: "b".into(), level: score(50.0), minimum: score(minimum) }]
    };
    assert_eq!(evaluation.blocks(&contract, &Rules::default(), 1), below(75.0));
    for (own, least) in [(60.0, 75.0), (90.0, 90.0)] {
        let rules = Rules { minimums: [("b".into(), score(own))].into(), ..Rules::default() };
        assert_eq!(evaluation.blocks(&contract, &rules, 1), below(least));
    }
}
