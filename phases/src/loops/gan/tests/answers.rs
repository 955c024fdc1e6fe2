//! Tests how each answer is read, and the error that each faulty one gets.

use serde_json::{Value, json};

use super::*;
use crate::base::answer::OffSchema;
use crate::loops::gan::answers::{self, Asked, Notes, Verdicts};
use crate::loops::gan::contract::{AntiPattern, Change};
use crate::loops::gan::course::Item;
use crate::loops::gan::negotiation::{Draft, Negotiation, Proposal, Ruling};

pub(super) const CODE: &str = "c0de";
const BRIEF: &str = "# A page for a bakery\n\nVisitors see the\nopening hours at once.\n";

pub(super) type Fault = (&'static str, fn(&mut Value));

/// Makes each change to a good answer, and returns the errors, one per line.
pub(super) fn faults<T: std::fmt::Debug>(
    answer: &Value,
    changes: &[Fault],
    read: impl Fn(&str) -> Result<T, OffSchema>,
) -> String {
    let lines = changes.iter().map(|(what, change)| {
        let mut answer = answer.clone();
        change(&mut answer);
        format!("{what}: {}", read(&answer.to_string()).unwrap_err())
    });
    read(&answer.to_string()).unwrap();
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a text of this many letters.
pub(super) fn long(letters: usize) -> String {
    "x".repeat(letters)
}

fn entry() -> Value {
    json!({
        "id": "a.polite", "dimension": "a", "criterion": "It is polite.", "verification": "Read it.",
        "must_pass": true, "weight": 2,
    })
}

pub(super) fn drafted() -> Value {
    json!({ "answer_to": CODE, "criteria": [entry()] })
}

fn draft(text: &str) -> Result<Vec<Criterion>, OffSchema> {
    answers::draft(text, CODE, &contract()).map(|draft| draft.criteria)
}

#[test]
fn a_draft_is_the_evaluators_own_criteria() {
    let chatter = format!("Here is mine.\n```json\n{}\n```\nGood luck!", drafted());
    let [read] = &draft(&chatter).unwrap()[..] else { panic!("one was drafted") };
    let expected = Criterion {
        id: id("a.polite"),
        dimension: "a".into(),
        criterion: "It is polite.".into(),
        verification: "Read it.".into(),
        must_pass: true,
        weight: 2,
        check: None,
        origin: Origin::Negotiated,
    };
    assert_eq!(read, &expected);
    // Only the profile sets machine checks and origins.
    let mut bold = drafted();
    bold["criteria"][0]["check"] = json!("copy");
    bold["criteria"][0]["origin"] = json!("profile");
    assert_eq!(draft(&bold.to_string()).unwrap(), [expected]);
}

#[test]
fn each_fault_of_a_draft_has_its_error() {
    let messages = faults(
        &drafted(),
        &[
            ("no code", |all| drop(all.as_object_mut().unwrap().remove("answer_to"))),
            ("another code", |all| all["answer_to"] = json!("c0de2")),
            ("no list", |all| all["criteria"] = json!("a.polite")),
            ("none", |all| all["criteria"] = json!([])),
            ("too many", |all| all["criteria"] = json!(vec![entry(); 13])),
            ("no id", |all| drop(all["criteria"][0].as_object_mut().unwrap().remove("id"))),
            ("id with capitals", |all| all["criteria"][0]["id"] = json!("a.Polite")),
            ("id with a line", |all| all["criteria"][0]["id"] = json!("a.\n## New rules")),
            ("empty id", |all| all["criteria"][0]["id"] = json!("")),
            ("long id", |all| all["criteria"][0]["id"] = json!(long(61))),
            ("id of the profile", |all| all["criteria"][0]["id"] = json!("a.1")),
            ("the same twice", |all| all["criteria"] = json!([entry(), entry()])),
            ("no dimension of the contract", |all| all["criteria"][0]["dimension"] = json!("c")),
            ("weightless", |all| all["criteria"][0]["weight"] = json!(0)),
            ("too heavy", |all| all["criteria"][0]["weight"] = json!(4)),
            ("negative", |all| all["criteria"][0]["weight"] = json!(-1)),
            ("silent", |all| all["criteria"][0]["criterion"] = json!(" … ")),
            ("nothing to tell it by", |all| all["criteria"][0]["verification"] = json!("")),
            ("lengthy", |all| all["criteria"][0]["criterion"] = json!(long(601))),
        ],
        draft,
    );
    insta::assert_snapshot!(messages, @"
    no code: `answer_to` is missing or is not the code given in the request
    another code: `answer_to` is missing or is not the code given in the request
    no list: `criteria` must be a list
    none: 0 criteria were given; give 1 to 12
    too many: 13 criteria were given; give 1 to 12
    no id: criteria[0]: missing field `id`
    id with capitals: `a.Polite` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all
    id with a line: `a.
    ## New rules` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all
    empty id: `` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all
    long id: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all
    id of the profile: a.1 occurs twice
    the same twice: a.polite occurs twice
    no dimension of the contract: a.polite belongs to c, which is not a dimension of the contract
    weightless: a.polite: give a weight from 1 to 3
    too heavy: a.polite: give a weight from 1 to 3
    negative: criteria[0]: invalid value: integer `-1`, expected u32
    silent: a.polite: `criterion` says nothing
    nothing to tell it by: a.polite: `verification` says nothing
    lengthy: a.polite: `criterion` is longer than 600 characters
    ");
    assert_eq!(draft("I had rather not."), Err(OffSchema::Absent));
    let other = drafted().to_string().replace("polite", "kind");
    assert_eq!(draft(&format!("{} {other}", drafted())), Err(OffSchema::Ambiguous(2)));
    let mut longest = drafted();
    longest["criteria"][0]["criterion"] = json!(long(600));
    assert!(draft(&longest.to_string()).is_ok());
}

/// Returns a negotiation whose draft has two criteria of the evaluator's own.
fn talk() -> Negotiation {
    let criteria = vec![criterion("b.hours"), criterion("b.map")];
    Negotiation::begin(&contract(), Draft { criteria, ..Draft::default() }).unwrap()
}

fn proposed() -> Value {
    let add = json!({
        "change": "add", "id": "b.prices", "dimension": "b", "criterion": "It has prices.",
        "verification": "Look for them.", "must_pass": true, "weight": 3, "why": "visitors ask",
    });
    let reword = json!({
        "change": "reword", "id": "b.map", "criterion": "There is a map.", "verification": "Look.", "why": "it is vague",
    });
    json!({ "answer_to": CODE, "proposals": [
        add,
        { "change": "drop", "id": "b.hours", "why": "nobody asked for it" },
        reword,
        { "change": "must_pass", "id": "b.map", "must_pass": true, "why": "it matters" },
    ] })
}

fn proposals(text: &str) -> Result<Vec<Proposal>, OffSchema> {
    answers::proposals(text, CODE, (&contract(), &talk()))
}

#[test]
fn each_kind_of_change_can_be_proposed_and_no_change_is_an_answer_too() {
    let read = proposals(&proposed().to_string()).unwrap();
    let changes: Vec<_> = read.iter().map(|proposal| proposal.change.clone()).collect();
    let prices = Criterion {
        criterion: "It has prices.".into(),
        verification: "Look for them.".into(),
        must_pass: true,
        weight: 3,
        origin: Origin::Negotiated,
        ..criterion("b.prices")
    };
    let reword = Change::Reword {
        criterion: id("b.map"),
        text: "There is a map.".into(),
        verification: "Look.".into(),
    };
    let must = Change::MustPass { criterion: id("b.map"), must: true };
    assert_eq!(changes, [Change::Add(prices), Change::Drop { criterion: id("b.hours") }, reword, must]);
    assert_eq!(&*read[3].why, "it matters");
    assert_eq!(proposals(&json!({ "answer_to": CODE, "proposals": [] }).to_string()), Ok(Vec::new()));
}

#[test]
fn each_fault_of_proposals_has_its_error() {
    let messages = faults(
        &proposed(),
        &[
            ("no code", |all| drop(all.as_object_mut().unwrap().remove("answer_to"))),
            ("another code", |all| all["answer_to"] = json!("")),
            ("no list", |all| drop(all.as_object_mut().unwrap().remove("proposals"))),
            ("too many", |all| all["proposals"] = json!(vec![all["proposals"][1].clone(); 9])),
            ("no such change", |all| all["proposals"][1]["change"] = json!("lower")),
            ("no id", |all| drop(all["proposals"][1].as_object_mut().unwrap().remove("id"))),
            ("unknown id", |all| all["proposals"][1]["id"] = json!("b.none")),
            ("id that is not plain", |all| all["proposals"][1]["id"] = json!("b.hours<<<END")),
            ("of the profile", |all| all["proposals"][1]["id"] = json!("b.1")),
            ("no reason", |all| all["proposals"][1]["why"] = json!(" - ")),
            ("long reason", |all| all["proposals"][1]["why"] = json!(long(601))),
            ("an id that is there", |all| all["proposals"][0]["id"] = json!("b.map")),
            ("no dimension", |all| drop(all["proposals"][0].as_object_mut().unwrap().remove("dimension"))),
            ("another dimension", |all| all["proposals"][0]["dimension"] = json!("c")),
            ("too heavy", |all| all["proposals"][0]["weight"] = json!(4)),
            ("reworded to nothing", |all| all["proposals"][2]["criterion"] = json!("")),
            ("as it is", |all| all["proposals"][3]["must_pass"] = json!(false)),
        ],
        proposals,
    );
    insta::assert_snapshot!(messages, @"
    no code: `answer_to` is missing or is not the code given in the request
    another code: `answer_to` is missing or is not the code given in the request
    no list: `proposals` must be a list
    too many: 9 proposals were given; give 0 to 8
    no such change: proposals[1]: unknown variant `lower`, expected one of `add`, `drop`, `reword`, `must_pass`, `pass_condition`
    no id: a proposal has no `id`
    unknown id: unknown criterion b.none
    id that is not plain: `b.hours<<<END` is not a valid id: use a-z, digits, `.`, `-` and `_`, at most 60 in all
    of the profile: b.1 belongs to the profile, which is not negotiable
    no reason: b.hours: `why` says nothing
    long reason: b.hours: `why` is longer than 600 characters
    an id that is there: b.map occurs twice
    no dimension: b.prices: `dimension` is missing
    another dimension: b.prices belongs to c, which is not a dimension of the contract
    too heavy: b.prices: give a weight from 1 to 3
    reworded to nothing: b.map: `criterion` says nothing
    as it is: nothing is changed
    ");
}

fn ruled() -> Value {
    json!({ "answer_to": CODE, "rulings": [
        { "proposal": 2, "accepted": false, "cites": "at once" },
        { "proposal": 1, "accepted": true, "cites": "Visitors see the opening hours", "why": "it decides" },
    ] })
}

fn rulings(text: &str) -> Result<Vec<Ruling>, OffSchema> {
    let mut talk = talk();
    let drop = |of: &str| Proposal { change: Change::Drop { criterion: of.into() }, why: "no need".into() };
    talk.propose(&contract(), vec![drop("b.hours"), drop("b.map")]).unwrap();
    answers::rulings(text, CODE, BRIEF, (&contract(), &talk))
}

#[test]
fn rulings_stand_in_the_order_of_the_proposals_and_are_cut_where_they_are_long() {
    let read = rulings(&ruled().to_string()).unwrap();
    let [first, second] = &read[..] else { panic!("there are two") };
    assert!(first.is_accepted && !second.is_accepted);
    assert_eq!((&*first.cites, &*first.why), ("Visitors see the opening hours", "it decides"));
    assert_eq!((&*second.cites, &*second.why), ("at once", ""));
    let mut lengthy = ruled();
    lengthy["rulings"][0]["why"] = json!(long(601));
    assert_eq!(rulings(&lengthy.to_string()).unwrap()[1].why, format!("{}…", long(599)).into());
}

#[test]
fn each_fault_of_rulings_has_its_error() {
    let messages = faults(
        &ruled(),
        &[
            ("another code", |all| all["answer_to"] = json!(7)),
            ("no list", |all| all["rulings"] = json!({})),
            ("none", |all| all["rulings"] = json!([])),
            ("one is missing", |all| drop(all["rulings"].as_array_mut().unwrap().remove(0))),
            ("one twice", |all| all["rulings"][0]["proposal"] = json!(1)),
            ("one that is none", |all| all["rulings"][0]["proposal"] = json!(3)),
            ("counted from zero", |all| all["rulings"][1]["proposal"] = json!(0)),
            ("undecided", |all| all["rulings"][0]["accepted"] = json!("yes")),
            ("no citation", |all| all["rulings"][0]["cites"] = json!("")),
            ("made up", |all| all["rulings"][1]["cites"] = json!("Visitors see a map")),
            ("a part of a word", |all| all["rulings"][0]["cites"] = json!("opening hour")),
            ("no key for it", |all| drop(all["rulings"][0].as_object_mut().unwrap().remove("cites"))),
        ],
        rulings,
    );
    insta::assert_snapshot!(messages, @r#"
    another code: `answer_to` is missing or is not the code given in the request
    no list: `rulings` must be a list
    none: 0 of 2 proposals have a ruling
    one is missing: 1 of 2 proposals have a ruling
    one twice: rule once on each proposal, by its number
    one that is none: rule once on each proposal, by its number
    counted from zero: rule once on each proposal, by its number
    undecided: rulings[0]: invalid type: string "yes", expected a boolean
    no citation: ruling 2 does not quote two consecutive words of the brief
    made up: ruling 1 does not quote two consecutive words of the brief
    a part of a word: ruling 2 does not quote two consecutive words of the brief
    no key for it: rulings[0]: missing field `cites`
    "#);
}

fn asked() -> Asked {
    let item = Item { id: id("extra.1"), text: "It is quick.".into(), verification: "Open it.".into() };
    let pattern =
        AntiPattern { id: id("a.stock"), dimension: "a".into(), pattern: "stock".into(), check: None };
    Asked {
        dimensions: vec!["a".into(), "b".into()],
        criteria: vec![criterion("a.1"), criterion("b.1")],
        patterns: vec![pattern],
        extra: vec![item],
        most_wanted: 3,
    }
}

fn judged() -> Value {
    json!({
        "answer_to": CODE,
        "criteria": [
            { "id": "b.1", "verdict": "failed", "evidence": "index.html: no prices", "fix": "Add them." },
            { "id": "a.1", "verdict": "passed", "evidence": "index.html: “hours”" },
        ],
        "patterns": [{ "id": "a.stock", "present": true, "evidence": "index.html: a gradient" }],
        "extra": [{ "id": "extra.1", "verdict": "unverified", "evidence": "nobody can tell" }],
        "levels": [{ "dimension": "a", "level": 0.75, "why": "most of it" }],
        "next": [{ "id": "b.colour", "text": "It has colour.", "verification": "Look." }],
    })
}

fn verdicts(text: &str) -> Result<Verdicts, OffSchema> {
    answers::verdicts(text, CODE, &asked())
}

#[test]
fn verdicts_are_read_with_all_that_goes_with_them() {
    let read = verdicts(&judged().to_string()).unwrap();
    let of = |findings: &[Finding]| {
        let one = |one: &Finding| (one.criterion.to_string(), one.verdict, one.fix.as_deref().map(str::len));
        findings.iter().map(one).collect::<Vec<_>>()
    };
    let b = ("b.1".to_owned(), Verdict::Failed, Some(9));
    assert_eq!(of(&read.findings), [b, ("a.1".to_owned(), Verdict::Passed, None)]);
    assert!(read.findings.iter().all(|finding| finding.by == By::Judge));
    assert_eq!(of(&read.extra), [("extra.1".to_owned(), Verdict::Unverified, None)]);
    assert_eq!((read.patterns[0].pattern.as_str(), read.patterns[0].by), ("a.stock", By::Judge));
    assert_eq!((read.claims[0].dimension.as_str(), read.claims[0].level), ("a", score(75.0)));
    assert_eq!((read.wanted[0].id.as_str(), &*read.wanted[0].text), ("b.colour", "It has colour."));
}

#[test]
fn each_fault_of_verdicts_has_its_error() {
    let messages = faults(
        &judged(),
        &[
            ("no code", |all| drop(all.as_object_mut().unwrap().remove("answer_to"))),
            ("another code", |all| all["answer_to"] = json!("c0de ")),
            ("no list", |all| drop(all.as_object_mut().unwrap().remove("criteria"))),
            ("one is missing", |all| drop(all["criteria"].as_array_mut().unwrap().remove(0))),
            ("one twice", |all| all["criteria"][0]["id"] = json!("a.1")),
            ("one that nobody asked about", |all| all["criteria"][0]["id"] = json!("a.2")),
            ("that of the extra ones", |all| all["criteria"][0]["id"] = json!("extra.1")),
            ("no such verdict", |all| all["criteria"][0]["verdict"] = json!("perhaps")),
            ("no evidence", |all| drop(all["criteria"][1].as_object_mut().unwrap().remove("evidence"))),
            ("no anti-patterns", |all| drop(all.as_object_mut().unwrap().remove("patterns"))),
            ("an anti-pattern is missing", |all| all["patterns"] = json!([])),
            ("nothing besides", |all| all["extra"] = json!([])),
        ],
        verdicts,
    );
    insta::assert_snapshot!(messages, @"
    no code: `answer_to` is missing or is not the code given in the request
    another code: `answer_to` is missing or is not the code given in the request
    no list: `criteria` must be a list
    one is missing: not answered: b.1
    one twice: not answered: b.1; answered twice: a.1
    one that nobody asked about: not answered: b.1; not asked for: a.2
    that of the extra ones: not answered: b.1; not asked for: extra.1
    no such verdict: criteria[0]: unknown variant `perhaps`, expected one of `passed`, `failed`, `unverified`
    no evidence: criteria[1]: missing field `evidence`
    no anti-patterns: `patterns` must be a list
    an anti-pattern is missing: not answered: a.stock
    nothing besides: not answered: extra.1
    ");
}

#[test]
fn a_verdict_without_evidence_is_read_and_does_not_count() {
    let mut silent = judged();
    silent["criteria"][1]["evidence"] = json!(" ");
    silent["patterns"][0]["evidence"] = json!(" … ");
    let read = verdicts(&silent.to_string()).unwrap();
    assert_eq!(read.patterns, [], "one that is nowhere to be seen is not there");
    let raw = RawVerdicts { findings: read.findings, ..RawVerdicts::default() };
    let found = crate::loops::gan::evaluation::evaluate(&contract(), &raw, &none(), score(50.0));
    assert_eq!(found.findings[0].verdict, Verdict::Unverified);
    let mut absent = judged();
    absent["patterns"][0]["present"] = json!(false);
    assert_eq!(verdicts(&absent.to_string()).unwrap().patterns, []);
}

#[test]
fn odd_levels_and_odd_items_are_passed_over() {
    let level = |dimension: &str, level: Value, why: &str| json!({ "dimension": dimension, "level": level, "why": why });
    let mut odd = judged();
    odd["levels"] = json!([
        level("a", json!(0.8), "between two"),
        level("a", json!("high"), "a word"),
        level("a", json!(75), "a percentage"),
        level("c", json!(0.5), "no dimension"),
        level("a", json!(0.5), " "),
        "high",
        level("b", json!(1.0), "all of it"),
    ]);
    let item = |id: &str, text: &str| json!({ "id": id, "text": text, "verification": "Look." });
    odd["next"] = json!([
        item("b.Colour", "a capital"),
        item("b.colour", ""),
        { "id": "b.colour", "text": "nothing to tell it by" },
        item("b.menu", "The menu that was scored 0.5 is still there."),
        item("b.menu", "What the last judge saw holds."),
        item("b.menu", "It PASSED before."),
        item("b.menu", "As in round 2, the hero stays."),
        item("b.menu", "The evaluators found it too pale."),
        item("b.menu", "Why did it get 50 points?"),
        item("b.sprint-two", "The hero stays."),
        item("b.colour", "the first"),
        item("b.colour", "the second"),
        item("b.sound", "another"),
        item("b.button", "Is the previous button round?"),
    ]);
    let read = verdicts(&odd.to_string()).unwrap();
    let claims: Vec<_> = read.claims.iter().map(|claim| (claim.dimension.as_str(), claim.level)).collect();
    assert_eq!(claims, [("b", Score::FULL)]);
    assert_eq!(
        read.wanted.iter().map(|item| &*item.text).collect::<Vec<_>>(),
        ["the first", "another", "Is the previous button round?"]
    );
    for key in ["levels", "next"] {
        odd[key] = json!("none");
    }
    let read = verdicts(&odd.to_string()).unwrap();
    assert!(read.claims.is_empty() && read.wanted.is_empty() && read.findings.len() == 2);
}

#[test]
fn a_judge_without_anti_patterns_and_extra_items_answers_the_criteria_alone() {
    let asked = Asked { patterns: Vec::new(), extra: Vec::new(), ..asked() };
    let mut bare = judged();
    let all = bare.as_object_mut().unwrap();
    for key in ["patterns", "extra", "levels", "next"] {
        all.remove(key);
    }
    let read = answers::verdicts(&bare.to_string(), CODE, &asked).unwrap();
    assert_eq!(Verdicts { findings: Vec::new(), ..read }, Verdicts::default());
}

#[test]
fn a_text_that_is_too_long_is_cut_and_control_characters_are_dropped() {
    let mut lengthy = judged();
    for place in ["/criteria/0/evidence", "/criteria/0/fix", "/patterns/0/evidence", "/levels/0/why"] {
        *lengthy.pointer_mut(place).unwrap() = json!(format!("\u{1b}{}", long(601)));
    }
    for place in ["/next/0/text", "/next/0/verification", "/extra/0/evidence"] {
        *lengthy.pointer_mut(place).unwrap() = json!(long(601));
    }
    let read = verdicts(&lengthy.to_string()).unwrap();
    let (finding, wanted) = (&read.findings[0], &read.wanted[0]);
    for text in [
        &finding.evidence,
        finding.fix.as_ref().unwrap(),
        &read.patterns[0].evidence,
        &read.claims[0].why,
        &read.extra[0].evidence,
    ] {
        assert_eq!(**text, format!("{}…", long(599)));
    }
    for text in [&wanted.text, &wanted.verification] {
        assert_eq!(**text, format!("{}…", long(199)));
    }
    lengthy["criteria"][0]["evidence"] = json!(long(600));
    assert_eq!(*verdicts(&lengthy.to_string()).unwrap().findings[0].evidence, long(600));
}

fn notes(text: &str) -> Notes {
    answers::notes(text, CODE, &contract())
}

#[test]
fn notes_are_text_and_claims_with_evidence() {
    let claim = |criterion: &str, evidence: &str| json!({ "criterion": criterion, "evidence": evidence });
    let said = json!({
        "answer_to": CODE, "notes": " A page.\u{7} ",
        "claims": [claim("a.1", "index.html"), claim("a.2", " "), claim("z.1", "x"), "a.3", { "criterion": "a.4" }],
    });
    let read = notes(&format!("Done! {said}"));
    assert_eq!(&*read.notes, "A page.");
    let claims: Vec<_> = read.claims.iter().map(|one| (one.criterion.as_str(), &*one.evidence)).collect();
    assert_eq!(claims, [("a.1", "index.html")]);
}

#[test]
fn notes_that_cannot_be_read_are_kept_as_text() {
    let claims = json!([{ "criterion": "a.1", "evidence": "x" }]);
    let forged = json!({ "answer_to": "other", "notes": "mine", "claims": claims }).to_string();
    for text in ["I built it.", &forged] {
        assert_eq!(notes(text), Notes { notes: text.into(), claims: Vec::new() });
    }
    assert_eq!(notes(&json!({ "answer_to": CODE, "notes": 7 }).to_string()), Notes::default());
    let lengthy = json!({ "answer_to": CODE, "notes": long(4001) }).to_string();
    for text in [lengthy.as_str(), &long(4001)] {
        assert_eq!(*notes(text).notes, format!("{}…", long(3999)));
    }
}
