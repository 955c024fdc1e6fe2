//! The answer to PLAN: a few steps, each for one rule.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::base::answer::{self, Mismatch, OffSchema};
use crate::loops::reflex::criteria::{Rule, RuleId};

/// One step of the work on the artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    pub step: Box<str>,
    /// The rule that the step should meet.
    pub rule: RuleId,
}

const LONGEST_STEP: usize = 1000;

/// Reads a plan with the requested number of steps, about the active rules.
pub fn plan(
    text: &str,
    nonce: &str,
    rules: &[&Rule],
    steps: &RangeInclusive<usize>,
) -> Result<Vec<PlanStep>, OffSchema> {
    answer::coded(text, nonce, "plan", |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "plan")?;
        let given = entries.len();
        if !steps.contains(&given) {
            return Err(OffSchema::Count { what: "steps", given, least: *steps.start(), most: *steps.end() });
        }
        let is_known = |id: &RuleId| rules.iter().any(|rule| rule.id == *id);
        let unknown = answer::unknown(entries.iter().map(|entry| &entry.rule_id), is_known);
        Mismatch { unknown, ..Mismatch::default() }.into_result()?;
        entries.into_iter().enumerate().map(|(at, entry)| entry.into_step(at)).collect()
    })
}

#[derive(Deserialize)]
struct Entry {
    step: String,
    rule_id: RuleId,
}

impl Entry {
    fn into_step(self, at: usize) -> Result<PlanStep, OffSchema> {
        let step = answer::required_words(|| format!("step {}", at + 1), &self.step, LONGEST_STEP)?;
        Ok(PlanStep { step, rule: self.rule_id })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::loops::reflex::criteria::{Criteria, Level, Template, Weights};

    fn read(answer: &Value) -> Result<Vec<PlanStep>, OffSchema> {
        let criteria = Criteria::of(Template::Docs, Weights::default(), Template::Docs.thresholds());
        let rules: Vec<_> = criteria.active(Level::A).collect();
        plan(&answer.to_string(), "n0nce", &rules, &(3..=5))
    }

    fn answer(steps: usize) -> Value {
        let step =
            |at: usize| json!({"step": format!("write part {at}"), "rule_id": "a.completeness.sections"});
        json!({"answer_to": "n0nce", "plan": (1..=steps).map(step).collect::<Vec<_>>()})
    }

    #[test]
    fn a_plan_is_read_step_by_step() {
        let steps = read(&answer(3)).unwrap();
        assert_eq!(
            steps[1],
            PlanStep { step: "write part 2".into(), rule: "a.completeness.sections".into() }
        );
        let line = serde_json::to_string(&steps).unwrap();
        assert_eq!(serde_json::from_str::<Vec<PlanStep>>(&line).unwrap(), steps);
    }

    #[test]
    fn a_plan_is_neither_shorter_nor_longer_than_asked_for() {
        for (steps, is_read) in [(0, false), (2, false), (3, true), (5, true), (6, false)] {
            assert_eq!(read(&answer(steps)).is_ok(), is_read, "{steps}");
        }
        assert_eq!(read(&answer(6)).unwrap_err().to_string(), "6 steps were given; give 3 to 5");
    }

    #[test]
    fn a_step_serves_an_active_rule_and_says_what_it_does() {
        let mut unknown = answer(3);
        unknown["plan"][2]["rule_id"] = json!("b.quality.structure");
        assert_eq!(read(&unknown).unwrap_err().to_string(), "not asked for: b.quality.structure");
        let mut empty = answer(3);
        empty["plan"][1]["step"] = json!(" - ");
        assert_eq!(read(&empty).unwrap_err().to_string(), "step 2 says nothing");
        let mut alone = answer(3);
        alone["plan"][0] = json!("write it");
        assert!(read(&alone).unwrap_err().to_string().starts_with("plan[0]: "));
    }
}
