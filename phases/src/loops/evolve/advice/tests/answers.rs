//! Readers of answers, which may be hostile.

use super::*;

#[test]
fn a_match_names_only_what_the_run_has_and_its_numbers_are_shares() {
    let run = begin();
    let asking = request(&run, &Step::Match);
    let read = |all: Value| asking.read(&json!({ "answer_to": asking.code, "relevant": all }).to_string());
    let long = "x".repeat(10_000);
    let one = |task: &str, expert: &str, relevance: Value| {
        let domains = [long.as_str(); 20];
        json!({ "task": task, "expert": expert, "relevance": relevance, "domains": domains, "why": long, "more": 1 })
    };
    let all =
        json!([one("parser", "qa", json!(1)), one("parser", "who", json!(1)), one("ui", "qa", json!(1))]);
    let Ok(Answer::Matched(matched)) = read(all) else { panic!("it is read") };
    let [only] = &matched[..] else { panic!("{matched:?}") };
    assert_eq!((&*only.task, &*only.expert, only.relevance), ("parser", "qa", 1.0));
    assert!(only.domains.len() == 8 && only.domains[0].len() < 100 && only.why.len() < 1_000);
    for wrong in [json!(1.01), json!(-0.1), json!("high"), Value::Null] {
        let refused = read(json!([one("parser", "qa", wrong.clone())])).unwrap_err();
        assert!(refused.why.contains("relevan"), "{wrong}: {}", refused.why);
    }
    let many: Vec<Value> =
        (0..1_001).map(|_| json!({ "task": "parser", "expert": "qa", "relevance": 1 })).collect();
    assert!(read(json!(many)).unwrap_err().why.contains("1001 relevant experts were given"));
    assert_eq!(read(json!([])), Ok(Answer::Matched(Vec::new())));
}

#[test]
fn a_perspective_and_a_consensus_say_something_within_bounds() {
    let mut run = begin();
    matched(&mut run, &[("parser", "qa", 0.9)]);
    let asking = request(&run, &advise("parser", 2));
    let read = |text: &str, confidence: Value| {
        let answer = json!({ "answer_to": asking.code, "perspective": text, "confidence": confidence });
        asking.read(&answer.to_string())
    };
    let long = "x".repeat(10_000);
    let Ok(Answer::Advised(perspective)) = read(&long, json!(0)) else { panic!("it is read") };
    assert_eq!((perspective.text.chars().count(), perspective.confidence), (6_000, 0.0));
    for (text, confidence) in [("Test it.", json!(2)), ("Test it.", Value::Null), ("...", json!(1))] {
        assert!(read(text, confidence.clone()).is_err(), "{text} {confidence}");
    }
    let other = json!({ "answer_to": "other", "perspective": "Test it.", "confidence": 1 });
    assert!(asking.read(&other.to_string()).is_err(), "it answers another request");

    let asking = request(&run, &agree("parser"));
    let read = |text: &str, conflicts: Value| {
        asking
            .read(&json!({ "answer_to": asking.code, "consensus": text, "conflicts": conflicts }).to_string())
    };
    let conflict = json!({ "about": "order", "between": ["qa", 7, "dba"], "settled": long });
    let Ok(Answer::Agreed(consensus)) = read("Test it.", json!([conflict, { "about": "nothing" }, 7])) else {
        panic!("it is read")
    };
    let [only] = &consensus.conflicts[..] else { panic!("{consensus:?}") };
    assert_eq!((only.between.len(), only.settled.chars().count()), (2, 600));
    assert!(read("", json!([])).is_err());
    let none = Consensus { text: "Test it.".into(), conflicts: Vec::new() };
    assert_eq!(read("Test it.", Value::Null), Ok(Answer::Agreed(Box::new(none))));
}
