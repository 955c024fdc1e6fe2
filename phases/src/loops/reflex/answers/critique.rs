//! The answer to CRITIQUE: the changes to make, one issue for each rule that is not met.

use serde::{Deserialize, Serialize};

use crate::base::answer::{self, Mismatch, OffSchema, capped};
use crate::loops::reflex::criteria::RuleId;
use crate::loops::reflex::verdict::RuleResult;

/// One problem to fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    pub rule: RuleId,
    /// The heading of the section to change, which may be a new one; empty for the whole artifact.
    pub section: Box<str>,
    pub problem: Box<str>,
    pub fix_instruction: Box<str>,
    pub expected_effect: Box<str>,
}

const LONGEST_TEXT: usize = 2000;
const LONGEST_SECTION: usize = 300;

/// Reads one to `most` issues, each about a different one of the missed rules.
pub fn critique(
    text: &str,
    nonce: &str,
    missed: &[&RuleResult],
    most: usize,
) -> Result<Vec<Issue>, OffSchema> {
    answer::coded(text, nonce, "issues", |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "issues")?;
        let given = entries.len();
        if !(1..=most).contains(&given) {
            return Err(OffSchema::Count { what: "issues", given, least: 1, most });
        }
        one_each(&entries, missed)?;
        entries.into_iter().map(Entry::into_issue).collect()
    })
}

#[derive(Deserialize)]
struct Entry {
    rule_id: RuleId,
    #[serde(default)]
    section: Option<String>,
    problem: String,
    fix_instruction: String,
    expected_effect: String,
}

impl Entry {
    fn into_issue(self) -> Result<Issue, OffSchema> {
        let Self { rule_id: rule, section, problem, fix_instruction, expected_effect } = self;
        let words =
            |key: &str, text: &str| answer::required_words(|| format!("{rule}: `{key}`"), text, LONGEST_TEXT);
        Ok(Issue {
            section: capped(&section.unwrap_or_default(), LONGEST_SECTION).into(),
            problem: words("problem", &problem)?,
            fix_instruction: words("fix_instruction", &fix_instruction)?,
            expected_effect: words("expected_effect", &expected_effect)?,
            rule,
        })
    }
}

fn one_each(entries: &[Entry], missed: &[&RuleResult]) -> Result<(), OffSchema> {
    let mut odd = Mismatch::default();
    let asked = |id: &RuleId| missed.iter().any(|result| result.rule == *id);
    odd.unknown = answer::unknown(entries.iter().map(|entry| &entry.rule_id), asked);
    for (at, entry) in entries.iter().enumerate() {
        let again = entries[..at].iter().filter(|other| other.rule_id == entry.rule_id).count() == 1;
        if again && asked(&entry.rule_id) {
            odd.double.push(entry.rule_id.to_string());
        }
    }
    odd.into_result()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::loops::reflex::verdict::{By, Verdict};

    fn read(answer: &Value) -> Result<Vec<Issue>, OffSchema> {
        let missed = ["a.correctness.schemas", "a.completeness.errors"].map(|id| RuleResult {
            rule: id.into(),
            verdict: Verdict::Fail,
            details: "absent".into(),
            by: By::Judge,
        });
        critique(&answer.to_string(), "n0nce", &missed.each_ref(), 2)
    }

    fn issue(rule: &str) -> Value {
        json!({"rule_id": rule, "section": "## Errors", "problem": "no 404", "fix_instruction": "add it",
            "expected_effect": "callers know"})
    }

    fn answer(issues: &[Value]) -> Value {
        json!({"answer_to": "n0nce", "issues": issues})
    }

    fn refused(issues: &[Value]) -> String {
        read(&answer(issues)).unwrap_err().to_string()
    }

    #[test]
    fn issues_are_read_and_one_without_a_section_is_about_the_whole() {
        let mut whole = issue("a.correctness.schemas");
        whole["section"] = Value::Null;
        let issues = read(&answer(&[issue("a.completeness.errors"), whole])).unwrap();
        assert_eq!((&*issues[0].section, &*issues[0].fix_instruction), ("## Errors", "add it"));
        assert_eq!(&*issues[1].section, "");
        let line = serde_json::to_string(&issues).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Issue>>(&line).unwrap(), issues);
    }

    #[test]
    fn there_is_an_issue_at_least_and_no_more_than_asked_for() {
        assert_eq!(refused(&[]), "0 issues were given; give 1 to 2");
        let three = ["a.correctness.schemas", "a.completeness.errors", "b.style.naming"].map(issue);
        assert_eq!(refused(&three), "3 issues were given; give 1 to 2");
    }

    #[test]
    fn an_issue_is_about_a_rule_that_was_missed_and_no_rule_has_two() {
        assert_eq!(refused(&[issue("b.style.naming")]), "not asked for: b.style.naming");
        let twice = [issue("a.completeness.errors"), issue("a.completeness.errors")];
        assert_eq!(refused(&twice), "answered twice: a.completeness.errors");
    }

    #[test]
    fn every_part_of_an_issue_says_something() {
        for key in ["problem", "fix_instruction", "expected_effect"] {
            let mut empty = issue("a.completeness.errors");
            empty[key] = json!(" … ");
            assert_eq!(refused(&[empty]), format!("a.completeness.errors: `{key}` says nothing"));
            let mut missing = issue("a.completeness.errors");
            missing.as_object_mut().unwrap().shift_remove(key);
            assert!(refused(&[missing]).contains(key));
        }
    }
}
