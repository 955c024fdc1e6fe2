//! The answer to PROPOSE: rules for one task, which a person reviews before they count.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::base::answer::{self, Mismatch, OffSchema};
use crate::loops::reflex::criteria::{CATEGORIES, Rule, Severity, Weights};
use crate::loops::reflex::task::Bounds;

const LONGEST_DESCRIPTION: usize = 400;
const LONGEST_CHECK: usize = 800;

/// The parts of the question that are needed to read the answer.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub known: &'a [Rule],
    pub weights: Weights,
    pub bounds: Bounds,
}

/// Reads the requested number of rules. None of them may replace an existing rule.
pub fn proposal(text: &str, nonce: &str, wanted: Wanted<'_>) -> Result<Vec<Rule>, OffSchema> {
    answer::coded(text, nonce, "rules", |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "rules")?;
        let (given, Bounds { least, most }) = (entries.len(), wanted.bounds);
        if !(least..=most).contains(&given) {
            return Err(OffSchema::Count { what: "rules", given, least, most });
        }
        let mut known: BTreeSet<&str> = wanted.known.iter().map(|rule| rule.id.as_str()).collect();
        let double =
            entries.iter().filter(|entry| !known.insert(&entry.id)).map(|entry| entry.id.clone()).collect();
        Mismatch { double, ..Mismatch::default() }.into_result()?;
        let mut rules =
            entries.iter().map(|entry| entry.rule(wanted.weights)).collect::<Result<Vec<_>, _>>()?;
        rules.sort_by_key(|rule| rule.level);
        Ok(rules)
    })
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    severity: Severity,
    description: String,
    check: String,
}

impl Entry {
    fn rule(&self, weights: Weights) -> Result<Rule, OffSchema> {
        let id = &self.id;
        let what = |part: &str| format!("{id}: its {part}");
        let description =
            answer::required_words(|| what("description"), &self.description, LONGEST_DESCRIPTION)?;
        let check = answer::required_words(|| what("check"), &self.check, LONGEST_CHECK)?;
        let rule = Rule::new(id, self.severity, weights, &description);
        let rule = rule.filter(|rule| CATEGORIES.contains(&rule.category()));
        let rule = rule.ok_or_else(|| {
            let form = format!("`{id}` is not a rule id: give a level, one of the categories and a name");
            answer::shape(&form)
        })?;
        Ok(Rule { check, ..rule })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::loops::reflex::criteria::{Criteria, Level, Template};

    fn read(answer: &Value) -> Result<Vec<Rule>, OffSchema> {
        let known = Criteria::of(Template::Docs, Weights::default(), Template::Docs.thresholds()).rules;
        let weights = Weights { fail: 7, ..Weights::default() };
        let wanted = Wanted { known: &known, weights, bounds: Bounds { least: 0, most: 2 } };
        proposal(&answer.to_string(), "n0nce", wanted)
    }

    fn rule(id: &str) -> Value {
        json!({"id": id, "severity": "fail", "description": "Every port is named.", "check": "Look for each."})
    }

    fn answer(rules: &[Value]) -> Value {
        json!({"answer_to": "n0nce", "rules": rules})
    }

    #[test]
    fn proposed_rules_are_weighed_as_all_others_are_and_ordered_by_level() {
        let rules = read(&answer(&[rule("b.style.units"), rule("a.completeness.ports")])).unwrap();
        let weighed: Vec<_> = rules.iter().map(|rule| (rule.id.as_str(), rule.level, rule.weight)).collect();
        assert_eq!(weighed, [("a.completeness.ports", Level::A, 7), ("b.style.units", Level::B, 7)]);
        assert_eq!(read(&answer(&[])), Ok(Vec::new()), "a template may be enough");
    }

    #[test]
    fn a_proposal_neither_replaces_rules_nor_brings_odd_ones() {
        let message = |rules: &[Value]| read(&answer(rules)).unwrap_err().to_string();
        assert_eq!(message(&[rule("a.correctness.accuracy")]), "answered twice: a.correctness.accuracy");
        assert_eq!(message(&[rule("a.style.x"), rule("a.style.x")]), "answered twice: a.style.x");
        let three = [rule("a.style.x"), rule("a.style.y"), rule("a.style.z")];
        assert_eq!(message(&three), "3 rules were given; give 0 to 2");
        for odd in ["ports", "c.style.x", "a.task.x", "a.style.x y"] {
            assert!(message(&[rule(odd)]).contains("is not a rule id"), "{odd}");
        }
        let mut empty = rule("a.style.x");
        empty["check"] = json!("…");
        assert_eq!(message(&[empty]), "a.style.x: its check says nothing");
        let forged = json!({"answer_to": "guess", "rules": [rule("a.style.x")]});
        assert_eq!(read(&forged), Err(OffSchema::Forged("answer_to")));
    }
}
