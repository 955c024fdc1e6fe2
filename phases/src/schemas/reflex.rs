//! Checks that the schemas of `reflex` accept what the reader accepts.

use serde_json::{Value, json};

use super::{accepts, agree};
use crate::loops::reflex::checks::{self, Asked};
use crate::loops::reflex::criteria::{Criteria, Level, Rule, Template, Weights};
use crate::loops::reflex::verdict::{By, RuleResult, Verdict};
use crate::loops::reflex::{answers, forms};

fn criteria() -> Criteria {
    Criteria::of(Template::Api, Weights::default(), Template::Api.thresholds())
}

fn at_a(criteria: &Criteria) -> Vec<&Rule> {
    criteria.active(Level::A).collect()
}

/// Returns an answer with an entry for each rule of level A.
fn answer(code: &str, key: &str, entry: impl Fn((usize, &&Rule)) -> Value) -> Value {
    let entries: Vec<Value> = at_a(&criteria()).iter().enumerate().map(entry).collect();
    json!({ code: "n0nce", key: entries })
}

#[test]
fn the_form_of_a_plan_accepts_what_is_read_and_nothing_else() {
    let criteria = criteria();
    let (rules, steps) = (at_a(&criteria), 4..=5);
    let form = forms::plan(&rules, &steps).to_string();
    let plan = answer("answer_to", "plan", |(_, rule)| json!({ "step": "Write it.", "rule_id": rule.id }));
    let reads = |text: &str| answers::plan(text, "n0nce", &rules, &steps).is_ok();
    agree(&form, reads, &plan, &["/plan", "/plan/1", "/plan/0/rule_id", "/more"], true);
    // The schema cannot know which of these strings are right.
    agree(&form, reads, &plan, &["/answer_to", "/plan/2/step"], false);
    let mut long = plan;
    long["plan"] = vec![long["plan"][0].clone(); 6].into();
    assert!(!accepts(&super::parsed(&form), &long) && !reads(&long.to_string()));
}

#[test]
fn the_form_of_checks_accepts_what_is_read_and_nothing_else() {
    let criteria = criteria();
    let rules = at_a(&criteria);
    let form = forms::checks(&rules, 2).to_string();
    let checks = answer("answer_to", "checks", |(nth, rule)| match nth {
        0 => {
            json!({ "rule_id": rule.id, "type": "executable", "argv": ["jq", "."], "exit": 0, "expected": "" })
        }
        1 => json!({ "rule_id": rule.id, "type": "content", "search": "GET", "expected": "present" }),
        _ => json!({ "rule_id": rule.id, "type": "judge", "question": "Is it there?" }),
    });
    let reads =
        |text: &str| checks::read(text, &checks::Ask { nonce: "n0nce", rules: &rules, most: 2 }).is_ok();
    let anything = ["/checks", "/checks/3", "/checks/0/rule_id", "/checks/2/type", "/checks/1/expected"];
    agree(&form, reads, &checks, &anything, true);
    agree(&form, reads, &checks, &["/answer_to", "/checks/1/search", "/checks/2/question"], false);
}

#[test]
fn the_form_of_a_critique_accepts_what_is_read_and_nothing_else() {
    let missed: Vec<RuleResult> = at_a(&criteria())
        .iter()
        .map(|rule| RuleResult {
            rule: rule.id.clone(),
            verdict: Verdict::Fail,
            details: "absent".into(),
            by: By::Judge,
        })
        .collect();
    let missed: Vec<&RuleResult> = missed.iter().collect();
    let form = forms::critique(&missed, 5).to_string();
    let critique = answer(
        "answer_to",
        "issues",
        |(_, rule)| json!({ "rule_id": rule.id, "section": "", "problem": "p", "fix_instruction": "f", "expected_effect": "e" }),
    );
    let reads = |text: &str| answers::critique(text, "n0nce", &missed, 5).is_ok();
    agree(&form, reads, &critique, &["/issues", "/issues/1", "/issues/0/rule_id"], true);
    let strings =
        ["/answer_to", "/issues/2/problem", "/issues/2/fix_instruction", "/issues/2/expected_effect"];
    agree(&form, reads, &critique, &strings, false);
}

#[test]
fn the_form_of_a_judgement_asks_for_verdicts_alone() {
    let criteria = criteria();
    let asked: Vec<Asked<'_>> =
        at_a(&criteria).into_iter().map(|rule| Asked { rule, questions: Vec::new() }).collect();
    let form = forms::verdicts(&asked, "n0nce");
    let names: Vec<_> = form["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["verdict_of", "criteria"]);
    let verdicts = answer(
        "verdict_of",
        "criteria",
        |(_, rule)| json!({ "id": rule.id, "verdict": "pass", "evidence": "artifact.md: x" }),
    );
    let reads = |text: &str| answers::judged(text, &asked, "n0nce").is_ok();
    let anything =
        ["/criteria", "/criteria/3", "/criteria/0/id", "/criteria/0/verdict", "/criteria/1/evidence"];
    agree(&form.to_string(), reads, &verdicts, &anything, true);
}
