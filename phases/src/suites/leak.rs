//! Detects a draft that contains its test: a run of secret words, copied into the skill. Also detects files that hold
//! the test together with its answers, before anything is tried.

mod answer_key;
mod words;

pub use answer_key::{AnswerKeys, Held};

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::suites::checks::How;
use crate::suites::scenario::Scenario;

use words::runs;

/// The texts that a skill must not contain, and the exceptions.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The expected results, the ways they are checked, and the held-out scenarios.
    secret: Vec<String>,
    /// The tasks that the improver sees.
    shown: Vec<String>,
}

impl Secrets {
    pub fn of(scenarios: &[Scenario]) -> Self {
        let mut secrets = Self::default();
        for scenario in scenarios {
            let task = [&scenario.description, &scenario.input_args, &scenario.success_criteria];
            let task = task.into_iter().chain(&scenario.requirements).cloned();
            let into = if scenario.held_out { &mut secrets.secret } else { &mut secrets.shown };
            into.extend(task);
            secrets.secret.extend(scenario.expected.iter().map(ToString::to_string));
            let demands = scenario.demands.iter().flat_map(|demand| match &demand.how {
                How::Question { text } => vec![text.to_string()],
                How::Check(check) => strings(&serde_json::to_value(check).expect("a check has a JSON text")),
            });
            secrets.secret.extend(demands);
        }
        secrets
    }

    /// Returns the first place in the draft with a run of secret words that the base does not have. Files are by path.
    pub fn leak<'a>(
        &self,
        base: &BTreeMap<String, String>,
        draft: &'a BTreeMap<String, String>,
    ) -> Option<(&'a str, usize)> {
        let runs = |texts: &mut dyn Iterator<Item = &String>| -> HashSet<String> {
            texts.flat_map(|text| runs(text).map(|(_, run)| run).collect::<Vec<_>>()).collect()
        };
        let known = runs(&mut base.values().chain(&self.shown));
        let mut secret = runs(&mut self.secret.iter());
        secret.retain(|run| !known.contains(run));
        if secret.is_empty() {
            return None;
        }
        draft.iter().find_map(|(path, text)| {
            let (line, _) = self::runs(text).find(|(_, run)| secret.contains(run))?;
            Some((path.as_str(), line))
        })
    }
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::checks::{Check, Times};
    use crate::suites::demand::Demand;

    fn secrets() -> Secrets {
        let question = How::Question { text: "The page names the port of each pump in metres.".into() };
        let file = Check::File { path: "a/b/c/d/e/f/g.md".into(), times: Times::ONCE_OR_MORE };
        let searched = Scenario {
            expected: Some("Seven pumps stand by the old mill\nand three in the harbour.".into()),
            demands: vec![
                Demand::new("q".parse().unwrap(), question),
                Demand::new("f".parse().unwrap(), How::Check(file)),
            ],
            ..Scenario::new("one".parse().unwrap(), "Tell which pumps stand by the old mill today")
        };
        let held_out = Scenario {
            held_out: true,
            ..Scenario::new("two".parse().unwrap(), "List every valve of the northern line, please")
        };
        Secrets::of(&[searched, held_out])
    }

    fn leak(base: &str, draft: &str) -> Option<usize> {
        let files = |text: &str| BTreeMap::from([("SKILL.md".to_owned(), text.to_owned())]);
        secrets().leak(&files(base), &files(draft)).map(|(_, line)| line)
    }

    #[test]
    fn six_secret_words_in_a_row_are_a_leak_however_they_are_set() {
        assert_eq!(leak("Do it.", "Do it.\n\nSay: **seven** pumps STAND\nby the old mill."), Some(3));
        assert_eq!(leak("", "The page names the port of each pump."), Some(1), "a statement of the judge");
        assert_eq!(leak("", "Write a/b/c/d/e/f/g.md at once"), Some(1), "what a check looks for");
        assert_eq!(leak("", "valve: list every valve of the northern line"), Some(1), "a held-out task");
    }

    #[test]
    fn fewer_words_the_tasks_own_and_what_was_there_before_are_none() {
        assert_eq!(leak("", "Seven pumps stand by the river"), None);
        assert_eq!(leak("", "which pumps stand by the old mill today"), None, "the improver is shown it");
        let old = "Seven pumps stand by the old mill.";
        assert_eq!(leak(old, &format!("{old}\nMore.")), None);
        assert_eq!(Secrets::default().leak(&BTreeMap::new(), &BTreeMap::new()), None);
    }
}
